/// A promise of a protocol that an implementation has broken.
public struct ConformanceFailure: Error, Hashable, CustomStringConvertible {
  /// The promise, as a sentence.
  public let promise: String

  /// What happened instead.
  public let evidence: String

  /// Creates a failure from the promise and the evidence against it.
  public init(_ promise: String, evidence: String) {
    self.promise = promise
    self.evidence = evidence
  }

  /// The promise and the evidence in one line.
  public var description: String { "Broken promise: \(promise) Instead: \(evidence)" }
}

/// Throws a `ConformanceFailure` if a promise does not hold.
func expect(
  _ holds: Bool, _ promise: String, evidence: @autoclosure () -> String = "It does not hold."
) throws {
  guard holds else { throw ConformanceFailure(promise, evidence: evidence()) }
}
