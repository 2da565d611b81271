import QuireCore
import QuireJSON
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads JSON Feed 1 and 1.1 (https://www.jsonfeed.org/version/1.1/). Also reads `_quire`, but only
/// from JSON that Quire itself has encoded: from a publisher, its addresses and markup would be
/// unchecked.
struct FeedJSONReader {
  let scope: FeedScope
  /// Whether Quire itself encoded the JSON, so that `_quire` is read.
  private let isEncoded: Bool
  var repairs = RepairTally()
  private(set) var parts: PartCounter

  /// Creates a reader of a publisher's page.
  init(_ scope: FeedScope, limits: DecodingLimits) {
    isEncoded = false
    self.scope = scope
    parts = PartCounter(limits)
  }

  /// Creates a reader of JSON that Quire itself has encoded.
  init() {
    isEncoded = true
    scope = FeedScope(url: nil)
    parts = PartCounter(nil)
  }

  /// Returns the `_quire` of a feed, an entry or a part of one; nil for a publisher's JSON.
  private func addition(to value: JSONValue) -> JSONValue? { isEncoded ? value["_quire"] : nil }

  // MARK: Values

  /// Returns a text. A number counts as a text, and as a repair, because publishers write one by
  /// mistake.
  mutating func string(_ value: JSONValue?) -> String? {
    switch value {
    case nil, .null?: return nil
    case .string(let text)?: return text.isEmpty ? nil : cleaned(text)
    case .number(let text)?:
      repairs.add(.wrongType)
      return text
    case .bool?, .array?, .object?:
      repairs.add(.wrongType)
      return nil
    }
  }

  /// Returns the text without control characters, which XML does not have either.
  private mutating func cleaned(_ text: String) -> String {
    func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && ![0x09, 0x0A, 0x0D].contains(byte) }
    guard !isEncoded, text.utf8.contains(where: isControl) else { return text }
    repairs.add(.controlCharacter)
    return String(decoding: text.utf8.filter { !isControl($0) }, as: UTF8.self)
  }

  mutating func address(_ value: JSONValue?) -> String? {
    guard let text = string(value) else { return nil }
    let address = scope.absolute(text)
    if address == nil { repairs.add(.badAddress) }
    parts.takeGrowth((address?.utf8.count ?? 0) - text.utf8.count)
    return address
  }

  mutating func date(_ value: JSONValue?) -> Date? {
    guard let text = string(value) else { return nil }
    return isEncoded ? FeedDate.read(text) : repairs.date(text, as: .rfc3339)
  }

  mutating func list(_ value: JSONValue?) -> [JSONValue] {
    switch value {
    case nil, .null?: return []
    case .array(let elements)?: return parts.take(elements.count) ? elements : []
    case let single?:
      repairs.add(.wrongType)
      return [single]
    }
  }

  mutating func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .number(let text)?: return Double(text).flatMap { $0.isFinite ? $0 : nil }
    case .string(let text)?:
      repairs.add(.wrongType)
      return Double(text).flatMap { $0.isFinite ? $0 : nil }
    default: return nil
    }
  }

  /// Returns a number of seconds as a duration; nil if it is negative, or more than 10¹².
  mutating func duration(_ value: JSONValue?) -> Duration? {
    number(value).flatMap { 0...1e12 ~= $0 ? .seconds($0) : nil }
  }

  mutating func text(_ value: JSONValue?, language: String? = nil) -> FeedText? {
    string(value).map { FeedText($0, language: language) }
  }

  mutating func persons(_ value: JSONValue) -> [FeedPerson] {
    var elements = list(value["authors"])
    // Version 1 has a single author.
    if elements.isEmpty { elements = value["author"].map { [$0] } ?? [] }
    return elements.compactMap { element in
      if case .string(let name) = element {
        repairs.add(.wrongType)
        return FeedPerson(name: name)
      }
      var person = FeedPerson(
        name: string(element["name"]), url: address(element["url"]),
        email: string(addition(to: element)?["email"]), avatar: address(element["avatar"]),
        role: string(addition(to: element)?["role"]))
      if let url = person.url, url.hasPrefix("mailto:"), person.name == nil {
        person.email = person.email ?? String(url.dropFirst(7))
        person.url = nil
      }
      return person.isEmpty ? nil : person
    }
  }

  // MARK: The feed

  /// Reads the feed at the top level of a document, without its items.
  mutating func feed(_ root: JSONValue) -> Feed {
    let version = root["version"]?.string.flatMap { text in
      text.lastIndex(of: "/").map { String(text[text.index(after: $0)...].prefix(16)) }
    }
    var feed = Feed(FeedFormat(.jsonFeed, version: version))
    feed.language = string(root["language"])
    feed.title = text(root["title"])
    feed.subtitle = text(root["description"])
    feed.url = address(root["home_page_url"])
    feed.feedURL = address(root["feed_url"])
    feed.authors = persons(root)
    feed.icon = address(root["icon"])
    feed.favicon = address(root["favicon"])
    feed.pages.next = address(root["next_url"])
    feed.isExpired = root["expired"]?.boolean ?? false
    for hub in list(root["hubs"]) {
      if let url = address(hub["url"]) {
        feed.hubs.append(FeedHub(kind: string(hub["type"]) ?? "WebSub", url))
      }
    }
    if let more = addition(to: root) { readMore(more, into: &feed) }
    return feed
  }

  // MARK: Entries

  /// Reads an item, with its own repairs.
  mutating func entry(_ item: JSONValue) -> FeedEntry {
    let before = repairs
    repairs = RepairTally()
    parts.beginEntry()
    var entry = FeedEntry()
    let language = string(item["language"])
    entry.language = language
    entry.id = string(item["id"])
    entry.url = address(item["url"])
    entry.externalURL = address(item["external_url"])
    entry.title = text(item["title"], language: language)
    entry.summary = text(item["summary"], language: language)
    entry.content = content(item, language: language)
    entry.image = address(item["image"])
    entry.bannerImage = address(item["banner_image"])
    entry.published = date(item["date_published"])
    entry.updated = date(item["date_modified"])
    entry.authors = persons(item)
    for tag in list(item["tags"]) {
      if let term = string(tag) { entry.categories.append(FeedCategory(term)) }
    }
    for attachment in list(item["attachments"]) {
      guard let url = address(attachment["url"]) else { continue }
      let more = addition(to: attachment) ?? .null
      let hasType = more["mime_type_is_made"]?.boolean != true
      entry.enclosures.append(
        FeedEnclosure(
          url, mediaType: hasType ? string(attachment["mime_type"]) : nil,
          length: number(attachment["size_in_bytes"]).flatMap { Int(exactly: $0) },
          duration: duration(attachment["duration_in_seconds"]),
          title: string(attachment["title"]), width: more["width"]?.integer,
          height: more["height"]?.integer))
    }
    entry.repairs = repairs.repairs
    if let more = addition(to: item) { readMore(more, into: &entry) }
    repairs = before
    repairs.add(entry.repairs)
    return entry
  }

  private mutating func content(_ item: JSONValue, language: String?) -> FeedText? {
    if let html = string(item["content_html"]) {
      return FeedText(html, kind: .html, language: language, base: scope.baseText)
    }
    return string(item["content_text"]).map { FeedText($0, language: language) }
  }
}

/// Reads `_quire`, which has the properties without a member in JSON Feed.
extension FeedJSONReader {
  mutating func readMore(_ more: JSONValue, into feed: inout Feed) {
    feed.format = string(more["format"]).flatMap { FeedFormat($0) } ?? feed.format
    feed.id = string(more["id"])
    feed.title = richText(more["title"], plain: feed.title)
    feed.subtitle = richText(more["description"], plain: feed.subtitle)
    feed.links = list(more["links"]).compactMap { link($0) }
    feed.updated = date(more["updated"])
    feed.published = date(more["published"])
    feed.categories = list(more["categories"]).compactMap { category($0) }
    feed.generator = string(more["generator"])
    feed.rights = richText(more["rights"], plain: nil)
    feed.newFeedURL = string(more["new_feed_url"])
    feed.isExplicit = more["explicit"]?.boolean
    feed.sitemaps = list(more["sitemaps"]).compactMap { $0.string }
    feed.repairs = repairs(more["repairs"])
    feed.schedule.timeToLive = duration(more["ttl_seconds"])
    feed.schedule.updateInterval = duration(more["update_interval_seconds"])
    feed.schedule.skipHours = Set(list(more["skip_hours"]).compactMap(\.integer))
    feed.schedule.skipDays = Set(list(more["skip_days"]).compactMap(\.integer))
    let pages = more["pages"] ?? .null
    feed.pages.previous = string(pages["previous"])
    feed.pages.previousArchive = string(pages["previous_archive"])
    feed.pages.current = string(pages["current"])
    feed.pages.isArchive = pages["archive"]?.boolean ?? false
    feed.pages.isComplete = pages["complete"]?.boolean ?? false
  }

  mutating func readMore(_ more: JSONValue, into entry: inout FeedEntry) {
    if more["id_is_made"]?.boolean == true { entry.id = nil }
    entry.canonicalURL = string(more["canonical_url"])
    entry.title = richText(more["title"], plain: entry.title)
    entry.rights = richText(more["rights"], plain: nil)
    if more["content_is_summary"]?.boolean == true || more["content_is_made"]?.boolean == true {
      entry.content = nil
    }
    entry.summary = typed(entry.summary, more, "summary")
    if let source = string(more["content_url"]) {
      entry.content = entry.content ?? FeedText("", language: entry.language)
      entry.content?.source = source
    }
    entry.content = typed(entry.content, more, "content")
    entry.source = source(more["source"])
    entry.comments = comments(more["comments"])
    entry.links = list(more["links"]).compactMap { link($0) }
    if let categories = more["categories"] {
      entry.categories = list(categories).compactMap { category($0) }
    }
    entry.place = place(more["place"])
    entry.episode = episode(more["episode"])
    entry.changeFrequency = string(more["change_frequency"])
    entry.priority = number(more["priority"])
    entry.repairs = repairs(more["repairs"])
    if let raw = more["raw"] { entry.raw = try? RawItem(Array(raw.description.utf8)) }
  }

  // MARK: Parts

  private mutating func typed(_ text: FeedText?, _ more: JSONValue, _ member: String) -> FeedText? {
    guard var text, let name = more[member + "_type"]?.string else { return text }
    text.kind = FeedText.Kind(rawValue: name) ?? .other
    if text.kind == .other { text.mediaType = name }
    text.base = string(more[member + "_base"])
    if let language = more[member + "_language"] { text.language = language.string }
    return text
  }

  private mutating func richText(_ value: JSONValue?, plain: FeedText?) -> FeedText? {
    guard let value, let text = value["value"]?.string else { return plain }
    return FeedText(
      text, kind: value["type"]?.string.flatMap { FeedText.Kind(rawValue: $0) } ?? .text,
      language: value["language"].map { $0.string } ?? plain?.language,
      base: value["base"]?.string)
  }

  private func link(_ value: JSONValue) -> FeedLink? {
    value["url"]?.string.map {
      FeedLink(
        $0, relation: value["rel"]?.string ?? "alternate", mediaType: value["type"]?.string,
        language: value["language"]?.string, title: value["title"]?.string,
        length: value["length"]?.integer)
    }
  }

  private func category(_ value: JSONValue) -> FeedCategory? {
    value["term"]?.string.map {
      FeedCategory($0, scheme: value["scheme"]?.string, label: value["label"]?.string)
    }
  }

  private mutating func source(_ value: JSONValue?) -> FeedSource? {
    guard let value else { return nil }
    return FeedSource(
      title: string(value["title"]), feedURL: string(value["feed_url"]),
      url: string(value["url"]), id: string(value["id"]), updated: date(value["updated"]))
  }

  private mutating func comments(_ value: JSONValue?) -> FeedComments? {
    guard let value else { return nil }
    return FeedComments(
      url: string(value["url"]), feedURL: string(value["feed_url"]),
      count: value["count"]?.integer)
  }

  private mutating func place(_ value: JSONValue?) -> FeedPlace? {
    guard let value, let latitude = number(value["latitude"]),
      let longitude = number(value["longitude"])
    else { return nil }
    return FeedPlace(latitude: latitude, longitude: longitude, name: string(value["name"]))
  }

  private mutating func episode(_ value: JSONValue?) -> FeedEpisode? {
    guard let value else { return nil }
    var episode = FeedEpisode()
    episode.duration = duration(value["duration_in_seconds"])
    episode.number = number(value["episode"])
    episode.season = value["season"]?.integer
    episode.kind = string(value["type"])
    episode.isExplicit = value["explicit"]?.boolean
    episode.transcripts = list(value["transcripts"]).compactMap { link($0) }
    episode.chapters = value["chapters"].flatMap { link($0) }
    return episode
  }

  private func repairs(_ value: JSONValue?) -> [FeedRepair] {
    guard case .array(let elements)? = value else { return [] }
    return elements.compactMap { repair in
      repair["kind"]?.string.map {
        FeedRepair(FeedRepair.Kind($0), count: repair["count"]?.integer ?? 1)
      }
    }
  }
}
