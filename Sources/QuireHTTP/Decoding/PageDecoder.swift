/// The door to a format: turns the bytes of one page into items and a document that paths can be
/// asked of.
///
/// A fake takes a dozen lines:
/// ```swift
/// struct Lines: PageDecoder {
///   func begin(_ context: DecodingContext) -> any PageDecoding<String> { Session() }
///   struct Session: PageDecoding {
///     var bytes: [UInt8] = []
///     mutating func receive(_ slice: [UInt8]) { bytes += slice }
///     mutating func finish() -> DecodedPage<String> {
///       DecodedPage(items: String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
///     }
///   }
/// }
/// ```
/// `DecoderConformance` in QuireTesting checks a decoder.
public protocol PageDecoder<Item>: Sendable {
  associatedtype Item: Sendable

  /// Starts one page.
  ///
  /// Throws `PageError` with code `unexpectedMediaType` when the context shows another format.
  func begin(_ context: DecodingContext) throws -> any PageDecoding<Item>
}

/// One page being decoded. Used by one task at a time.
public protocol PageDecoding<Item> {
  associatedtype Item: Sendable

  /// Takes the next bytes, split anywhere.
  mutating func receive(_ slice: [UInt8]) throws

  /// Says that all bytes have come, and returns the page.
  ///
  /// Throws `truncated` when the document is not closed, `malformed` when it is broken, `shape`
  /// when the items are missing or not a list, `itemDecoding` when an item does not fit its type.
  mutating func finish() throws -> DecodedPage<Item>
}

/// What a decoder is told about a page before its first byte.
public struct DecodingContext: Sendable {
  /// The response's Content-Type, if any.
  public var contentType: String?
  /// Where the items are.
  public var items: ItemSelector
  /// What to do with an item that cannot be decoded.
  public var badItems: BadItemPolicy
  /// What a page may cost.
  public var limits: DecodingLimits

  public init(
    contentType: String? = nil, items: ItemSelector = .root, badItems: BadItemPolicy = .throw,
    limits: DecodingLimits = .api
  ) {
    self.contentType = contentType
    self.items = items
    self.badItems = badItems
    self.limits = limits
  }
}

/// A decoded page: its items, and the document they came in.
public struct DecodedPage<Item: Sendable>: Sendable {
  public var items: [Item]
  /// How many items the page held, those set aside included: what offsets and short pages are
  /// counted by.
  public var itemCount: Int
  /// The items set aside under `BadItemPolicy.collect`.
  public var badItems: [BadItem]
  /// What the description's paths are asked of.
  public var document: any PageDocument

  /// `itemCount` defaults to the items and the bad items together.
  public init(
    items: [Item], itemCount: Int? = nil, badItems: [BadItem] = [],
    document: any PageDocument = EmptyDocument()
  ) {
    self.items = items
    self.itemCount = itemCount ?? items.count + badItems.count
    self.badItems = badItems
    self.document = document
  }
}
