public import QuireHTTP

/// Checks the promises that every `HTTPTransport` makes, against an origin on loopback.
///
/// ```swift
/// @Test func transportKeepsItsPromises() async throws {
///   try await TransportConformance.check(MyTransport(), origin: "http://127.0.0.1:8080")
/// }
/// ```
/// The origin is any HTTP/1.1 server that answers these targets, at least 32 connections at a time:
///
/// | Target | Answer |
/// |---|---|
/// | `/echo…`, anything after `/echo` | 200; the body is the request: its line as `METHOD TARGET`, a line `name: value` for each field with its name in lower case, an empty line, the body. Lines end with LF. |
/// | `/bytes/N` | 200, Content-Length N; byte i of the body is i modulo 251. |
/// | `/chunked/N` | 200; the same body, chunked. |
/// | `/gzip/N` | 200, Content-Encoding gzip; the same body, gzipped. |
/// | `/status/N` | The status N, an empty body. |
/// | `/redirect` | 302, Location `/bytes/1`, an empty body. |
/// | `/cookie` | 200, Set-Cookie `crumb=1`, an empty body. |
/// | `/cut/N` | 200, Content-Length N; one byte less, then the connection is closed. |
/// | `/cut-chunked/N` | 200, chunked; N bytes in a chunk, then the connection is closed. |
/// | `/stall/head` | Nothing, until the client closes the connection. |
/// | `/stall/body` | 200, Content-Length 1000; 10 bytes, then nothing until the client closes. |
/// | `/arrived/N` | 200 with an empty body, as soon as N requests for `/stall/…` have arrived in all. |
/// | `/left/N` | 200 with an empty body, as soon as the clients of N such requests have gone. |
public struct TransportConformance: Sendable {
  let transport: any HTTPTransport
  let origin: String

  /// Checks every promise in turn.
  ///
  /// - Parameters:
  ///   - transport: The transport; it is not shut down.
  ///   - origin: Where the targets above are, such as `http://127.0.0.1:8080`. It must have been
  ///     started for this check alone, because the stalls are counted from its start.
  /// - Throws: The first `ConformanceFailure`.
  public static func check(_ transport: some HTTPTransport, origin: String) async throws {
    let suite = TransportConformance(transport: transport, origin: origin)
    try await suite.checkRequests()
    try await suite.checkBodies()
    try await suite.checkEndings()
    try await suite.checkCancellation()
  }
}
