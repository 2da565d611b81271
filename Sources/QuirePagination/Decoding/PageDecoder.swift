package import QuireCore
import Synchronization

/// The door for formats: a decoder turns the bytes of a page into a document, which paths query,
/// and into items.
///
/// A fake takes a dozen lines:
/// ```swift
/// struct Lines: PageDecoder {
///   func begin(_ context: DecodingContext) -> any PageDecoding<String> { Session() }
///   struct Session: PageDecoding {
///     var bytes: [UInt8] = []
///     mutating func receive(_ slice: [UInt8]) { bytes += slice }
///     mutating func finish() -> any PageDocument { EmptyDocument() }
///     mutating func items() -> DecodedItems<String> {
///       let text = String(decoding: bytes, as: UTF8.self)
///       return DecodedItems(text.split(separator: "\n").map(String.init))
///     }
///   }
/// }
/// ```
/// `DecoderConformance` in QuireTesting checks a decoder.
public protocol PageDecoder<Item>: Sendable {
  associatedtype Item: Sendable

  /// Starts decoding a page.
  ///
  /// Throws `PageError` with code `unexpectedMediaType` if the context declares another format.
  func begin(_ context: DecodingContext) throws -> any PageDecoding<Item>

  /// Whether `finish()` notices that the end of a document is missing, as JSON and XML decoders do
  /// and CSV decoders cannot. Default false.
  var isSelfDelimiting: Bool { get }

  /// Decodes a body that is a single value instead of a page, such as an error's problem document,
  /// with the decoder's own settings. The default reads JSON.
  ///
  /// Throws `PageError`: `unexpectedMediaType`, `truncated`, `malformed`, or `itemDecoding` if the
  /// body does not fit the type.
  func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value
}

extension PageDecoder {
  /// False: most formats cannot show that a page is cut off.
  public var isSelfDelimiting: Bool { false }

  /// Decodes JSON with a `JSONDecoder` in its default settings.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try SingleValue.decode(type, from: body)
  }
}

/// One page being decoded: slices in, then the document, then the items. Used by one task at a time.
///
/// The document comes before the items, because it may say that the answer is an error that has no
/// items at all.
public protocol PageDecoding<Item> {
  associatedtype Item: Sendable

  /// Receives the next slice of the page, which may be split anywhere, even within a character.
  mutating func receive(_ slice: [UInt8]) throws

  /// Ends the page and returns its document.
  ///
  /// Throws `truncated` if the document is not closed, `malformed` if it is broken.
  mutating func finish() throws -> any PageDocument

  /// Returns the items that are complete and have not been returned yet.
  ///
  /// Called after `receive(_:)` if the context asks for items as they arrive. A decoder of large
  /// pages then frees them, so that the page need not fit into memory. The default returns none:
  /// `items()` returns them all.
  mutating func readyItems() throws -> DecodedItems<Item>

  /// Returns how many items `items()` will return, bad ones included; nil, the default, if only
  /// decoding shows it.
  ///
  /// Called at most once, after `finish()`. The count allows a `Paginator` to find and request the
  /// next page while this page's items are decoded.
  ///
  /// Throws `shape` if the items are missing or no list.
  mutating func itemCount() throws -> Int?

  /// Decodes the items that `readyItems()` has not returned.
  ///
  /// Called at most once, after `finish()`. Throws `shape` if the items are missing or no list,
  /// `itemDecoding` if an item does not fit its type.
  mutating func items() throws -> DecodedItems<Item>
}

extension PageDecoding {
  /// Returns no items: `items()` returns them all.
  public mutating func readyItems() throws -> DecodedItems<Item> { DecodedItems([]) }

  /// Returns nil: only decoding shows the count.
  public mutating func itemCount() throws -> Int? { nil }
}

/// The properties of a page that its decoder gets before the first byte.
public struct DecodingContext: Sendable {
  /// The response's Content-Type, if any.
  public var contentType: String?
  /// The description's rule for finding the items.
  public var items: Pagination.Items
  /// What to do with an item that cannot be decoded.
  public var badItems: BadItemPolicy
  /// The limits on the cost of the page.
  public var limits: DecodingLimits
  /// Whether items are delivered with the whole page or as they arrive.
  public var delivery: PageDelivery
  /// The formats that the page may have, from the description or the listing's first page. Empty
  /// allows any. A decoder of one format can ignore them.
  public var formats: [PageFormat]
  /// The page's URL after redirects, from which its relative links start; nil if it is unknown.
  public var url: String?
  /// Whether the transport guarantees that the body is complete, so that the format need not show
  /// it. Default false.
  public var isProvenWhole = false
  /// The page's size in bytes as the answer declares it: a hint for reserving memory, not to be
  /// trusted; nil if the answer declares none.
  package var expectedBytes: Int?
  /// The note in which a decoder records the format of the page, and the columns of a table.
  package var note: PageFormatNote?
  /// The names of the columns of the listing's first table, as `PageFormatNote` has them; nil if
  /// there was none.
  package var columns: ColumnNames?

  /// Creates a context. By default, the items are at the root, a bad item throws, and the limits
  /// are those for APIs.
  public init(
    contentType: String? = nil, items: Pagination.Items = .root, badItems: BadItemPolicy = .throw,
    limits: DecodingLimits = .api, delivery: PageDelivery = .whole, formats: [PageFormat] = []
  ) {
    self.formats = formats
    self.contentType = contentType
    self.items = items
    self.badItems = badItems
    self.limits = limits
    self.delivery = delivery
  }
}

/// The items of one page.
public struct DecodedItems<Item: Sendable>: Sendable {
  /// The items that could be decoded, in the server's order.
  public var items: [Item]
  /// The items set aside under `BadItemPolicy.collect`.
  public var badItems: [BadItem]
  /// A digest of the bytes of each of `items`, which identifies the item within this process; nil
  /// from decoders that return no items before the page is complete.
  package var digests: [Int]?
  /// A hash of the bytes of all items of a whole page; nil without items, or for parts of a page.
  package var fingerprint: Int?
  /// A sample of the items' contents; nil from decoders that do not inspect items.
  package var sample: PageSample?

  /// Creates the items of a page from the decoded and the bad ones.
  public init(_ items: [Item], badItems: [BadItem] = []) {
    self.items = items
    self.badItems = badItems
  }

  /// Appends items that follow in the same page.
  package mutating func append(_ more: DecodedItems) {
    guard count > 0 else {
      self = more
      return
    }
    guard more.count > 0 else { return }
    items += more.items
    badItems += more.badItems
    digests = digests.flatMap { digests in more.digests.map { digests + $0 } }
    fingerprint = nil
    guard let next = more.sample else { return }
    if sample == nil { sample = next } else { sample?.append(next) }
  }

  /// Removes the last `count` items of the page, bad ones included.
  package mutating func dropLast(_ count: Int) {
    guard count > 0 else { return }
    let kept = self.count - count
    let dropped = badItems.count { $0.index >= kept }
    badItems.removeAll { $0.index >= kept }
    items.removeLast(min(items.count, max(0, count - dropped)))
  }

  /// The number of items that the server sent, bad ones included. Offsets advance by it, and short
  /// pages are recognised by it.
  public var count: Int { items.count + badItems.count }
}

/// When the items of a page are delivered.
public enum PageDelivery: Hashable, Sendable {
  /// When the page is complete, so that nothing is delivered of a page that is cut off or turns out
  /// to be an error. The default.
  case whole
  /// As they arrive, in parts of the page, so that a page need not fit into memory and its first
  /// item need not wait for its last.
  ///
  /// The `next` of each part is a position inside the page, behind the items so far. The last part
  /// has the page's own `next`, and may have no items. A page that arrives at once is one part. A
  /// page that is cut off or broken throws behind the items that arrived; asking again, by the same
  /// iterator or from the stored position, fetches the page again and continues behind these items.
  ///
  /// XML decoders deliver parts if the items are at one path whose elements are recognised by their
  /// start tags, JSON decoders if the items are a list at one path of names. Every other page is
  /// one part. A description that needs all items of a page (`policy.overlap`,
  /// `policy.reversesItems`, the end rule `noNewItems`, the next sources `index`, `firstItem` and
  /// `maxItem`) throws `invalidArgument` before the first request.
  case asItArrives
}

/// What to do with an item that cannot be decoded.
public enum BadItemPolicy: String, Hashable, Codable, Sendable {
  /// The page fails, and none of its items is delivered. The default.
  case `throw`
  /// The item is set aside in `page.badItems` and counted in the report, and the walk continues.
  case collect
}

/// An item that could not be decoded, with its bytes.
public struct BadItem: Sendable {
  /// The item's place in the page, from 0.
  public var index: Int
  /// The path, within the item, of the value that could not be decoded; empty for the item itself.
  public var path: String
  /// The reason, as a sentence.
  public var message: String
  /// The item as the server sent it.
  public var bytes: [UInt8]

  /// Creates a bad item.
  public init(index: Int, path: String, message: String, bytes: [UInt8]) {
    self.index = index
    self.path = path
    self.message = message
    self.bytes = bytes
  }
}

/// Limits on the cost of decoding one page. A page that exceeds one throws `limitExceeded`, which
/// names the limit and the place.
public struct DecodingLimits: Hashable, Sendable {
  /// The most containers within containers. Default 128; at most 4096 in XML and in a `JSONValue`.
  public var depth: Int
  /// The most items in a page. Default 100,000.
  public var items: Int
  /// The most bytes of one item. Default 8 MiB.
  public var itemBytes: Int
  /// The most characters of one number. Default 4 KiB.
  public var numberLength: Int
  /// The most values, names and containers in a page. Default 5,000,000.
  public var events: Int

  /// Creates limits. Each parameter has its property's default.
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

  /// The default limits, for an API that is trusted not to attack.
  public static let api = DecodingLimits()

  /// Returns the error for a page with too many items; `count` is nil if their number is not known.
  package func tooManyItems(_ count: Int? = nil) -> PageError {
    let found = count.map { "\($0) items, more than \(items)" } ?? "more than \(items) items"
    return PageError(
      .limitExceeded, "The page holds \(found). Ask for smaller pages.",
      remedies: [.raise(.init("DecodingLimits.items"))])
  }

  /// Returns the error for an item of too many bytes, by its index in the page; `bytes` is nil if
  /// their number is not known. `place` says where the item is, with a comma and a space behind it.
  package func tooLarge(item index: Int, _ place: String = "", bytes: Int? = nil) -> PageError {
    let found =
      bytes.map { "\($0) bytes, more than \(itemBytes)" } ?? "more than \(itemBytes) bytes"
    return PageError(
      .limitExceeded, "Item \(index) of the page, counted from 0, \(place)has \(found).",
      remedies: [.raise(.init("DecodingLimits.itemBytes"))])
  }

  /// Throws `limitExceeded` if a table's rows, written as objects, exceed 64 times the page, or 8
  /// times if that is more than 128 MiB. Each row repeats the names of the columns, and with names
  /// of an honest length no table grows by more.
  package static func checkGrowth(toBytes rows: Int, of page: Int) throws(PageError) {
    guard rows > max(page.times(8), min(page.times(64).plus(64 << 10), 128 << 20)) else { return }
    throw PageError(
      .limitExceeded,
      "The rows of the table have more than \(rows / max(1, page)) times the \(page) bytes of the page, as "
        + "objects with the names of the columns: these are too long. Ask for fewer rows a page.")
  }
}

/// A format that pages are written in.
public enum PageFormat: String, Hashable, Sendable, CaseIterable {
  /// JSON (RFC 8259).
  case json
  /// XML 1.0.
  case xml
  /// A table whose first line names the columns (RFC 4180), with commas, semicolons, bars or tabs
  /// between the cells.
  case csv
  /// A JSON value on each line (jsonlines.org, ndjson.org).
  case jsonLines

  /// The format's name in a sentence.
  package var words: String {
    switch self {
    case .json: "JSON"
    case .xml: "XML"
    case .csv: "CSV"
    case .jsonLines: "JSON Lines"
    }
  }

  /// Whether the format shows that a page is complete.
  package var isSelfDelimiting: Bool { self == .json || self == .xml }
}

/// A shared note of the format in which a listing's pages arrive.
package final class PageFormatNote: Sendable {
  private struct State {
    var format: PageFormat?
    var columns: ColumnNames?
    var form: String?
  }

  private let state = Mutex(State())

  package init() {}

  /// The format, once it is known.
  package var format: PageFormat? { state.withLock { $0.format } }

  /// The names of a table's columns, once they are known.
  package var columns: ColumnNames? { state.withLock { $0.columns } }

  /// The note as a text without blanks, which positions hold; nil until the format is known.
  package var form: String? { state.withLock { $0.form } }

  /// Records what a position holds of an earlier walk's note, unless a format is recorded already.
  package func recall(_ form: String) {
    let parts = form.split(separator: ".")
    guard let format = parts.first.flatMap({ PageFormat(rawValue: String($0)) }) else { return }
    let columns = parts.count > 1 ? ColumnNames(parts[1]) : nil
    state.withLock {
      if $0.format == nil { ($0.format, $0.columns, $0.form) = (format, columns, form) }
    }
  }

  /// Records the format, and the columns, unless one is recorded already.
  package func bind(_ format: PageFormat?, columns: ColumnNames? = nil) {
    state.withLock {
      guard $0.format == nil || $0.columns == nil && columns != nil else { return }
      $0.format = $0.format ?? format
      $0.columns = $0.columns ?? columns
      $0.form = [$0.format?.rawValue, $0.columns?.text].compactMap(\.self).joined(separator: ".")
      if $0.format == nil { $0.form = nil }
    }
  }
}

/// The names of a table's columns, to tell a table that has none of them.
///
/// Positions hold them as a Bloom filter: that a name is not among them is certain, and that it is
/// among them is likely. Source: B. H. Bloom, "Space/time trade-offs in hash coding with allowable
/// errors" (1970).
package struct ColumnNames: Sendable {
  /// The names; nil if only the filter is known.
  private let names: Set<[UInt8]>?
  private let filter: UInt64

  /// Creates the columns of a table, each name as the start of a JSON member.
  package init(_ names: [[UInt8]]) {
    self.names = Set(names)
    filter = names.reduce(0) { $0 | Self.bits(of: $1) }
  }

  /// Creates columns from their `text`; nil for any other text.
  package init?(_ text: some StringProtocol) {
    guard let filter = UInt64(text, radix: 16) else { return nil }
    (names, self.filter) = (nil, filter)
  }

  /// The filter as text.
  package var text: String { String(filter, radix: 16) }

  /// Whether none of these names is among the columns.
  package func isDisjoint(with others: [[UInt8]]) -> Bool {
    if let names { return names.isDisjoint(with: others) }
    return others.allSatisfy { filter & Self.bits(of: $0) != Self.bits(of: $0) }
  }

  /// Returns the three bits of a name.
  private static func bits(of name: [UInt8]) -> UInt64 {
    let digest = FNV1a(name).value
    return [digest >> 52, digest >> 40, digest >> 28].reduce(0) { $0 | UInt64(1) << ($1 & 63) }
  }
}
