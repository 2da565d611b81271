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
