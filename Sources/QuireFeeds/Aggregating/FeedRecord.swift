import QuireJSON
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Subscriptions and entries as text, for stores in databases.
package enum FeedRecord {
  /// The JSON strings for numbers that JSON cannot express: the next poll of a feed that is gone is
  /// at infinity.
  private static let never = (positive: "never", negative: "always", other: "unknown")

  /// Returns the text with each NUL replaced by U+FFFD, because SQLite ends texts at a NUL, and
  /// PostgreSQL refuses it.
  package static func storable(_ text: String) -> String {
    text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
  }

  /// Returns the value as JSON.
  package static func text(of value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: never.positive, negativeInfinity: never.negative, nan: never.other)
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Returns a subscription as JSON. The feed's properties have their own writer, which takes a
  /// fraction of the encoder's time.
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

  /// Decodes the output of `text(of:)` or `text(ofSubscription:)`.
  package static func value<Value: Decodable>(of type: Value.Type, _ text: String) throws -> Value {
    try RawItem(Array(text.utf8)).decode(type, with: decoder)
  }
}

/// An entry as a database stores it: its identity; and its digest, its text and its JSON, each
/// computed only where it is asked for.
package struct EntryRecord: Sendable {
  package let kind: String
  package let identity: String
  package var digest: String { entry.digest }
  /// A digest of `kind` and `identity`, by which a deleted entry is remembered.
  package var key: String { Self.key(kind: kind, identity: identity) }
  private let entry: FeedEntry

  package init(_ entry: FeedEntry) {
    let known = entry.identity
    (kind, identity) = (known.kind.rawValue, FeedRecord.storable(known.value))
    var entry = entry
    entry.raw = nil
    self.entry = entry
  }

  /// Returns the `key` of a stored entry.
  package static func key(kind: String, identity: String) -> String {
    var digest = StableDigest()
    digest.add(kind)
    digest.add(identity)
    return digest.text
  }

  /// The text to search in: title and text without markup, in lowercase.
  package var words: String { FeedRecord.storable(entry.searchText) }

  /// Returns the date by which the entry is ordered; see `StoredEntry.date`.
  package func date(foundAt now: Double) -> Double { StoredEntry.date(of: entry, foundAt: now) }

  /// Returns the entry as JSON, without its raw form.
  package func body() throws -> String { try FeedRecord.text(of: entry) }
}
