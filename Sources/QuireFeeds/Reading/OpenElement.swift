import QuireXML

/// An open element of a feed that is being repaired, and what its name allows it to contain.
struct OpenElement {
  let name: [UInt8]
  /// The prefixes that it declares.
  let prefixes: [[UInt8]]
  /// The whole name in lowercase, and the local name.
  let lowercased: [UInt8]
  let local: String
  /// Whether it is a feed's element rather than HTML.
  let isPart: Bool
  /// Whether its name is one of a format or of HTML, rather than of an extension that the repair
  /// does not know: such an extension may contain anything, even an `item`.
  let isKnown: Bool
  /// Whether it has text of its own, as elements that contain others seldom have.
  var hasText = false

  /// Creates an element of a feed whose root has the prefix `home`.
  init(_ name: [UInt8], prefixes: [[UInt8]], home: ArraySlice<UInt8>?) {
    self.name = name
    self.prefixes = prefixes
    lowercased = name.map(XMLText.lowercased)
    local = Self.localName(name)
    isPart = Self.parts.contains(local)
    isKnown =
      Self.isConventional(name)
      || Self.isOwn(name, home)
        && (FeedElement.isName(local) || HTMLToken.known.contains(local))
  }

  /// Whether it contains only text, so that a feed element inside it ends it.
  var isLeaf: Bool { isKnown && Self.leaves.contains(local) }

  /// Whether it may contain entries.
  var isContainer: Bool { Self.containers.contains(local) }

  /// Elements that may contain entries.
  static let containers: Set<String> = [
    "rss", "feed", "rdf", "channel", "urlset", "sitemapindex", "opml",
  ]

  /// The local names of feed elements, as opposed to HTML elements.
  static let parts: Set<String> = [
    "rss", "rdf", "feed", "channel", "item", "entry", "urlset", "url", "sitemapindex", "sitemap",
    "description", "encoded", "content", "summary", "title", "link", "guid", "pubdate", "author",
    "category", "comments", "source", "id", "updated", "published", "subtitle", "rights", "creator",
    "date", "subject", "generator", "language", "copyright", "ttl", "loc", "lastmod", "enclosure",
  ]

  private static let leaves: Set<String> = [
    "guid", "pubdate", "comments", "id", "updated", "published", "generator", "language", "ttl",
    "loc", "lastmod", "link", "lastbuilddate", "creator", "title",
  ]

  /// The elements that are children of an entry or a channel and of nothing else, and that HTML
  /// does not have.
  static let children: Set<String> = [
    "guid", "pubdate", "enclosure", "lastbuilddate", "id", "updated", "published",
  ]

  /// Those of `children` that a `source` of Atom has, too.
  static let sourceChildren: Set<String> = ["id", "updated"]

  /// The elements that have no content if they have an attribute: publishers write them like the
  /// void elements of HTML.
  static let voids = [
    "enclosure": "url", "thumbnail": "url", "image": "href", "link": "href", "category": "term",
    "transcript": "url", "chapters": "url",
  ]

  /// Whether a name has the prefix of the root or none, or one that has a conventional meaning.
  static func isFeeds(_ name: [UInt8], _ home: ArraySlice<UInt8>?) -> Bool {
    isOwn(name, home) || isConventional(name)
  }

  /// Whether a name has the prefix of the root, or none.
  private static func isOwn(_ name: [UInt8], _ home: ArraySlice<UInt8>?) -> Bool {
    let prefix = prefix(name)
    return prefix == nil || prefix == home
  }

  private static func isConventional(_ name: [UInt8]) -> Bool {
    prefix(name).map { FeedElement.isConventional($0) } ?? false
  }

  /// Returns the prefix of a name; nil if it has none.
  static func prefix(_ name: [UInt8]) -> ArraySlice<UInt8>? {
    name.firstIndex(of: 0x3A).map { name[..<$0] }
  }

  /// Returns the local name in lowercase.
  static func localName(_ name: [UInt8]) -> String {
    let local = name.lastIndex(of: 0x3A).map { name[($0 + 1)...] } ?? name[...]
    return String(decoding: local, as: UTF8.self).lowercased()
  }

  /// Returns the local name of a document's first element in lowercase; nil if there is none. The
  /// document may be in any encoding that has the characters of ASCII, or in UTF-16.
  static func rootName(of document: [UInt8]) -> String? {
    // The zeros of UTF-16.
    var rest = document.prefix(4).contains(0) ? document.filter { $0 != 0 }[...] : document[...]
    while let start = rest.firstIndex(of: 0x3C) {
      rest = rest[start...]
      if rest.starts(with: "<!--".utf8) {
        rest = rest.dropFirst(4)
        while !rest.isEmpty, !rest.starts(with: "-->".utf8) { rest.removeFirst() }
      } else if rest.starts(with: "<?".utf8) {
        while !rest.isEmpty, !rest.starts(with: "?>".utf8) { rest.removeFirst() }
      } else if rest.starts(with: "<!".utf8) {
        // A declaration may have others in brackets.
        var depth = 0
        while let byte = rest.popFirst(), byte != 0x3E || depth > 0 {
          if byte == 0x5B { depth += 1 }
          if byte == 0x5D { depth -= 1 }
        }
      } else {
        let ends = " \t\r\n/>".utf8
        return localName(Array(rest.dropFirst().prefix(256).prefix { !ends.contains($0) }))
      }
    }
    return nil
  }
}
