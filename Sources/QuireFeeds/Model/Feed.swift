#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The properties of a feed in any format, without its entries.
///
/// All addresses are absolute. A feed is encoded as the top level of JSON Feed 1.1 without `items`;
/// properties without a member there are in `_quire`.
public struct Feed: Hashable, Sendable {
  /// The format of the feed.
  public var format: FeedFormat
  /// The title. RSS, Atom, JSON Feed: `title`; else `dc:title`, `itunes:title`. Sitemaps have none.
  public var title: FeedText?
  /// A short description. RSS: `description`; Atom: `subtitle` (0.3: `tagline`); JSON Feed:
  /// `description`; `itunes:summary`, `itunes:subtitle`.
  public var subtitle: FeedText?
  /// The web page of the feed. RSS: `link`; Atom: `link rel="alternate"`; JSON Feed:
  /// `home_page_url`.
  public var url: String?
  /// The feed's own address, as it declares it. Atom: `link rel="self"`, in RSS as `atom:link`;
  /// JSON Feed: `feed_url`.
  public var feedURL: String?
  /// The identifier. Atom: `id`; RSS 1.0: `rdf:about`; `podcast:guid`.
  public var id: String?
  /// All links with a relation. Atom: `link`; RSS: `atom:link`; `creativeCommons:license` and
  /// `cc:license` as `license`, `podcast:funding` as `payment`.
  public var links: [FeedLink]
  /// The language. RSS: `language`; `dc:language`; Atom: `xml:lang`; JSON Feed: `language`.
  public var language: String?
  /// The authors. Atom: `author`, `contributor`; JSON Feed: `authors`, `author`; RSS:
  /// `managingEditor`, else `dc:creator` or `itunes:author`, else `itunes:owner`, else `webMaster`.
  /// An author or owner with a name comes before an editor without one.
  public var authors: [FeedPerson]
  /// A large picture. Atom: `logo`; RSS: `image/url`; JSON Feed: `icon`; else `itunes:image`.
  public var icon: String?
  /// A small picture. Atom: `icon`; JSON Feed: `favicon`.
  public var favicon: String?
  /// The date of the last change. Atom: `updated` (0.3: `modified`); RSS: `lastBuildDate`;
  /// `dcterms:modified`.
  public var updated: Date?
  /// The date of publication. RSS: `pubDate`; `dc:date`; Atom: `published`.
  public var published: Date?
  /// The categories; `FeedCategory` lists their sources.
  public var categories: [FeedCategory]
  /// The software that generated the feed. RSS: `generator`; Atom: `generator`, followed by its
  /// version and its address; `admin:generatorAgent`.
  public var generator: String?
  /// The rights. RSS: `copyright`; Atom: `rights`; `dc:rights`.
  public var rights: FeedText?
  /// The hubs that announce changes. Atom and RSS: `link rel="hub"` (WebSub); JSON Feed: `hubs`;
  /// RSS: `cloud`.
  public var hubs: [FeedHub]
  /// The polling schedule that the feed asks for.
  public var schedule: FeedSchedule
  /// The other pages of the feed.
  public var pages: FeedPages
  /// Whether the feed will never change again. JSON Feed: `expired`; `itunes:complete`,
  /// `podcast:updateFrequency`.
  public var isExpired: Bool
  /// The new address that the feed declares. `itunes:new-feed-url`.
  public var newFeedURL: String?
  /// Whether the feed has explicit content; nil if it does not say. `itunes:explicit`.
  public var isExplicit: Bool?
  /// The sitemaps that a sitemap index lists, in its order.
  public var sitemaps: [String]
  /// The repairs in the document, including all its entries.
  public var repairs: [FeedRepair]

  /// Creates an empty feed.
  public init(_ format: FeedFormat) {
    self.format = format
    (links, authors, categories, hubs, sitemaps, repairs) = ([], [], [], [], [], [])
    (schedule, pages, isExpired) = (FeedSchedule(), FeedPages(), false)
  }
}

/// A hub that announces a feed's changes.
public struct FeedHub: Hashable, Sendable {
  /// The protocol: `WebSub`, or the feed's name for it, such as `rssCloud`.
  public var kind: String
  /// The absolute address of the hub.
  public var url: String

  /// Creates a hub.
  public init(kind: String = "WebSub", _ url: String) {
    self.kind = kind
    self.url = url
  }
}

/// The polling schedule that a feed asks for.
public struct FeedSchedule: Hashable, Sendable, Codable {
  /// The time for which an answer stays fresh. RSS: `ttl`, in minutes.
  public var timeToLive: Duration?
  /// The time between two changes of the feed. `sy:updatePeriod` divided by `sy:updateFrequency`;
  /// else the interval of `podcast:updateFrequency`.
  public var updateInterval: Duration?
  /// The hours of the day in which not to poll, from 0 to 23 in UTC. RSS: `skipHours`, where 24 is
  /// 0.
  public var skipHours: Set<Int>
  /// The days of the week on which not to poll, in UTC: 1 is Monday, 7 is Sunday. RSS: `skipDays`.
  public var skipDays: Set<Int>

  /// Creates a schedule; by default without any rule.
  public init(
    timeToLive: Duration? = nil, updateInterval: Duration? = nil, skipHours: Set<Int> = [],
    skipDays: Set<Int> = []
  ) {
    self.timeToLive = timeToLive
    self.updateInterval = updateInterval
    self.skipHours = skipHours
    self.skipDays = skipDays
  }
}

/// The other pages of a feed, absolute. Source: RFC 5005; JSON Feed's `next_url`.
public struct FeedPages: Hashable, Sendable {
  /// The page with older entries. `link rel="next"`; JSON Feed: `next_url`.
  public var next: String?
  /// The page with newer entries. `link rel="previous"` or `prev`.
  public var previous: String?
  /// The archive document before this one. `link rel="prev-archive"`.
  public var previousArchive: String?
  /// The document with the newest entries. `link rel="current"`.
  public var current: String?
  /// Whether this is an archive, which does not change. `fh:archive`.
  public var isArchive: Bool
  /// Whether the document has the whole feed. `fh:complete`.
  public var isComplete: Bool

  /// Creates links; by default there are no other pages.
  public init(
    next: String? = nil, previous: String? = nil, previousArchive: String? = nil,
    current: String? = nil, isArchive: Bool = false, isComplete: Bool = false
  ) {
    self.next = next
    self.previous = previous
    self.previousArchive = previousArchive
    self.current = current
    self.isArchive = isArchive
    self.isComplete = isComplete
  }

  /// The page with older entries: the next page, or else the previous archive.
  public var older: String? { isComplete ? nil : next ?? previousArchive }
}
