import QuireJSON
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Subscriptions and entries as text, for stores in databases.
package enum FeedRecord {
  /// The next poll of a feed that is gone is at infinity, which JSON cannot express.
  private static let never = (positive: "never", negative: "always", other: "unknown")

  /// A text that every database can store: SQLite ends texts at a NUL, and PostgreSQL refuses it.
  package static func storable(_ text: String) -> String {
    text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
  }

  /// The value as JSON.
  package static func text(of value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: never.positive, negativeInfinity: never.negative, nan: never.other)
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// A subscription as JSON. The feed's properties have their own writer, which takes a fraction of
  /// the encoder's time.
  package static func text(ofSubscription subscription: FeedSubscription) throws -> String {
    var rest = subscription
    rest.feed = nil
    let text = try text(of: rest)
    return subscription.feed.map { "\(text.dropLast()),\"feed\":\($0.jsonFeed)}" } ?? text
  }

  private static let decoder = {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: never.positive, negativeInfinity: never.negative, nan: never.other)
    return decoder
  }()

  /// Reads the output of `text(of:)` or `text(ofSubscription:)`.
  package static func value<Value: Decodable>(of type: Value.Type, _ text: String) throws -> Value {
    try RawItem(Array(text.utf8)).decode(type, with: decoder)
  }
}

/// An entry for a database: its identity and digest, and the rest, which is computed only if it is
/// written.
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

  /// The text to search in.
  package var words: String { FeedRecord.storable(entry.searchText) }

  package func date(foundAt now: Double) -> Double { StoredEntry.date(of: entry, foundAt: now) }

  package func body() throws -> String { try FeedRecord.text(of: entry) }
}
