import QuirePagination
import HTTPTypes
public import QuireHTTP

/// Checks the promises that every `CredentialSource` makes.
///
/// ```swift
/// @Test func sourceKeepsItsPromises() async throws {
///   try await CredentialSourceConformance.check(MySource())
/// }
/// ```
/// It requests two credentials, like a client whose server refuses the first one.
public enum CredentialSourceConformance {
  /// Checks every promise in turn.
  ///
  /// - Parameter source: A source that has not been used.
  /// - Throws: The first `ConformanceFailure`, or the source's own error.
  public static func check(_ source: some CredentialSource) async throws {
    let origin = try? Origin(url: source.origin)
    try expect(
      origin?.description == source.origin,
      "An origin is a scheme, a host and, unless it is the scheme's default, a port.",
      evidence: "It is \(source.origin).")
    let first = try await source.credential(replacing: nil)
    try check(first)
    let second = try await source.credential(replacing: first)
    try check(second)
    try expect(
      second.fields != first.fields, "A credential that was refused is replaced by another one.",
      evidence: "The same came again.")
  }

  private static func check(_ credential: Credential) throws {
    try expect(
      !credential.fields.isEmpty, "A credential has at least one field.", evidence: "It has none.")
    try expect(
      credential.lifetime.map { $0 > .zero } ?? true, "A lifetime is longer than nothing.",
      evidence: "It is \(credential.lifetime ?? .zero).")
    let shown = "\(credential)" + String(reflecting: credential)
    try expect(
      !credential.fields.contains { $0.value.count > 5 && shown.contains($0.value) },
      "Printing a credential shows no secret.", evidence: "It does.")
  }
}
