import QuirePagination

/// How long each phase of a request may take.
///
/// Waiting for a free connection counts in none of them: a thousand requests to one host queue up
/// without any of them being late. Nor does it count that a server has to wait for the reader of the
/// body.
public struct Timeouts: Hashable, Sendable {
  /// For the connection, name look-up and TLS handshake included. Default 10 s.
  public var connect: Duration
  /// From when the request goes out to the end of the response head. Default 30 s.
  public var head: Duration
  /// How long fewer than 64 bytes of the body a second may arrive. Default 20 s.
  public var stall: Duration
  /// From when the request goes out to the end of the body. Default 60 s.
  public var total: Duration

  /// Timeouts; every parameter has the default of its property.
  public init(
    connect: Duration = .seconds(10), head: Duration = .seconds(30), stall: Duration = .seconds(20),
    total: Duration = .seconds(60)
  ) {
    self.connect = connect
    self.head = head
    self.stall = stall
    self.total = total
  }

  /// For an API that is trusted to mean well.
  public static let api = Timeouts()
}

/// How much of a response may be read.
public struct TransferLimits: Hashable, Sendable {
  /// Header bytes, all interim responses included. Default 64 KiB.
  public var headerBytes: Int
  /// Interim (1xx) responses. Default 8.
  public var interimResponses: Int
  /// Body bytes on the wire. Default 32 MiB.
  public var wireBytes: Int
  /// Body bytes after content coding was removed. Default 128 MiB.
  public var decodedBytes: Int
  /// Decoded bytes for each wire byte, once `inflateRatioFloor` decoded bytes have come. Default
  /// 100.
  public var inflateRatio: Int
  /// Decoded bytes below which the ratio is not judged. Default 1 MiB.
  public var inflateRatioFloor: Int

  /// Limits; every parameter has the default of its property.
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

  /// For an API that is trusted to mean well.
  public static let api = TransferLimits()
}
