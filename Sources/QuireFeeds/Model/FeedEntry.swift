import QuireCore
public import QuirePagination

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An entry of a feed in any format: an item of RSS or JSON Feed, an entry of Atom, an address of a
/// sitemap.
///
/// All addresses are absolute: relative ones were resolved against `xml:base` or the address of the
/// feed. An entry is encoded as an item of JSON Feed 1.1; properties without a member there are in
/// `_quire`. Decoding reads that, and any item of JSON Feed.
public struct FeedEntry: Hashable, Sendable {
  /// The publisher's identifier.
  ///
  /// RSS: `guid`; RSS 1.0: `rdf:about`, `dc:identifier`; Atom: `id`; JSON Feed: `id`, numbers as
  /// text; sitemaps: none. May be nil; `identity` always exists.
  public var id: String?
  /// The page of the entry.
  ///
  /// RSS: `link`, else a `guid` that is a permalink; Atom: `link rel="alternate"`, HTML first; JSON
  /// Feed: `url`; sitemaps: `loc`.
  public var url: String?
  /// The entry's canonical page, if `url` leads through a tracker or to a copy.
  ///
  /// `feedburner:origLink`, `pheedo:origLink`, Atom: `link rel="canonical"`; in RSS a `guid` that
  /// is a permalink different from `link`. Otherwise nil.
  public var canonicalURL: String?
  /// The page that the entry is about. JSON Feed: `external_url`; Atom: `link rel="related"`.
  public var externalURL: String?
  /// The title. RSS, Atom, JSON Feed: `title`; else `dc:title`, `media:title`, `itunes:title`.
  public var title: FeedText?
  /// A summary.
  ///
  /// RSS: `description`, which may be the whole text; Atom: `summary`; JSON Feed: `summary`; else
  /// `dc:description`, `itunes:summary`, `itunes:subtitle`, `media:description`.
  public var summary: FeedText?
  /// The full text.
  ///
  /// RSS: `content:encoded`, `xhtml:body`; Atom: `content`; JSON Feed: `content_html`, else
  /// `content_text`. Nil if the feed has only a summary: see `text`.
  public var content: FeedText?
  /// The entry's own authors; may be empty. The feed's authors are in `Feed.authors`.
  public var authors: [FeedPerson]
  /// The date of publication. RSS: `pubDate`; Atom: `published` (0.3: `issued`); JSON Feed:
  /// `date_published`; else `dc:date`, `dcterms:issued`, `dcterms:created`; news sitemaps:
  /// `publication_date`.
  public var published: Date?
  /// The date of the last change. Atom: `updated` (0.3: `modified`); JSON Feed: `date_modified`;
  /// `dcterms:modified`; sitemaps: `lastmod`.
  public var updated: Date?
  /// Categories and tags; `FeedCategory` lists their sources.
  public var categories: [FeedCategory]
  /// Attached files; `FeedEnclosure` lists their sources.
  public var enclosures: [FeedEnclosure]
  /// A picture. JSON Feed: `image`; `itunes:image`, `image:image` of sitemaps; else a picture in
  /// `media:content`, `media:thumbnail`, or an `enclosure`.
  public var image: String?
  /// A wide picture. JSON Feed: `banner_image`.
  public var bannerImage: String?
  /// The language. JSON Feed: `language`; `xml:lang`, `dc:language`. Nil if only the feed declares
  /// it.
  public var language: String?
  /// The feed in which the entry was first published; nil if none is declared.
  public var source: FeedSource?
  /// The place and the number of comments; nil if none are declared.
  public var comments: FeedComments?
  /// All links with a relation. Atom: `link`; RSS: `atom:link`; `creativeCommons:license` and
  /// `cc:license` as `license`, `thr:in-reply-to` as `in-reply-to`.
  public var links: [FeedLink]
  /// The rights. Atom: `rights` (0.3: `copyright`); `dc:rights`, `media:copyright`.
  public var rights: FeedText?
  /// The place that the entry is about.
  public var place: FeedPlace?
  /// The properties of a podcast episode; nil if there are none.
  public var episode: FeedEpisode?
  /// The frequency of changes of the page, according to its publisher: `always`, `hourly` …
  /// `never`. Sitemaps: `changefreq`.
  public var changeFrequency: String?
  /// The priority of the page among those of its publisher, from 0 to 1. Sitemaps: `priority`.
  public var priority: Double?
  /// The repairs in this entry. Those in the rest of the document are in `Feed.repairs`.
  public var repairs: [FeedRepair]
  /// The entry as the publisher wrote it: JSON as it is, XML mapped to JSON as by `XMLItem.value`;
  /// nil for an entry created by a program. It keeps its whole page in memory, and is ignored in
  /// comparisons.
  public var raw: RawItem? {
    get { uncompared.raw }
    set { uncompared.raw = newValue }
  }
  private var uncompared = Uncompared()

  /// Creates an empty entry.
  public init() {
    (authors, categories, enclosures, links, repairs) = ([], [], [], [], [])
  }

  /// Properties that comparisons ignore.
  private struct Uncompared: Hashable, Sendable {
    var raw: RawItem?

    static func == (left: Self, right: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }
}

extension FeedEntry {
  /// The text to show: the content, or else the summary.
  public var text: FeedText? { content ?? summary }

  /// The entry's bytes in UTF-8 as the publisher wrote them: an XML element with the namespaces in
  /// scope, or a JSON object; empty for an entry created by a program.
  public var rawBytes: [UInt8] { raw.map { $0.sourceBytes ?? Array($0.bytes) } ?? [] }

  /// The date by which entries are ordered: of publication, or else of the last change.
  public var date: Date? { published ?? updated }
}

/// The properties of a podcast episode, from the namespaces of iTunes and Podcasting 2.0.
public struct FeedEpisode: Hashable, Sendable {
  /// The duration. `itunes:duration`, as seconds, `mm:ss` or `hh:mm:ss`.
  public var duration: Duration?
  /// The episode number. `itunes:episode`, `podcast:episode`.
  public var number: Double?
  /// The season number. `itunes:season`, `podcast:season`.
  public var season: Int?
  /// The kind of episode: `full`, `trailer` or `bonus`. `itunes:episodeType`.
  public var kind: String?
  /// Whether the episode has explicit content; nil if unknown. `itunes:explicit`: `true`, `yes`,
  /// `explicit`; `media:rating` of the simple scheme.
  public var isExplicit: Bool?
  /// The transcripts. `podcast:transcript` with `url`, `type`, `language`.
  public var transcripts: [FeedLink] = []
  /// The address of the chapters. `podcast:chapters`.
  public var chapters: FeedLink?

  /// Creates an episode without properties.
  public init() {}
}

extension FeedEntry {
  /// The identity of an entry within its feed: its identifier; without one, its canonical address,
  /// with https in place of http, to which publishers change; without that, a digest of its title,
  /// text and files.
  public struct Identity: Hashable, Sendable, Codable {
    /// The kinds of identity: the publisher's identifier, an address, or a digest of the content.
    public enum Kind: String, Hashable, Sendable, Codable {
      case id, link, digest
    }

    /// Whether the identity is the publisher's identifier, an address, or a digest.
    public let kind: Kind
    /// The identifier, the address by https, or 32 hexadecimal digits.
    public let value: String

    init(_ kind: Kind, _ value: String) {
      self.kind = kind
      self.value = value
    }

    /// The identity as one text; a digest is `urn:quire:digest:…`.
    public var text: String { kind == .digest ? "urn:quire:digest:" + value : value }
  }

  /// The identity of the entry within its feed.
  public var identity: Identity {
    if let id { return Identity(.id, id) }
    if let link {
      return Identity(.link, link.hasPrefix("http://") ? "https" + link.dropFirst(4) : link)
    }
    return Identity(.digest, digest)
  }

  /// The canonical address, else the page's, else the external one. The fragment counts, because
  /// entries may be parts of one page.
  var link: String? { canonicalURL ?? url ?? externalURL }

  /// A digest of the visible content: title, summary, text, files and address. The same in every
  /// process. Not cryptographic, because it only distinguishes entries of one publisher.
  public var digest: String {
    var digest = contentDigest
    if let link { digest.add(link) }
    return digest.text
  }

  /// A digest of the content, the address and the publication date, which tells entries with one
  /// identifier apart.
  var distinctDigest: String {
    var digest = contentDigest
    digest.add(link ?? "")
    digest.add(published.map { "\($0.timeIntervalSince1970)" } ?? "")
    return digest.text
  }

  /// A digest that also has what tells entries of the same content, address and publication date
  /// apart, and that rarely changes.
  var wholeDigest: String {
    var digest = StableDigest()
    digest.add(distinctDigest)
    for author in authors { digest.add(author.name ?? author.email ?? author.url ?? "") }
    for category in categories { digest.add(category.term) }
    digest.add(image ?? "")
    digest.add(place.map { "\($0.latitude) \($0.longitude)" } ?? "")
    digest.add(updated.map { "\($0.timeIntervalSince1970)" } ?? "")
    return digest.text
  }

  private var contentDigest: StableDigest {
    var digest = StableDigest()
    for text in [title, summary, content] { digest.add(text?.value ?? "") }
    digest.add(content?.source ?? "")
    for enclosure in enclosures { digest.add(enclosure.url) }
    return digest
  }
}

/// A digest that is the same in every process: FNV-1a of 128 bits
/// (http://www.isthe.com/chongo/tech/comp/fnv/).
struct StableDigest {
  private var state: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

  mutating func add(_ text: String) {
    for byte in text.utf8 { add(byte) }
    // Marks the end of the text: this byte does not occur in UTF-8.
    add(0xFF)
  }

  private mutating func add(_ byte: UInt8) {
    state ^= UInt128(byte)
    state = state &* 0x0000_0000_0100_0000_0000_0000_0000_013b
  }

  var text: String { state.padded(to: 32, radix: 16) }
}
