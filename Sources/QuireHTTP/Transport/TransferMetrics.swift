/// What a transfer took on the wire.
public struct TransferMetrics: Hashable, Sendable {
  /// Body bytes as received, before content coding was removed.
  public var wireBytes: Int
  /// Requests the transport put on the wire, silent replays on a dead connection included.
  public var wireRequests: Int
  /// Whether the transfer went over a connection that already existed.
  public var reusedConnection: Bool
  /// From the start to the first byte of the response.
  public var timeToHead: Duration
  /// From the start to the end of the body.
  public var duration: Duration
  /// How many requests the transport sends to one host at the same time, over what this one went over;
  /// further ones wait. Nil where it does not say.
  public var requestsAtOnce: Int?

  /// Metrics; nothing received by one request unless told otherwise.
  public init(
    wireBytes: Int = 0, wireRequests: Int = 1, reusedConnection: Bool = false,
    timeToHead: Duration = .zero, duration: Duration = .zero
  ) {
    self.wireBytes = wireBytes
    self.wireRequests = wireRequests
    self.reusedConnection = reusedConnection
    self.timeToHead = timeToHead
    self.duration = duration
  }
}
