package import QuireCore
import Synchronization

/// The door to a format: turns the bytes of one page into a document that paths can be asked of, and
/// into items.
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

  /// Starts one page.
  ///
  /// Throws `PageError` with code `unexpectedMediaType` when the context shows another format.
  func begin(_ context: DecodingContext) throws -> any PageDecoding<Item>

  /// Whether `finish()` notices that the end of a document is missing, as JSON and XML decoders do
  /// and CSV decoders cannot. Default false.
  var isSelfDelimiting: Bool { get }

  /// Reads a body that is one value and no page, such as an error's problem document, with the
  /// decoder's own settings. The default reads JSON.
  ///
  /// Throws `PageError`: `unexpectedMediaType`, `truncated`, `malformed`, or `itemDecoding` where the
  /// body does not fit the type.
  func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value
}

extension PageDecoder {
  /// False: a format that cannot show its own end.
  public var isSelfDelimiting: Bool { false }

  /// Reads JSON with a `JSONDecoder` of defaults.
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

  /// Takes the next bytes, split anywhere.
  mutating func receive(_ slice: [UInt8]) throws

  /// Says that all bytes have come, and returns the document.
  ///
  /// Throws `truncated` when the document is not closed, `malformed` when it is broken.
  mutating func finish() throws -> any PageDocument

  /// The items that are whole already and were not delivered before.
  ///
  /// Called after a `receive(_:)` when the context asks for items as they arrive; a decoder of large
  /// pages then forgets them, so that the page need not fit into memory. The default delivers none:
  /// all come with `items()`.
  mutating func readyItems() throws -> DecodedItems<Item>

  /// How many items `items()` has, bad ones included; nil where only decoding them shows it, which is the
  /// default.
  ///
  /// Called at most once, after `finish()`. Where it is known, the way to the next page is as well, and a
  /// `Paginator` asks for that page while this one's items are decoded.
  ///
  /// Throws `shape` when the items are missing or not a list.
  mutating func itemCount() throws -> Int?

  /// Decodes the items, but for those that `readyItems()` has delivered; called at most once, after
  /// `finish()`.
  ///
  /// Throws `shape` when the items are missing or not a list, `itemDecoding` when an item does not
  /// fit its type.
  mutating func items() throws -> DecodedItems<Item>
}

extension PageDecoding {
  /// None.
  public mutating func readyItems() throws -> DecodedItems<Item> { DecodedItems([]) }

  /// Unknown.
  public mutating func itemCount() throws -> Int? { nil }
}

/// What a decoder is told about a page before its first byte.
public struct DecodingContext: Sendable {
  /// The response's Content-Type, if any.
  public var contentType: String?
  /// Where the items are.
  public var items: Pagination.Items
  /// What to do with an item that cannot be decoded.
  public var badItems: BadItemPolicy
  /// What a page may cost.
  public var limits: DecodingLimits
  /// Whether the items are wanted before the page is whole.
  public var delivery: PageDelivery
  /// The formats that the page may be in, as the description says or the first page of the listing
  /// showed. Empty: any. A decoder of one format need not look.
  public var formats: [PageFormat]
  /// Where the page came from, after redirects: what its relative links start from. Nil where that is not
  /// known.
  public var url: String?
  /// Whether the transport proves the body whole, so that the format need not. Default: no.
  public var isProvenWhole = false
  /// How long the page should be, as far as the answer says; for room, not for trust.
  package var expectedBytes: Int?
  /// Where a decoder of several formats notes which one it chose.
  package var note: PageFormatNote?

  /// A context; items at the root, bad ones thrown, and the profile for APIs unless told otherwise.
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
  /// A digest of the bytes of each of `items`, by which to know it again within this process; nil
  /// from decoders that hand out no items before the page is whole.
  package var digests: [Int]?
  /// A hash of the bytes of all items of a whole page; nil when there are none.
  package var fingerprint: Int?
  /// What some of the items hold; nil from decoders that do not look into items.
  package var sample: PageSample?

  /// The items of a page, and those that were set aside.
  public init(_ items: [Item], badItems: [BadItem] = []) {
    self.items = items
    self.badItems = badItems
  }

  /// Adds what follows in the same page.
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

  /// Drops the last `count` of the items that the server sent.
  package mutating func dropLast(_ count: Int) {
    guard count > 0 else { return }
    let kept = self.count - count
    let dropped = badItems.count { $0.index >= kept }
    badItems.removeAll { $0.index >= kept }
    items.removeLast(min(items.count, max(0, count - dropped)))
  }

  /// How many items the server sent: what offsets and short pages are counted by.
  public var count: Int { items.count + badItems.count }
}

/// When the items of a page are delivered.
public enum PageDelivery: Hashable, Sendable {
  /// When the page is complete: nothing of a page that is cut off or turns out to be an error is ever
  /// seen. The default.
  case whole
  /// As they arrive, in parts of the page, so that a page need not fit into memory and its first item
  /// need not wait for its last.
  ///
  /// Each part's `next` points inside the page, behind the items so far; the last part has the page's own
  /// and may have no items. A page that is there at once is one part. A page that is cut off or broken is an
  /// error after the items that came; asking again fetches the page again and goes on behind them, by
  /// the same iterator or from the stored position. Decoders of XML deliver parts where the items are at
  /// one path that elements can be told by as they start, those of JSON where they are a list at one path
  /// of names; every other page has one part. A description
  /// that must know all items of a page first (`policy.overlap`, `policy.reversesItems`, the end rule
  /// `noNewItems`, the next sources `index`, `firstItem` and `maxItem`) throws `invalidArgument` before
  /// the first request.
  case asItArrives
}

/// What to do with an item that cannot be decoded.
public enum BadItemPolicy: String, Hashable, Codable, Sendable {
  /// The page fails; nothing of it is delivered. The default.
  case `throw`
  /// The item is set aside in `page.badItems`, counted in the report, and the walk goes on.
  case collect
}

/// An item that could not be decoded, kept whole.
public struct BadItem: Sendable {
  /// The item's place in the page, from 0.
  public var index: Int
  /// Where in the item the decoder gave up, as a path; empty for the item itself.
  public var path: String
  /// Why.
  public var message: String
  /// The item as the server sent it.
  public var bytes: [UInt8]

  /// An item set aside.
  public init(index: Int, path: String, message: String, bytes: [UInt8]) {
    self.index = index
    self.path = path
    self.message = message
    self.bytes = bytes
  }
}

/// What decoding one page may cost. Every limit throws `limitExceeded`, naming itself and the
/// place.
public struct DecodingLimits: Hashable, Sendable {
  /// Containers within containers. Default 128; in XML never more than 4096, and as many in a `JSONValue`.
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

  /// Throws `limitExceeded` for rows of a table that take too much as objects: 64 times the page, and beyond 128 MiB
  /// 8 times. The names of the columns are repeated with each row, and no honest table grows by more.
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
  /// A table with a line of names (RFC 4180), its cells apart by commas, semicolons, bars or tabs.
  case csv
  /// A JSON value a line (jsonlines.org, ndjson.org).
  case jsonLines

  /// The name in a sentence.
  package var words: String {
    switch self {
    case .json: "JSON"
    case .xml: "XML"
    case .csv: "CSV"
    case .jsonLines: "JSON Lines"
    }
  }

  /// Whether a page shows by itself that it is whole.
  package var isSelfDelimiting: Bool { self == .json || self == .xml }
}

/// A place where a decoder notes the format that a page came in.
package final class PageFormatNote: Sendable {
  private let state = Mutex<PageFormat?>(nil)

  package init() {}

  /// The format, once it is known.
  package var format: PageFormat? { state.withLock { $0 } }

  /// Notes a format where there is none yet.
  package func bind(_ format: PageFormat?) {
    state.withLock { $0 = $0 ?? format }
  }
}
