#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A text and what it is: plain, or markup.
///
/// HTML is as the publisher wrote it; nothing in it is changed, and nothing in it can be trusted. Ask for
/// `plain`, for `sanitized()`, or for a feed whose `FeedOptions.html` is `.sanitized`.
public struct FeedText: Hashable, Sendable {
  /// What a text is.
  public enum Kind: String, Hashable, Sendable {
    /// Plain text: `<` means `<`.
    case text
    /// A piece of HTML.
    case html
    /// A piece of XHTML, written out so that readers of HTML understand it.
    case xhtml
    /// Something else, which `mediaType` names; base 64 where that is no text (RFC 4287, §4.1.3.3).
    case other
  }

  /// The text. Empty where it is elsewhere, at `source`.
  public var value: String
  /// What the text is. Atom says it (`type`); in RSS, titles are plain unless they hold markup, and
  /// everything longer is HTML where it looks like it.
  public var kind: Kind
  /// The media type of what is neither text nor HTML; nil for those.
  public var mediaType: String?
  /// The address of a text that is elsewhere (Atom: `content/@src`), absolute.
  public var source: String?
  /// The language, from `xml:lang`; nil where nothing says it.
  public var language: String?
  /// What relative links in the text start from: `xml:base`, else the feed's address; nil for plain text.
  public var base: String?

  /// A text; plain unless told otherwise.
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

  /// The text without markup: tags left out, references resolved, white space in single spaces, lines
  /// where blocks end.
  public var plain: String {
    switch kind {
    case .text, .other: value
    case .html, .xhtml: HTMLText.plain(value)
    }
  }

  /// Whether the text is markup.
  public var isMarkup: Bool { kind == .html || kind == .xhtml }
}

/// A person or an organisation that a feed or an entry names.
///
/// Atom: `author` and `contributor` with `name`, `uri`, `email`. RSS: `author` and `managingEditor`, as
/// `address (name)`, `dc:creator`, `itunes:author`. JSON Feed: `authors` or `author` with `name`, `url`,
/// `avatar`. podcast: `podcast:person`.
public struct FeedPerson: Hashable, Sendable {
  /// The name.
  public var name: String?
  /// A page about the person, absolute.
  public var url: String?
  /// The email address.
  public var email: String?
  /// The address of a picture, absolute.
  public var avatar: String?
  /// What the person did, such as `host` (podcast: `role`), or `contributor` (Atom).
  public var role: String?

  /// A person.
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

/// A link with its relation, as Atom has them (RFC 4287, §4.2.7); RSS has them as `atom:link`.
public struct FeedLink: Hashable, Sendable {
  /// The target, absolute.
  public var url: String
  /// The relation, such as `alternate`, `self`, `next`, `hub`; `alternate` where nothing says it.
  public var relation: String
  /// The media type of the target.
  public var mediaType: String?
  /// The language of the target.
  public var language: String?
  /// A title for people.
  public var title: String?
  /// Bytes of the target.
  public var length: Int?

  /// A link.
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
  /// The name that a program tells categories by.
  public var term: String
  /// What the term is a name in, such as a URI.
  public var scheme: String?
  /// The name for people; nil where the term is one.
  public var label: String?

  /// A category.
  public init(_ term: String, scheme: String? = nil, label: String? = nil) {
    self.term = term
    self.scheme = scheme
    self.label = label
  }
}

/// A file that belongs to an entry: a podcast's episode, a picture, a film.
///
/// RSS: `enclosure` with `url`, `length`, `type`; `media:content`, also in `media:group`. Atom:
/// `link rel="enclosure"`. JSON Feed: `attachments`. podcast: `podcast:alternateEnclosure`. Sitemaps:
/// `image:image` and `video:video`.
public struct FeedEnclosure: Hashable, Sendable {
  /// The address, absolute.
  public var url: String
  /// The media type, such as `audio/mpeg`.
  public var mediaType: String?
  /// Bytes. RSS demands it, and publishers who do not know write 0: that is nil here.
  public var length: Int?
  /// How long it plays. JSON Feed: `duration_in_seconds`; media: `duration`; for RSS's own enclosure
  /// `itunes:duration`.
  public var duration: Duration?
  /// A title. JSON Feed: `title`; media: `media:title`; Atom: `title` of the link.
  public var title: String?
  /// Pixels, of pictures and films. media: `width`, `height`.
  public var width: Int?
  /// Pixels, of pictures and films.
  public var height: Int?

  /// A file.
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
  /// The feed's own address, absolute. RSS: `source/@url`; Atom: `link rel="self"`.
  public var feedURL: String?
  /// The page that the feed is of. Atom: `link rel="alternate"`; `dc:source`.
  public var url: String?
  /// The feed's identifier. Atom: `id`.
  public var id: String?
  /// When the feed was updated last. Atom: `updated`.
  public var updated: Date?

  /// A source.
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

/// Where comments on an entry are.
public struct FeedComments: Hashable, Sendable {
  /// The page with the comments, absolute. RSS: `comments`; Atom: `link rel="replies"` to HTML;
  /// `podcast:socialInteract`.
  public var url: String?
  /// A feed of the comments, absolute. `wfw:commentRss`; Atom: `link rel="replies"` to a feed (RFC 4685).
  public var feedURL: String?
  /// How many there are. `slash:comments`; `thr:total`, `thr:count`.
  public var count: Int?

  /// Comments.
  public init(url: String? = nil, feedURL: String? = nil, count: Int? = nil) {
    self.url = url
    self.feedURL = feedURL
    self.count = count
  }

  var isEmpty: Bool { url == nil && feedURL == nil && count == nil }
}

/// A place on Earth in WGS 84. `georss:point`, the first position of `georss:line` and `georss:polygon`,
/// the middle of `georss:box` and `georss:circle`, the same of GML in `georss:where`, `geo:lat` with `geo:long`.
public struct FeedPlace: Hashable, Sendable {
  /// Degrees north.
  public var latitude: Double
  /// Degrees east.
  public var longitude: Double
  /// The name of the place. `georss:featureName`, `podcast:location`.
  public var name: String?

  /// A place; nil where it is not on Earth.
  public init?(latitude: Double, longitude: Double, name: String? = nil) {
    guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
    self.latitude = latitude
    self.longitude = longitude
    self.name = name
  }
}
