public import QuireCore
import QuireJSON
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Builds a JSON object in order, omitting values that are nil or empty.
struct MemberList {
  private var members: [JSONValue.Member] = []

  var value: JSONValue { .object(members) }
  var isEmpty: Bool { members.isEmpty }

  mutating func add(_ name: String, _ value: JSONValue?) {
    if let value { members.append(.init(name, value)) }
  }

  mutating func add(_ name: String, _ text: String?) { add(name, text.map(JSONValue.string)) }
  mutating func add(_ name: String, _ number: Int?) {
    add(name, number.map { JSONValue.number(String($0)) })
  }
  mutating func add(_ name: String, _ date: Date?) { add(name, date.flatMap { FeedTime.text($0) }) }
  mutating func add(_ name: String, _ flag: Bool?) { add(name, flag.map(JSONValue.bool)) }

  mutating func add(_ name: String, decimal: Double?) {
    guard let decimal, decimal.isFinite else { return }
    let whole = Int(exactly: decimal).map(String.init)
    add(name, JSONValue.number(whole ?? String(decimal)))
  }

  mutating func add(_ name: String, seconds: Duration?) {
    add(
      name,
      decimal: seconds.map {
        Double($0.components.seconds) + Double($0.components.attoseconds) / 1e18
      })
  }

  mutating func add(_ name: String, list: [JSONValue]) {
    if !list.isEmpty { add(name, .array(list)) }
  }

  mutating func add(_ name: String, object: MemberList) {
    if !object.isEmpty { add(name, object.value) }
  }
}

/// Formats dates by RFC 3339, in UTC.
enum FeedTime {
  /// Returns a date as `2003-12-31T10:14:55Z`, with milliseconds if there are any; nil outside of
  /// the years 0 to 9999.
  static func text(_ date: Date) -> String? {
    let total = (date.timeIntervalSince1970 * 1_000).rounded()
    // The years 0 to 9999, which RFC 3339 can express.
    guard total >= -62_167_219_200_000, total < 253_402_300_800_000 else { return nil }
    let (day, rest) = Int(total).dividedRoundingDown(by: 86_400_000)
    let (year, month, number) = CivilTime.date(ofDay: day)
    let time = [rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60].map { $0.padded(to: 2) }
    let fraction = rest % 1_000 == 0 ? "" : "." + (rest % 1_000).padded(to: 3)
    let date = "\(year.padded(to: 4))-\(month.padded(to: 2))-\(number.padded(to: 2))"
    return "\(date)T\(time.joined(separator: ":"))\(fraction)Z"
  }
}

extension FeedEntry {
  /// Returns the entry as an item of JSON Feed 1.1; properties without a member there are in
  /// `_quire`.
  ///
  /// `id` always exists: if the publisher gave none, it is the address, or `identity`. `content_html`
  /// or `content_text` always exists too, if necessary with the summary or an empty text.
  /// `includingRaw` adds the entry as its publisher wrote it, as `_quire.raw`.
  public func jsonFeedItem(includingRaw: Bool = true) -> JSONValue {
    var item = MemberList()
    item.add("id", id ?? link ?? identity.text)
    item.add("url", url)
    item.add("external_url", externalURL)
    item.add("title", title?.plain)
    addTexts(to: &item)
    item.add("image", image)
    item.add("banner_image", bannerImage)
    item.add("date_published", published)
    item.add("date_modified", updated)
    item.add("authors", list: authors.map(\.json))
    item.add("tags", list: categories.map { .string($0.label ?? $0.term) })
    item.add("language", language)
    item.add("attachments", list: enclosures.map(\.json))
    var more = more
    if includingRaw, let raw { more.add("raw", try? raw.value) }
    item.add("_quire", object: more)
    return item.value
  }

  private func addTexts(to item: inout MemberList) {
    if let text {
      item.add(text.isMarkup ? "content_html" : "content_text", text.value)
    } else {
      item.add("content_text", "")
    }
    item.add("summary", summary?.value)
  }

  /// The members of `_quire`: the properties without a member in JSON Feed.
  private var more: MemberList {
    var more = MemberList()
    if id == nil { more.add("id_is_made", true) }
    more.add("canonical_url", canonicalURL)
    more.add("title", title?.richJSON(in: language))
    if let summary {
      more.add("summary_type", summary.mediaType ?? summary.kind.rawValue)
      more.add("summary_base", summary.base)
      more.add("summary_language", summary.ownLanguage(in: language))
    }
    if let content {
      more.add("content_type", content.mediaType ?? content.kind.rawValue)
      more.add("content_base", content.base)
      more.add("content_language", content.ownLanguage(in: language))
      more.add("content_url", content.source)
    } else {
      more.add(summary == nil ? "content_is_made" : "content_is_summary", true)
    }
    more.add("comments", comments.map(\.json))
    more.add("source", source.map(\.json))
    more.add("links", list: links.map(\.json))
    if categories.contains(where: { $0.scheme != nil || $0.label != nil }) {
      more.add("categories", list: categories.map(\.json))
    }
    more.add("rights", rights.map { $0.json() })
    more.add("place", place.map(\.json))
    more.add("episode", episode.map(\.json))
    more.add("change_frequency", changeFrequency)
    more.add("priority", decimal: priority)
    more.add("repairs", list: repairs.map(\.json))
    return more
  }
}

extension Feed {
  /// The feed as the top level of JSON Feed 1.1 without `items`; properties without a member there
  /// are in `_quire`. `title` always exists, empty if the feed has none.
  public var jsonFeed: JSONValue {
    var root = MemberList()
    root.add("version", "https://jsonfeed.org/version/1.1")
    root.add("title", title?.plain ?? "")
    root.add("home_page_url", url)
    root.add("feed_url", feedURL)
    root.add("description", subtitle?.plain)
    root.add("next_url", pages.next)
    root.add("icon", icon)
    root.add("favicon", favicon)
    root.add("authors", list: authors.map(\.json))
    root.add("language", language)
    if isExpired { root.add("expired", true) }
    root.add(
      "hubs", list: hubs.map { ["type": .string($0.kind), "url": .string($0.url)] })
    root.add("_quire", object: more)
    return root.value
  }

  /// The members of `_quire`: the properties without a member in JSON Feed.
  private var more: MemberList {
    var more = MemberList()
    more.add("format", format.description)
    more.add("id", id)
    more.add("title", title?.richJSON())
    more.add("description", subtitle?.richJSON())
    more.add("links", list: links.map(\.json))
    more.add("updated", updated)
    more.add("published", published)
    more.add("categories", list: categories.map(\.json))
    more.add("generator", generator)
    more.add("rights", rights.map { $0.json() })
    more.add("new_feed_url", newFeedURL)
    more.add("explicit", isExplicit)
    more.add("sitemaps", list: sitemaps.map(JSONValue.string))
    more.add("ttl_seconds", seconds: schedule.timeToLive)
    more.add("update_interval_seconds", seconds: schedule.updateInterval)
    more.add("skip_hours", list: schedule.skipHours.sorted().map { .number(String($0)) })
    more.add("skip_days", list: schedule.skipDays.sorted().map { .number(String($0)) })
    var others = MemberList()
    others.add("previous", pages.previous)
    others.add("previous_archive", pages.previousArchive)
    others.add("current", pages.current)
    if pages.isArchive { others.add("archive", true) }
    if pages.isComplete { others.add("complete", true) }
    more.add("pages", object: others)
    more.add("repairs", list: repairs.map(\.json))
    return more
  }
}

// MARK: - Parts

extension FeedText {
  /// Returns the text as an object with its type and its language; null for no language, if the
  /// context has one (`outer`).
  fileprivate func json(in outer: String? = nil) -> JSONValue {
    var members = MemberList()
    members.add("type", kind.rawValue)
    members.add("value", value)
    members.add("language", language.map(JSONValue.string) ?? ownLanguage(in: outer))
    members.add("base", base)
    return members.value
  }

  /// Returns the text with its type, or nil if plain text in the context's language says the same.
  fileprivate func richJSON(in outer: String? = nil) -> JSONValue? {
    isMarkup || language != outer ? json(in: outer) : nil
  }

  /// Returns the language if it differs from the context's; null if the text has none.
  fileprivate func ownLanguage(in outer: String?) -> JSONValue? {
    language == outer ? nil : language.map(JSONValue.string) ?? JSONValue.null
  }
}

extension FeedPerson {
  fileprivate var json: JSONValue {
    var members = MemberList()
    members.add("name", name)
    // JSON Feed requires one of `name`, `url` and `avatar`.
    let isAlone = name == nil && url == nil && avatar == nil
    members.add("url", isAlone ? email.map { "mailto:" + $0 } : url)
    members.add("avatar", avatar)
    var more = MemberList()
    more.add("email", email)
    more.add("role", role)
    members.add("_quire", object: more)
    return members.value
  }
}

extension FeedLink {
  fileprivate var json: JSONValue {
    var members = MemberList()
    members.add("rel", relation)
    members.add("url", url)
    members.add("type", mediaType)
    members.add("language", language)
    members.add("title", title)
    members.add("length", length)
    return members.value
  }
}

extension FeedCategory {
  fileprivate var json: JSONValue {
    var members = MemberList()
    members.add("term", term)
    members.add("scheme", scheme)
    members.add("label", label)
    return members.value
  }
}

extension FeedEnclosure {
  /// The file as an attachment, for which JSON Feed requires a media type.
  fileprivate var json: JSONValue {
    var members = MemberList()
    members.add("url", url)
    members.add("mime_type", mediaType ?? "application/octet-stream")
    members.add("title", title)
    members.add("size_in_bytes", length)
    members.add("duration_in_seconds", seconds: duration)
    var more = MemberList()
    if mediaType == nil { more.add("mime_type_is_made", true) }
    more.add("width", width)
    more.add("height", height)
    members.add("_quire", object: more)
    return members.value
  }
}

extension FeedSource {
  fileprivate var json: JSONValue {
    var members = MemberList()
    members.add("title", title)
    members.add("feed_url", feedURL)
    members.add("url", url)
    members.add("id", id)
    members.add("updated", updated)
    return members.value
  }
}

extension FeedComments {
  fileprivate var json: JSONValue {
    var members = MemberList()
    members.add("url", url)
    members.add("feed_url", feedURL)
    members.add("count", count)
    return members.value
  }
}

extension FeedPlace {
  fileprivate var json: JSONValue {
    var members = MemberList()
    members.add("latitude", decimal: latitude)
    members.add("longitude", decimal: longitude)
    members.add("name", name)
    return members.value
  }
}

extension FeedEpisode {
  fileprivate var json: JSONValue {
    var members = MemberList()
    members.add("duration_in_seconds", seconds: duration)
    members.add("episode", decimal: number)
    members.add("season", season)
    members.add("type", kind)
    members.add("explicit", isExplicit)
    members.add("transcripts", list: transcripts.map(\.json))
    members.add("chapters", chapters.map(\.json))
    return members.value
  }
}

extension FeedRepair {
  fileprivate var json: JSONValue {
    ["kind": .string(kind.description), "count": .number(String(count))]
  }
}

// MARK: - Codable

extension FeedEntry: Codable {
  /// Encodes the entry as `jsonFeedItem()`.
  public func encode(to encoder: any Encoder) throws { try jsonFeedItem().encode(to: encoder) }

  /// Decodes an item of JSON Feed 1 or 1.1, and its `_quire`.
  public init(from decoder: any Decoder) throws {
    self.init(jsonFeedItem: try JSONValue(from: decoder))
  }

  /// Creates an entry from an item of JSON Feed 1 or 1.1, and its `_quire`. Invalid values become
  /// nil.
  public init(jsonFeedItem item: JSONValue) {
    var reader = FeedJSONReader()
    self = reader.entry(item)
    if raw == nil { raw = try? RawItem(Array(item.description.utf8)) }
  }
}

extension Feed: Codable {
  /// Encodes the feed as `jsonFeed`.
  public func encode(to encoder: any Encoder) throws { try jsonFeed.encode(to: encoder) }

  /// Decodes the top level of JSON Feed 1 or 1.1, and its `_quire`.
  public init(from decoder: any Decoder) throws {
    self.init(jsonFeed: try JSONValue(from: decoder))
  }

  /// Creates a feed from the top level of JSON Feed 1 or 1.1, and its `_quire`; ignores items.
  public init(jsonFeed root: JSONValue) {
    var reader = FeedJSONReader()
    self = reader.feed(root)
    repairs += reader.repairs.repairs
  }
}
