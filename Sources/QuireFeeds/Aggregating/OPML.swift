import QuireCore
import QuirePagination
import QuireXML

/// A list of subscriptions for exchange between feed readers. Source: OPML 2.0
/// (http://opml.org/spec2.opml).
public struct OPML: Hashable, Sendable {
  /// One subscription of a list.
  public struct Outline: Hashable, Sendable {
    /// The address of the feed, without the scheme `feed:`. `xmlUrl`.
    public var feedURL: String
    /// The reader's title. `text`, else `title`.
    public var title: String?
    /// The web page of the feed. `htmlUrl`.
    public var url: String?
    /// The folders that contain it, outermost first; if there are none, the path of its first
    /// `category`.
    public var folders: [String]

    /// Creates a subscription.
    public init(feedURL: String, title: String? = nil, url: String? = nil, folders: [String] = []) {
      self.feedURL = feedURL
      self.title = title
      self.url = url
      self.folders = folders
    }
  }

  /// The title of the list. `head/title`.
  public var title: String?
  /// The subscriptions, in order; each address once.
  public var outlines: [Outline]

  /// Creates a list.
  public init(title: String? = nil, outlines: [Outline]) {
    self.title = title
    self.outlines = outlines
  }

  /// The maximum depth of nested folders.
  private static let deepest = 32

  /// Parses a list as leniently as feeds are parsed: accepts attribute names in any case, undeclared
  /// entities, control characters, bare ampersands and brackets, and elements that are not closed;
  /// reads at most 32 nested folders, and puts the feeds of deeper ones into the last of these.
  ///
  /// Throws `PageError` if it is not OPML, cut off, larger than 32 MiB, or beyond a limit of
  /// `XMLLimits.feed`.
  public init(_ bytes: [UInt8]) throws { try self.init(bytes, FeedOptions()) }

  /// Parses a list within the limits of `options`.
  init(_ bytes: [UInt8], _ options: FeedOptions) throws {
    guard bytes.count <= 32 << 20 else {
      throw PageError(
        .limitExceeded, "The list of subscriptions has \(bytes.count) bytes; 32 MiB are read.",
        attempts: 0)
    }
    var parser = try RepairingXMLParser(
      options, charset: nil, isProvenWhole: true, boundsEntries: false)
    try parser.receive(bytes)
    let root = try parser.finish(unwanted: Self.noList) { document, _ in
      document.root.localName.lowercased() == "opml" ? document.root : nil
    }.value
    self.init(outlines: [])
    var seen: Set<String> = []
    for child in root.children {
      switch child.localName.lowercased() {
      case "head":
        title = child.children.first { $0.localName.lowercased() == "title" }?.text
      case "body": read(child, [], &seen)
      default: break
      }
    }
  }

  private static func noList(_ document: XMLDocument?) -> PageError {
    let name = document.map { ": its root element is \(ServerText($0.root.localName, limit: 64))" }
    return PageError(
      .malformed,
      "The document is no OPML\(name ?? ""). Give a list of subscriptions.", attempts: 0)
  }

  private mutating func read(_ parent: XMLTreeNode, _ folders: [String], _ seen: inout Set<String>)
  {
    for node in parent.children where node.localName.lowercased() == "outline" {
      var values: [String: String] = [:]
      for (name, value) in node.attributes where !value.isEmpty {
        values[name.lowercased()] = values[name.lowercased()] ?? value
      }
      let name = values["text"] ?? values["title"]
      guard let feed = values["xmlurl"].map({ FeedScope.withoutFeedScheme($0.trimmingBlanks) }),
        !feed.isEmpty
      else {
        let inner = folders + [name ?? ""].filter { !$0.isEmpty }
        read(node, Array(inner.prefix(Self.deepest)), &seen)
        continue
      }
      if seen.insert(feed).inserted {
        let own = folders.isEmpty ? Self.folders(category: values["category"]) : folders
        outlines.append(
          Outline(feedURL: feed, title: name, url: values["htmlurl"], folders: own))
      }
      read(node, folders, &seen)
    }
  }

  /// Returns the folders of the first category: `Technology` and `Swift` for
  /// `/Technology/Swift,/Work`.
  private static func folders(category: String?) -> [String] {
    let first = category?.split(separator: ",").first ?? ""
    let folders = first.split(separator: "/").map { String($0).trimmingBlanks }
    return Array(folders.filter { !$0.isEmpty }.prefix(deepest))
  }

  /// The list as an OPML 2.0 document in UTF-8. Folders are outlines that contain their feeds,
  /// sorted by name.
  public var document: String {
    var text = #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"
    text += #"<opml version="2.0">"# + "\n"
    text +=
      "  <head>\n    <title>\(Self.escaped(title ?? "Subscriptions"))</title>\n  </head>\n  <body>\n"
    Self.write(outlines[...], depth: 0, to: &text)
    return text + "  </body>\n</opml>\n"
  }

  private static func write(_ outlines: ArraySlice<Outline>, depth: Int, to text: inout String) {
    let indent = String(repeating: "  ", count: depth + 2)
    for outline in outlines where outline.folders.count <= depth {
      var attributes = [
        ("text", outline.title ?? outline.feedURL), ("type", "rss"), ("xmlUrl", outline.feedURL),
      ]
      if let url = outline.url { attributes.append(("htmlUrl", url)) }
      let list = attributes.map { " \($0)=\"\(escaped($1))\"" }.joined()
      text += "\(indent)<outline\(list)/>\n"
    }
    let deeper = Dictionary(grouping: outlines.filter { $0.folders.count > depth }) {
      $0.folders[depth]
    }
    for (folder, inside) in deeper.sorted(by: { $0.key < $1.key }) {
      text += "\(indent)<outline text=\"\(escaped(folder))\">\n"
      write(inside[...], depth: depth + 1, to: &text)
      text += "\(indent)</outline>\n"
    }
  }

  /// Returns the text escaped for an attribute or an element, without characters that XML cannot
  /// hold.
  private static func escaped(_ text: String) -> String {
    let scalars = text.unicodeScalars.filter { scalar in
      switch scalar {
      case "\n", "\r", "\t": true
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": false
      default: true
      }
    }
    return String(String.UnicodeScalarView(scalars)).escapedForXML
  }
}
