#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a feed says of itself, whatever its format; its entries are not in it.
///
/// All addresses are absolute. Encoded, a feed is the top level of JSON Feed 1.1 without `items`, with
/// what that has no member for in `_quire`.
public struct Feed: Hashable, Sendable {
  /// The format that it came in.
  public var format: FeedFormat
  /// The title. RSS, Atom, JSON Feed: `title`; else `dc:title`, `itunes:title`. Sitemaps have none.
  public var title: FeedText?
  /// A line about it. RSS: `description`; Atom: `subtitle` (0.3: `tagline`); JSON Feed: `description`;
  /// `itunes:summary`, `itunes:subtitle`.
  public var subtitle: FeedText?
  /// The page that the feed is of. RSS: `link`; Atom: `link rel="alternate"`; JSON Feed: `home_page_url`.
  public var url: String?
  /// The feed's own address, as it says itself. Atom: `link rel="self"`, in RSS as `atom:link`; JSON Feed:
  /// `feed_url`.
  public var feedURL: String?
  /// The identifier. Atom: `id`; RSS 1.0: `rdf:about`; `podcast:guid`.
  public var id: String?
  /// All links with a relation. Atom: `link`; RSS: `atom:link`; `creativeCommons:license` and `cc:license` as
  /// `license`, `podcast:funding` as `payment`.
  public var links: [FeedLink]
  /// The language. RSS: `language`; `dc:language`; Atom: `xml:lang`; JSON Feed: `language`.
  public var language: String?
  /// Who is responsible. Atom: `author`, `contributor`; RSS: `managingEditor`, `webMaster`, `dc:creator`,
  /// `itunes:author`, `itunes:owner`; JSON Feed: `authors`, `author`.
  public var authors: [FeedPerson]
  /// A picture for lists of feeds, as large as there is. Atom: `logo`; RSS: `image/url`; `itunes:image`;
  /// JSON Feed: `icon`.
  public var icon: String?
  /// A small picture. Atom: `icon`; JSON Feed: `favicon`.
  public var favicon: String?
  /// When it was changed last. Atom: `updated` (0.3: `modified`); RSS: `lastBuildDate`; `dcterms:modified`.
  public var updated: Date?
  /// When it was published. RSS: `pubDate`; `dc:date`; Atom: `published`.
  public var published: Date?
  /// Categories.
  public var categories: [FeedCategory]
  /// What made it. RSS: `generator`; Atom: `generator`, its version behind the name;
  /// `admin:generatorAgent`.
  public var generator: String?
  /// Who may do what with it. RSS: `copyright`; Atom: `rights`; `dc:rights`.
  public var rights: FeedText?
  /// Where changes are announced. Atom and RSS: `link rel="hub"` (WebSub); JSON Feed: `hubs`; RSS: `cloud`.
  public var hubs: [FeedHub]
  /// How often it wants to be asked.
  public var schedule: FeedSchedule
  /// The other pages of the feed.
  public var pages: FeedPages
  /// Whether it will never change again. JSON Feed: `expired`; `itunes:complete`, `podcast:updateFrequency`.
  public var isExpired: Bool
  /// Where the feed has moved, by its own word. `itunes:new-feed-url`.
  public var newFeedURL: String?
  /// Whether it is for adults. `itunes:explicit`.
  public var isExplicit: Bool?
  /// The sitemaps that a sitemap index lists, in its order.
  public var sitemaps: [String]
  /// What had to be forgiven, in the document and in all its entries.
  public var repairs: [FeedRepair]

  /// A feed without anything, to be filled in.
  public init(_ format: FeedFormat) {
    self.format = format
    (links, authors, categories, hubs, sitemaps, repairs) = ([], [], [], [], [], [])
    (schedule, pages, isExpired) = (FeedSchedule(), FeedPages(), false)
  }
}

/// Where a feed's changes are announced.
public struct FeedHub: Hashable, Sendable {
  /// The protocol: `WebSub`, or what the feed calls it, such as `rssCloud`.
  public var kind: String
  /// The hub's address, absolute.
  public var url: String

  /// A hub.
  public init(kind: String = "WebSub", _ url: String) {
    self.kind = kind
    self.url = url
  }
}

/// How often a feed wants to be asked.
public struct FeedSchedule: Hashable, Sendable, Codable {
  /// How long an answer stays fresh. RSS: `ttl`, in minutes.
  public var timeToLive: Duration?
  /// How often the feed changes. `sy:updatePeriod` divided by `sy:updateFrequency`; else the frequency of
  /// `podcast:updateFrequency`.
  public var updateInterval: Duration?
  /// The hours of the day, in UTC, from 0 to 23, in which not to ask. RSS: `skipHours`, where 24 is 0.
  public var skipHours: Set<Int>
  /// The days of the week in which not to ask, in UTC: 1 is Monday, 7 Sunday. RSS: `skipDays`.
  public var skipDays: Set<Int>

  /// A schedule that asks for nothing, unless given.
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
  /// Whether the document holds the whole feed. `fh:complete`.
  public var isComplete: Bool

  /// No other pages, unless given.
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

  /// Where older entries are: the next page, else the archive before.
  public var older: String? { isComplete ? nil : next ?? previousArchive }
}
