import QuireJSON
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Subscriptions and entries as text, for stores that keep them so.
package enum FeedRecord {
  /// The next poll of a feed that is gone is never.
  private static let never = (positive: "never", negative: "always", other: "unknown")

  /// A text that every database can hold and compare: SQLite ends its own at a NUL, and PostgreSQL refuses it.
  package static func storable(_ text: String) -> String {
    text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
  }

  /// The value as JSON.
  package static func text(of value: some Encodable) throws -> String { try text(ofAny: value) }

  private static func text(ofAny value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: never.positive, negativeInfinity: never.negative, nan: never.other)
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// A subscription as JSON. What the feed says of itself is written by its own writer, in a fraction of the
  /// encoder's time.
  package static func text(of subscription: FeedSubscription) throws -> String {
    var rest = subscription
    rest.feed = nil
    let text = try text(ofAny: rest)
    return subscription.feed.map { "\(text.dropLast()),\"feed\":\($0.jsonFeed)}" } ?? text
  }

  private static let decoder = {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: never.positive, negativeInfinity: never.negative, nan: never.other)
    return decoder
  }()

  /// Reads what `text(of:)` wrote.
  package static func value<Value: Decodable>(of type: Value.Type, _ text: String) throws -> Value {
    try RawItem(Array(text.utf8)).decode(type, with: decoder)
  }
}

/// What a database has of an entry: by what it is known and compared, and, where it is to be written, the rest.
package struct EntryRecord: Sendable {
  package let kind: String
  package let identity: String
  package let digest: String
  private let entry: FeedEntry

  package init(_ entry: FeedEntry) {
    let known = entry.identity
    (kind, identity) = (known.kind.rawValue, FeedRecord.storable(known.value))
    digest = entry.digest
    var entry = entry
    entry.raw = nil
    self.entry = entry
  }

  /// What it is searched by.
  package var words: String { FeedRecord.storable(entry.searchText) }

  package func date(foundAt now: Double) -> Double { StoredEntry.date(of: entry, foundAt: now) }

  package func body() throws -> String { try FeedRecord.text(of: entry) }
}
