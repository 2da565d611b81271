import QuireCore
public import QuirePagination

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One entry of a feed, whatever its format: an item of RSS and JSON Feed, an entry of Atom, an address of
/// a sitemap.
///
/// All addresses are absolute: relative ones were resolved against `xml:base` or the address of the
/// feed. Encoded, an entry is an item of JSON Feed 1.1, with what that has no member for in `_quire`;
/// decoding reads that, and any item of JSON Feed.
public struct FeedEntry: Hashable, Sendable {
  /// The identifier that the publisher gave.
  ///
  /// RSS: `guid`; RSS 1.0: `rdf:about`, `dc:identifier`; Atom: `id`; JSON Feed: `id`, numbers as text;
  /// sitemaps: none. Nil where there is none: `identity` is always there.
  public var id: String?
  /// The page of the entry.
  ///
  /// RSS: `link`, else a `guid` that is a permalink; Atom: `link rel="alternate"`, HTML first; JSON
  /// Feed: `url`; sitemaps: `loc`.
  public var url: String?
  /// The page that the publisher calls the entry's own, where `url` leads through a counter or a copy.
  ///
  /// `feedburner:origLink`, `pheedo:origLink`, Atom: `link rel="canonical"`; in RSS a `guid` that is a
  /// permalink and another address than `link`. Nil where nothing says it.
  public var canonicalURL: String?
  /// The page that the entry is about. JSON Feed: `external_url`; Atom: `link rel="related"`.
  public var externalURL: String?
  /// The title. RSS, Atom, JSON Feed: `title`; else `dc:title`, `media:title`, `itunes:title`.
  public var title: FeedText?
  /// A summary.
  ///
  /// RSS: `description`, which may well be the whole text; Atom: `summary`; JSON Feed: `summary`; else
  /// `dc:description`, `itunes:summary`, `itunes:subtitle`, `media:description`.
  public var summary: FeedText?
  /// The text itself.
  ///
  /// RSS: `content:encoded`, `xhtml:body`; Atom: `content`; JSON Feed: `content_html`, else
  /// `content_text`. Nil where the feed has only a summary: see `text`.
  public var content: FeedText?
  /// Who wrote it. Where the entry names nobody, nobody: the feed's authors are in `Feed.authors`.
  public var authors: [FeedPerson]
  /// When it was published. RSS: `pubDate`; Atom: `published` (0.3: `issued`); JSON Feed:
  /// `date_published`; else `dc:date`, `dcterms:issued`, `dcterms:created`; news sitemaps:
  /// `publication_date`.
  public var published: Date?
  /// When it was changed last. Atom: `updated` (0.3: `modified`); JSON Feed: `date_modified`;
  /// `dcterms:modified`; sitemaps: `lastmod`.
  public var updated: Date?
  /// Categories and tags.
  public var categories: [FeedCategory]
  /// Files.
  public var enclosures: [FeedEnclosure]
  /// A picture. JSON Feed: `image`; `itunes:image`, `image:image` of sitemaps; else a picture of
  /// `media:content`, `media:thumbnail`, an `enclosure` that is one.
  public var image: String?
  /// A picture to be shown wide. JSON Feed: `banner_image`.
  public var bannerImage: String?
  /// The language. JSON Feed: `language`; `xml:lang`, `dc:language`. Nil where only the feed says it.
  public var language: String?
  /// The feed that the entry comes from originally.
  public var source: FeedSource?
  /// Where comments are.
  public var comments: FeedComments?
  /// All links that the entry has with a relation. Atom: `link`; RSS: `atom:link`; `creativeCommons:license` and
  /// `cc:license` as `license`, `thr:in-reply-to` as `in-reply-to`.
  public var links: [FeedLink]
  /// Who may do what with it. Atom: `rights` (0.3: `copyright`); `dc:rights`, `media:copyright`.
  public var rights: FeedText?
  /// Where on Earth it is about.
  public var place: FeedPlace?
  /// What podcasts say of an episode; nil where nothing of it is there.
  public var episode: FeedEpisode?
  /// How often the page changes, by its publisher: `always`, `hourly` … `never`. Sitemaps: `changefreq`.
  public var changeFrequency: String?
  /// How important the page is among its publisher's, from 0 to 1. Sitemaps: `priority`.
  public var priority: Double?
  /// What had to be forgiven in this entry. What was forgiven in the document around it is in
  /// `Feed.repairs`.
  public var repairs: [FeedRepair]
  /// The entry as its publisher wrote it: from JSON as it is, from XML as `XMLItem.value` maps elements
  /// to JSON; nil for an entry that was made by a program. It keeps its whole page in memory, and does
  /// not count when entries are compared.
  public var raw: RawItem? {
    get { uncompared.raw }
    set { uncompared.raw = newValue }
  }
  private var uncompared = Uncompared()

  /// An entry without anything, to be filled in.
  public init() {
    (authors, categories, enclosures, links, repairs) = ([], [], [], [], [])
  }

  /// What does not count in comparisons.
  private struct Uncompared: Hashable, Sendable {
    var raw: RawItem?

    static func == (left: Self, right: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }
}

extension FeedEntry {
  /// The text to show: the content, or the summary where that is all there is.
  public var text: FeedText? { content ?? summary }

  /// The entry's own bytes in UTF-8, as its publisher wrote them: an element of XML, with the namespaces that it
  /// gets from around it, or an object of JSON; empty for an entry that was made by a program.
  public var rawBytes: [UInt8] { raw.map { $0.markup ?? Array($0.bytes) } ?? [] }

  /// When it was published, or else changed: what entries are ordered by.
  public var date: Date? { published ?? updated }
}

/// What podcasts say of an episode, in the namespaces of iTunes and of Podcasting 2.0.
public struct FeedEpisode: Hashable, Sendable {
  /// How long it plays. `itunes:duration`, as seconds, `mm:ss` or `hh:mm:ss`.
  public var duration: Duration?
  /// The number of the episode. `itunes:episode`, `podcast:episode`.
  public var number: Double?
  /// The number of the season. `itunes:season`, `podcast:season`.
  public var season: Int?
  /// `full`, `trailer` or `bonus`. `itunes:episodeType`.
  public var kind: String?
  /// Whether it is for adults. `itunes:explicit`: `true`, `yes`, `explicit`; `media:rating` of the simple scheme.
  public var isExplicit: Bool?
  /// Transcripts. `podcast:transcript` with `url`, `type`, `language`.
  public var transcripts: [FeedLink] = []
  /// The address of the chapters. `podcast:chapters`.
  public var chapters: FeedLink?

  /// An episode of which nothing is known.
  public init() {}
}

extension FeedEntry {
  /// By what an entry is known again within its feed: its identifier; without one, its canonical
  /// address; without one, a digest of its title, text and files.
  public struct Identity: Hashable, Sendable, Codable {
    /// What the identity is made of.
    public enum Kind: String, Hashable, Sendable, Codable {
      case id, link, digest
    }

    /// What the identity is made of.
    public let kind: Kind
    /// The identifier, the address, or 32 hexadecimal digits.
    public let value: String

    init(_ kind: Kind, _ value: String) {
      self.kind = kind
      self.value = value
    }

    /// An identifier that can stand alone: a digest as `urn:quire:digest:…`.
    public var text: String { kind == .digest ? "urn:quire:digest:" + value : value }
  }

  /// By what the entry is known again within its feed.
  public var identity: Identity {
    if let id { return Identity(.id, id) }
    if let link { return Identity(.link, link) }
    return Identity(.digest, digest)
  }

  /// The canonical address, else the page's; nil where the entry has none. Its fragment counts: entries
  /// may be places of one page.
  var link: String? { canonicalURL ?? url ?? externalURL }

  /// A digest of what people see of the entry: title, summary, text, files. The same in every process;
  /// no cryptographic one, for what it tells apart is one publisher's own.
  public var digest: String { digest(withPlace: false) }

  /// The digest, of its address and the time of its publication as well.
  func digest(withPlace hasPlace: Bool) -> String {
    var digest = StableDigest()
    for text in [title, summary, content] { digest.add(text?.value ?? "") }
    digest.add(content?.source ?? "")
    for enclosure in enclosures { digest.add(enclosure.url) }
    if hasPlace {
      digest.add(link ?? "")
      digest.add(published.map { "\($0.timeIntervalSince1970)" } ?? "")
    }
    return digest.text
  }
}

/// FNV-1a of 128 bits (http://www.isthe.com/chongo/tech/comp/fnv/).
struct StableDigest {
  private var state: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

  mutating func add(_ text: String) {
    for byte in text.utf8 { add(byte) }
    // Where one text ends counts; no byte of UTF-8 is this.
    add(0xFF)
  }

  private mutating func add(_ byte: UInt8) {
    state ^= UInt128(byte)
    state = state &* 0x0000_0000_0100_0000_0000_0000_0000_013b
  }

  var text: String { state.padded(to: 32, radix: 16) }
}
