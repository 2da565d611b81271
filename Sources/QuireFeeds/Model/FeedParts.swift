#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A text with its type: plain or markup.
///
/// HTML is as the publisher wrote it, unchanged and untrusted. Use `plain`, `sanitized()`, or read
/// feeds with `FeedOptions.html` set to `.sanitized`.
public struct FeedText: Hashable, Sendable {
  /// The type of a text.
  public enum Kind: String, Hashable, Sendable {
    /// Plain text: `<` means `<`.
    case text
    /// An HTML fragment.
    case html
    /// An XHTML fragment, serialized so that HTML parsers read it.
    case xhtml
    /// Another type, given by `mediaType`; Base64 if it is not text (RFC 4287, §4.1.3.3).
    case other
  }

  /// The text; empty if it is at `source`.
  public var value: String
  /// The type. Atom declares it (`type`). In RSS, titles are plain unless they contain markup, and
  /// longer texts are HTML if they look like it.
  public var kind: Kind
  /// The media type of a text that is neither plain nor HTML; otherwise nil.
  public var mediaType: String?
  /// The absolute address of a text that is not in the feed (Atom: `content/@src`).
  public var source: String?
  /// The language, from `xml:lang`; nil if none is declared.
  public var language: String?
  /// The base of relative links in the text: `xml:base`, else the feed's address without its query
  /// and with `…` in place of named secrets; nil for plain text.
  public var base: String?

  /// Creates a text; plain by default.
  public init(
    _ value: String, kind: Kind = .text, mediaType: String? = nil, source: String? = nil,
    language: String? = nil, base: String? = nil
  ) {
    self.value = value
    self.kind = kind
    self.mediaType = mediaType
    self.source = source
    self.language = language
    self.base = base
  }

  /// The text without markup: tags are removed, references resolved and white space collapsed, with
  /// line breaks at the ends of blocks.
  public var plain: String {
    switch kind {
    case .text, .other: value
    case .html, .xhtml: HTMLText.plain(value)
    }
  }

  /// Whether the text is markup.
  public var isMarkup: Bool { kind == .html || kind == .xhtml }
}

/// A person or an organization in a feed or an entry.
///
/// Atom: `author` and `contributor` with `name`, `uri`, `email`. RSS: `author` and
/// `managingEditor`, as `address (name)`, `dc:creator`, `itunes:author`. JSON Feed: `authors` or
/// `author` with `name`, `url`, `avatar`. podcast: `podcast:person`.
public struct FeedPerson: Hashable, Sendable {
  /// The name.
  public var name: String?
  /// The absolute address of a page about the person.
  public var url: String?
  /// The email address.
  public var email: String?
  /// The absolute address of a picture.
  public var avatar: String?
  /// The role, such as `host` (podcast: `role`), or `contributor` (Atom).
  public var role: String?

  /// Creates a person.
  public init(
    name: String? = nil, url: String? = nil, email: String? = nil, avatar: String? = nil,
    role: String? = nil
  ) {
    self.name = name
    self.url = url
    self.email = email
    self.avatar = avatar
    self.role = role
  }

  var isEmpty: Bool { name == nil && url == nil && email == nil && avatar == nil }
}

/// A link with a relation, as in Atom (RFC 4287, §4.2.7); in RSS as `atom:link`.
public struct FeedLink: Hashable, Sendable {
  /// The absolute address of the target.
  public var url: String
  /// The relation, such as `alternate`, `self`, `next`, `hub`; by default `alternate`.
  public var relation: String
  /// The media type of the target.
  public var mediaType: String?
  /// The language of the target.
  public var language: String?
  /// A readable title.
  public var title: String?
  /// The size of the target in bytes.
  public var length: Int?

  /// Creates a link.
  public init(
    _ url: String, relation: String = "alternate", mediaType: String? = nil,
    language: String? = nil, title: String? = nil, length: Int? = nil
  ) {
    self.url = url
    self.relation = relation
    self.mediaType = mediaType
    self.language = language
    self.title = title
    self.length = length
  }
}

/// A category or tag.
///
/// RSS: `category` and its `domain`, `dc:subject`, `itunes:category`, `itunes:keywords`,
/// `media:category`. Atom: `category` with `term`, `scheme`, `label`. JSON Feed: `tags`.
public struct FeedCategory: Hashable, Sendable {
  /// The machine-readable name.
  public var term: String
  /// The vocabulary of the term, such as a URI.
  public var scheme: String?
  /// The readable name; nil if the term is readable.
  public var label: String?

  /// Creates a category.
  public init(_ term: String, scheme: String? = nil, label: String? = nil) {
    self.term = term
    self.scheme = scheme
    self.label = label
  }
}

/// A file attached to an entry: a podcast episode, a picture, a film.
///
/// RSS: `enclosure` with `url`, `length`, `type`; `media:content`, also in `media:group`. Atom:
/// `link rel="enclosure"`. JSON Feed: `attachments`. podcast: `podcast:alternateEnclosure`.
/// Sitemaps: `image:image` and `video:video`.
public struct FeedEnclosure: Hashable, Sendable {
  /// The absolute address.
  public var url: String
  /// The media type, such as `audio/mpeg`.
  public var mediaType: String?
  /// The size in bytes; nil if unknown, or 0 in the feed: RSS requires a size, and publishers who
  /// do not know it write 0.
  public var length: Int?
  /// The duration. JSON Feed: `duration_in_seconds`; media: `duration`; for RSS's own enclosure
  /// `itunes:duration`.
  public var duration: Duration?
  /// A title. JSON Feed: `title`; media: `media:title`; Atom: `title` of the link.
  public var title: String?
  /// The width of a picture or film in pixels. media: `width`.
  public var width: Int?
  /// The height of a picture or film in pixels. media: `height`.
  public var height: Int?

  /// Creates a file.
  public init(
    _ url: String, mediaType: String? = nil, length: Int? = nil, duration: Duration? = nil,
    title: String? = nil, width: Int? = nil, height: Int? = nil
  ) {
    self.url = url
    self.mediaType = mediaType
    self.length = length
    self.duration = duration
    self.title = title
    self.width = width
    self.height = height
  }
}

/// The feed that an entry was taken from.
///
/// RSS: `source` with its `url`. Atom: `source` with `id`, `title`, `updated` and links.
public struct FeedSource: Hashable, Sendable {
  /// The title of the feed.
  public var title: String?
  /// The absolute address of the feed. RSS: `source/@url`; Atom: `link rel="self"`.
  public var feedURL: String?
  /// The web page of the feed. Atom: `link rel="alternate"`; `dc:source`.
  public var url: String?
  /// The feed's identifier. Atom: `id`.
  public var id: String?
  /// The date of the feed's last update. Atom: `updated`.
  public var updated: Date?

  /// Creates a source.
  public init(
    title: String? = nil, feedURL: String? = nil, url: String? = nil, id: String? = nil,
    updated: Date? = nil
  ) {
    self.title = title
    self.feedURL = feedURL
    self.url = url
    self.id = id
    self.updated = updated
  }
}

/// The comments on an entry.
public struct FeedComments: Hashable, Sendable {
  /// The page with the comments, absolute. RSS: `comments`; Atom: `link rel="replies"` to HTML;
  /// `podcast:socialInteract`.
  public var url: String?
  /// A feed of the comments, absolute. `wfw:commentRss`; Atom: `link rel="replies"` to a feed (RFC
  /// 4685).
  public var feedURL: String?
  /// The number of comments. `slash:comments`; `thr:total`, `thr:count`.
  public var count: Int?

  /// Creates comments.
  public init(url: String? = nil, feedURL: String? = nil, count: Int? = nil) {
    self.url = url
    self.feedURL = feedURL
    self.count = count
  }

  var isEmpty: Bool { url == nil && feedURL == nil && count == nil }
}

/// A place on Earth, in WGS 84.
///
/// The position of `georss:point` or `geo:lat` with `geo:long`, the first position of `georss:line`
/// or `georss:polygon`, or the middle of `georss:box` or `georss:circle`; the same for GML in
/// `georss:where`.
public struct FeedPlace: Hashable, Sendable {
  /// Degrees north.
  public var latitude: Double
  /// Degrees east.
  public var longitude: Double
  /// The name of the place. `georss:featureName`, `podcast:location`.
  public var name: String?

  /// Creates a place; nil if the coordinates are out of range.
  public init?(latitude: Double, longitude: Double, name: String? = nil) {
    guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
    self.latitude = latitude
    self.longitude = longitude
    self.name = name
  }
}
