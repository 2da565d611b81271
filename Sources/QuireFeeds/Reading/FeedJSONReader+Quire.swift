import QuireCore
import QuireJSON
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The members of `_quire`, in which an encoded feed or entry has what JSON Feed has no member for.
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
    entry.summary = typed(entry.summary, more["summary_type"], more["summary_base"])
    if let source = string(more["content_url"]) {
      entry.content = entry.content ?? FeedText("", language: entry.language)
      entry.content?.source = source
    }
    entry.content = typed(entry.content, more["content_type"], more["content_base"])
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

  private mutating func typed(_ text: FeedText?, _ type: JSONValue?, _ base: JSONValue?)
    -> FeedText?
  {
    guard var text, let name = type?.string else { return text }
    text.kind = FeedText.Kind(rawValue: name) ?? .other
    if text.kind == .other { text.mediaType = name }
    text.base = string(base)
    return text
  }

  private mutating func richText(_ value: JSONValue?, plain: FeedText?) -> FeedText? {
    guard let value, let text = value["value"]?.string else { return plain }
    return FeedText(
      text, kind: value["type"]?.string.flatMap { FeedText.Kind(rawValue: $0) } ?? .text,
      language: value["language"]?.string ?? plain?.language, base: value["base"]?.string)
  }

  private mutating func link(_ value: JSONValue) -> FeedLink? {
    value["url"]?.string.map {
      FeedLink(
        $0, relation: value["rel"]?.string ?? "alternate", mediaType: value["type"]?.string,
        language: value["language"]?.string, title: value["title"]?.string,
        length: value["length"]?.integer)
    }
  }

  private mutating func category(_ value: JSONValue) -> FeedCategory? {
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
    guard case .object(let members)? = value else { return [] }
    return members.map { FeedRepair(FeedRepair.Kind($0.name), count: $0.value.integer ?? 1) }
  }
}
