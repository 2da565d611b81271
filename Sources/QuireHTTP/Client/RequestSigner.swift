#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Signs requests once everything else is in them: for servers that want a signature of the very
/// URL, fields and body that go out.
///
/// ```swift
/// let signer = RequestSigner { request, now in
///   request.head.headerFields[.authorization] = "…"
/// }
/// ```
/// Called for every attempt and every page, on requests to a walk's home origin only. What it throws
/// fails the page. `QuireAWS` has one for Amazon's Signature Version 4.
public struct RequestSigner: Sendable {
  let sign: @Sendable (_ request: inout TransportRequest, _ now: Date) async throws -> Void

  /// A signer that changes the request; it gets the time of day.
  public init(
    _ sign:
      @escaping @Sendable (_ request: inout TransportRequest, _ now: Date) async throws ->
      Void
  ) {
    self.sign = sign
  }
}
