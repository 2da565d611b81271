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

  /// A request; no body, and the timeouts and limits of the profile for APIs unless told otherwise.
  public init(
    head: HTTPRequest, body: [UInt8] = [], timeouts: Timeouts = .api, limits: TransferLimits = .api
  ) {
    self.head = head
    self.body = body
    self.timeouts = timeouts
    self.limits = limits
  }

  /// The whole target, `scheme://authority/path?query`, byte for byte.
  public var url: String {
    (head.scheme ?? "") + "://" + (head.authority ?? "") + (head.path ?? "")
  }
}
