public import QuireCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A selection of a store's entries.
public struct EntrySelection: Hashable, Sendable, Codable {
  /// The subscription to select the entries of, by identifier. Default nil: all subscriptions.
  public var subscription: String?
  /// Whether to select only unread entries. Default false.
  public var isUnread: Bool
  /// The text that an entry's title or text must contain, ignoring case. Default nil: all entries.
  public var text: String?

  /// Creates a selection; by default all entries.
  public init(subscription: String? = nil, isUnread: Bool = false, text: String? = nil) {
    self.subscription = subscription
    self.isUnread = isUnread
    self.text = text
  }
}

/// An entry in a store.
public struct StoredEntry: Sendable, Codable {
  /// The number of the entry, which never changes; later entries have greater ones.
  public var number: Int64
  /// The identifier of its subscription.
  public var subscription: String
  /// The date by which entries are ordered, in seconds since 1970: the publication date, or the
  /// time at which the entry was found if that date is unknown or in the future. It never changes.
  public var date: Double
  /// Whether it was marked as read.
  public var isRead: Bool
  /// The entry, without its raw form.
  public var entry: FeedEntry

  /// Creates an entry of a store.
  public init(
    number: Int64, subscription: String, date: Double, isRead: Bool = false, entry: FeedEntry
  ) {
    self.number = number
    self.subscription = subscription
    self.date = date
    self.isRead = isRead
    self.entry = entry
  }

  /// Returns the date by which to order an entry that was found at `now`.
  public static func date(of entry: FeedEntry, foundAt now: Double) -> Double {
    min(entry.date?.timeIntervalSince1970 ?? now, now)
  }

  /// Returns the number of entries to read for a page of `limit`: one more, to know whether there
  /// is a next page. A limit below 1 counts as 1.
  package static func fetchLimit(forPageOf limit: Int) -> Int { min(max(1, limit), .max - 1) + 1 }

  /// Returns the page of the first `limit` of the entries in `found`, which are ordered, newest
  /// first.
  package static func page(of found: some Collection<StoredEntry>, limit: Int) -> Page<StoredEntry>
  {
    let items = Array(found.prefix(fetchLimit(forPageOf: limit) - 1))
    return Page(items, next: items.count < found.count ? items.last?.place : nil)
  }

  /// The position after an entry: its exact date and its number.
  public var place: Position { Position([.string("\(date)"), .number("\(number)")]) }

  /// Parses the output of `place`. Throws `PageError.Code.positionMismatch` for any other position.
  public static func place(
    _ position: Position
  ) throws(PageError) -> (date: Double, number: Int64) {
    guard case .array(let parts)? = position.value, parts.count == 2,
      let date = parts[0].string.flatMap({ Double($0) }), date.isFinite,
      let number = parts[1].integer
    else {
      throw PageError(
        .positionMismatch, "The position is none of a list of entries. Begin at the start.",
        remedies: [Remedy(.position, ["start"])], attempts: 0)
    }
    return (date, Int64(number))
  }
}

extension StoredEntry {
  /// The text to search in: title and text without markup, in lowercase.
  public var searchText: String { entry.searchText }
}

extension FeedEntry {
  var searchText: String {
    [title?.plain, text?.plain].compactMap(\.self).joined(separator: "\n").lowercased()
  }
}
