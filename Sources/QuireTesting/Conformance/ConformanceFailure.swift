/// A promise of a door that an implementation has broken.
public struct ConformanceFailure: Error, Hashable, CustomStringConvertible {
  /// The promise, as a sentence.
  public let promise: String

  /// What happened instead.
  public let evidence: String

  /// A broken promise, and what shows that it is broken.
  public init(_ promise: String, evidence: String) {
    self.promise = promise
    self.evidence = evidence
  }

  /// Promise and evidence in one line.
  public var description: String { "Broken promise: \(promise) Instead: \(evidence)" }
}
