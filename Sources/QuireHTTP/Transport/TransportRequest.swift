public import HTTPTypes

/// One request, ready for the wire.
public struct TransportRequest: Sendable {
  /// Method, scheme, authority, path with query, and header fields. The target goes out byte for
  /// byte.
  public var head: HTTPRequest

  /// The body; empty for none.
  public var body: [UInt8]

  /// How long each phase may take.
  public var timeouts: Timeouts

  /// How much may be read.
  public var limits: TransferLimits

  /// How often a transport may send the request again by itself, because a kept connection died under
  /// it or an HTTP/2 server refused its stream; the server may have acted on it all the same. What
  /// goes out is counted in `TransferMetrics.wireRequests`. Default: once for a method that only asks
  /// (RFC 9110, §9.2.1: GET, HEAD, OPTIONS; QUERY, PROPFIND, REPORT, SEARCH), never for another.
  public var replays: Int

  /// A request; no body, and the timeouts and limits of the profile for APIs unless told otherwise.
  public init(
    head: HTTPRequest, body: [UInt8] = [], timeouts: Timeouts = .api, limits: TransferLimits = .api,
    replays: Int? = nil
  ) {
    self.head = head
    self.body = body
    self.timeouts = timeouts
    self.limits = limits
    self.replays = replays ?? (head.method.isSafe ? 1 : 0)
  }

  /// The whole target, `scheme://authority/path?query`, byte for byte.
  public var url: String {
    (head.scheme ?? "") + "://" + (head.authority ?? "") + (head.path ?? "")
  }
}
