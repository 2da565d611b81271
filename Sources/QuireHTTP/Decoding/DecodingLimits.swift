/// What decoding one page may cost. Every limit throws `limitExceeded`, naming itself and the
/// place.
public struct DecodingLimits: Hashable, Sendable {
  /// Containers within containers. Default 128.
  public var depth: Int
  /// Items in a page. Default 100,000.
  public var items: Int
  /// Bytes of one item. Default 8 MiB.
  public var itemBytes: Int
  /// Characters of one number. Default 4 KiB.
  public var numberLength: Int
  /// Values, names and containers in a page. Default 5,000,000.
  public var events: Int

  /// Limits; every parameter has the default of its property.
  public init(
    depth: Int = 128, items: Int = 100_000, itemBytes: Int = 8 << 20, numberLength: Int = 4 << 10,
    events: Int = 5_000_000
  ) {
    self.depth = depth
    self.items = items
    self.itemBytes = itemBytes
    self.numberLength = numberLength
    self.events = events
  }

  /// For an API that is trusted to mean well.
  public static let api = DecodingLimits()
}
