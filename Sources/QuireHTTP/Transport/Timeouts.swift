/// The maximum durations of the phases of a request.
///
/// Waiting for a free connection does not count, so that a thousand queued requests to one host do
/// not time out. Neither does the time in which a server has to wait for the reader of the body.
public struct Timeouts: Hashable, Sendable {
  /// The time to connect, including name look-up and the TLS handshake. Default 10 s.
  public var connect: Duration
  /// The time from sending the request to the end of the response head. Default 30 s.
  public var head: Duration
  /// The time during which fewer than 64 bytes of the body per second may arrive. Default 20 s.
  public var stall: Duration
  /// The time from sending the request to the end of the body. Default 60 s.
  public var total: Duration

  /// Creates timeouts; each parameter has the default of its property.
  public init(
    connect: Duration = .seconds(10), head: Duration = .seconds(30), stall: Duration = .seconds(20),
    total: Duration = .seconds(60)
  ) {
    self.connect = connect
    self.head = head
    self.stall = stall
    self.total = total
  }

  /// The default timeouts, for a trusted API.
  public static let api = Timeouts()
}

/// The maximum sizes of a response.
public struct TransferLimits: Hashable, Sendable {
  /// The maximum number of header bytes, including those of interim responses. Default 64 KiB.
  public var headerBytes: Int
  /// The maximum number of interim (1xx) responses. Default 8.
  public var interimResponses: Int
  /// The maximum number of body bytes on the wire. Default 32 MiB.
  public var wireBytes: Int
  /// The maximum number of body bytes after content decoding. Default 128 MiB.
  public var decodedBytes: Int
  /// The maximum number of decoded bytes for each byte on the wire, checked above
  /// `inflateRatioFloor`. Default 100.
  public var inflateRatio: Int
  /// The number of decoded bytes up to which the ratio is not checked. Default 1 MiB.
  public var inflateRatioFloor: Int

  /// Creates limits; each parameter has the default of its property.
  public init(
    headerBytes: Int = 64 << 10, interimResponses: Int = 8, wireBytes: Int = 32 << 20,
    decodedBytes: Int = 128 << 20, inflateRatio: Int = 100, inflateRatioFloor: Int = 1 << 20
  ) {
    self.headerBytes = headerBytes
    self.interimResponses = interimResponses
    self.wireBytes = wireBytes
    self.decodedBytes = decodedBytes
    self.inflateRatio = inflateRatio
    self.inflateRatioFloor = inflateRatioFloor
  }

  /// The default limits, for a trusted API.
  public static let api = TransferLimits()
}
