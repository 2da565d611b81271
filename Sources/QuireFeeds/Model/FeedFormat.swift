/// The format of a feed.
///
/// Sources: RSS 0.90 and 0.91 (Netscape), 0.92, 0.93, 0.94 and 2.0 (UserLand, RSS Advisory Board),
/// RSS 1.0 (RDF Site Summary), Atom 0.3 (draft-ietf-atompub-format-00) and 1.0 (RFC 4287), JSON
/// Feed 1 and 1.1, sitemaps 0.9.
public struct FeedFormat: Hashable, Sendable, CustomStringConvertible {
  /// The family of formats.
  public enum Family: String, Hashable, Sendable, CaseIterable {
    /// RSS with items in a channel: 0.91 to 2.0.
    case rss
    /// RSS as RDF: 0.90 and 1.0.
    case rdf
    /// Atom 0.3 and 1.0.
    case atom
    /// JSON Feed 1 and 1.1.
    case jsonFeed
    /// A sitemap: a list of addresses, as XML or text.
    case sitemap
    /// A sitemap index: a list of sitemaps.
    case sitemapIndex
  }

  /// The media types that are used for feeds.
  static let mediaTypes: Set<String> = [
    "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json",
    "application/xml", "text/xml",
  ]

  /// The family.
  public let family: Family
  /// The version that the feed declares, such as `2.0`; nil if it declares none.
  public let version: String?

  /// Creates a format.
  public init(_ family: Family, version: String? = nil) {
    self.family = family
    self.version = version
  }

  /// The family and the version: `rss 2.0`, `atom 1.0`, `jsonFeed 1.1`, `sitemap 0.9` and so on.
  public var description: String { version.map { "\(family.rawValue) \($0)" } ?? family.rawValue }

  /// Parses the output of `description`. Nil for an unknown family.
  init?(_ text: String) {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard let family = parts.first.flatMap({ Family(rawValue: String($0)) }) else { return nil }
    self.init(family, version: parts.count > 1 ? String(parts[1]) : nil)
  }
}
