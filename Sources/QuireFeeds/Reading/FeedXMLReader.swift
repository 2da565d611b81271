import QuirePagination
import QuireXML

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads a feed and its entries from an XML page.
struct FeedXMLReader {
  let document: XMLDocument
  /// The meaning of each name in the page, by its number.
  private(set) var elements: [FeedElement?]
  /// Whether the root's namespace is known.
  private let isKnown: Bool
  var repairs = RepairTally()

  /// The maximum number of entries in a page, and whether this page has more.
  let limit: Int
  var isBeyondLimit = false
  /// The parts of the entries, which are limited.
  var parts: PartCounter
  /// The entry that is being read, and values that are used only if there are no better ones.
  var entry = FeedEntry()
  var fallback = EntryFallback()
  /// For each sitemap of an index, the latest possible date of its last change; nil if the index
  /// gives none.
  private(set) var sitemapDates: [Date?] = []
  /// The entries directly within the entries that were read.
  var nested: [XMLTreeNode] = []

  init(_ document: XMLDocument, limits: DecodingLimits) {
    self.document = document
    limit = limits.items
    parts = PartCounter(limits)
    (elements, isKnown) = FeedElement.table(of: document)
  }

  /// Returns the meaning of an element; nil if it is unknown.
  @inline(__always)
  func element(_ node: XMLTreeNode) -> FeedElement? { elements[node.nameNumber] }

  /// The feed's properties, and the elements of its entries with their scope.
  typealias Contents = (feed: Feed, entries: [XMLTreeNode], scope: FeedScope)

  /// Reads the feed's properties, and finds its entries. Returns nil if the page is not a feed.
  ///
  /// If there are none, but elements of another namespace with the name of an entry, that namespace
  /// is read as the format's own, and this counts as a repair.
  mutating func feed(in page: FeedScope) -> Contents? {
    let unread = self
    guard let contents = contents(in: page) else { return nil }
    guard contents.entries.isEmpty, contents.feed.sitemaps.isEmpty, !isBeyondLimit,
      !parts.isExceeded, let namespace = namespaceOfEntries(in: document.root)
    else { return contents }
    self = unread
    elements = FeedElement.table(of: document, own: namespace).elements
    repairs.add(.unknownNamespace)
    return self.contents(in: page)
  }

  private mutating func contents(in page: FeedScope) -> Contents? {
    let root = document.root
    let scope = page.within(root)
    if !isKnown { repairs.add(.unknownNamespace) }
    switch element(root) {
    case .rss?: return rss(root, scope)
    case .rdf?: return rdf(root, scope)
    case .atomFeed?: return atom(root, scope)
    case .channel?: return rss(root, scope, channel: root)
    // A document with a single entry (RFC 4287, §2).
    case .entry?:
      var feed = Feed(FeedFormat(.atom, version: atomVersion(root)))
      feed.language = scope.language
      return (feed, [root], scope)
    case .urlset?:
      return (Feed(FeedFormat(.sitemap, version: "0.9")), entries(of: root), scope)
    case .sitemapindex?: return sitemaps(root, scope)
    default: return nil
    }
  }

  // MARK: Roots

  private mutating func rss(
    _ root: XMLTreeNode, _ outer: FeedScope, channel given: XMLTreeNode? = nil
  ) -> Contents {
    let version = root.attribute("version").map { String($0.trimmingBlanks.prefix(16)) }
    var feed = Feed(FeedFormat(.rss, version: version))
    // Some feeds have several channels; the first one has the feed's properties.
    guard let channel = given ?? root.children.first(where: { element($0) == .channel }) else {
      return (feed, entries(of: root), outer)
    }
    let scope = outer.within(channel)
    readProperties(of: channel, scope, into: &feed)
    return (feed, entries(of: root), scope)
  }

  private mutating func rdf(_ root: XMLTreeNode, _ outer: FeedScope) -> Contents {
    let isOld = root.children.contains { ($0.namespace ?? "").contains("0.9") }
    var feed = Feed(FeedFormat(.rdf, version: isOld ? "0.90" : "1.0"))
    var scope = outer
    if let channel = root.children.first(where: { element($0) == .channel }) {
      scope = outer.within(channel)
      feed.id = channel.attribute("about", in: Self.rdf)
      readProperties(of: channel, scope, into: &feed)
    }
    if let image = root.children.first(where: { element($0) == .image }) {
      readImage(image, outer, into: &feed)
    }
    return (feed, entries(of: root), scope)
  }

  static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  static let thread = "http://purl.org/syndication/thread/1.0"

  private mutating func atom(_ root: XMLTreeNode, _ scope: FeedScope) -> Contents {
    var feed = Feed(FeedFormat(.atom, version: atomVersion(root)))
    readProperties(of: root, scope, into: &feed)
    feed.language = feed.language ?? scope.language
    return (feed, entries(of: root), scope)
  }

  private func atomVersion(_ root: XMLTreeNode) -> String? {
    guard let namespace = root.namespace?.lowercased() else { return nil }
    if namespace.hasPrefix("http://purl.org/atom/") { return "0.3" }
    return namespace.contains("2005/atom") ? "1.0" : nil
  }

  private mutating func sitemaps(_ root: XMLTreeNode, _ scope: FeedScope) -> Contents {
    var feed = Feed(FeedFormat(.sitemapIndex, version: "0.9"))
    for node in root.children where element(node) == .sitemap && !parts.isExceeded {
      let location = node.children.first { element($0) == .loc }?.text
      guard let url = location.flatMap({ address($0, scope) }) else { continue }
      feed.sitemaps.append(url)
      let change = node.children.first { element($0) == .lastmod }?.text
      sitemapDates.append(change.flatMap(Self.latest))
    }
    return (feed, entries(of: root), scope)
  }

  /// Returns the latest time that a date of an index can mean; nil for a year or a month alone, and
  /// for text that is not a date. Adds two days, because a date without a time means that day in
  /// the publisher's unknown time zone.
  private static func latest(_ text: String) -> Date? {
    let text = text.trimmingBlanks
    guard text.utf8.count >= 10, let date = FeedDateReader.read(text, as: .w3c)?.date else {
      return nil
    }
    return date.addingTimeInterval(2 * 86_400)
  }

  // MARK: Values

  /// Returns the absolute address. An invalid address is nil, and counts as a repair.
  mutating func address(_ text: String?, _ scope: FeedScope) -> String? {
    guard let text, !text.isEmpty else { return nil }
    let address = scope.absolute(text)
    if address == nil { repairs.add(.badAddress) }
    parts.takeGrowth((address?.utf8.count ?? 0) - text.utf8.count)
    return address
  }

  /// Returns the base of relative links in a text. Counts a base from `xml:base` as growth, because
  /// many texts can share one long base.
  mutating func base(of scope: FeedScope) -> String? {
    if scope.hasOwnBase { parts.takeGrowth(scope.baseText?.utf8.count ?? 0) }
    return scope.baseText
  }

  /// Parses a date. An unreadable date is nil, and counts as a repair.
  mutating func date(_ node: XMLTreeNode, as style: FeedDateReader.Style) -> Date? {
    node.text.flatMap { repairs.date($0, as: style) }
  }

  /// Reads a text of RSS, which is plain unless it looks like markup.
  mutating func text(
    _ node: XMLTreeNode, _ outer: FeedScope, isTitle: Bool = false
  ) -> FeedText? {
    let scope = outer.within(node)
    if node.hasChildren {
      repairs.add(.markupInText)
      return markup(FeedMarkup.inner(node, scope), .html, scope)
    }
    guard let value = node.text else { return nil }
    guard HTMLText.isMarkup(value) else { return plain(value, scope) }
    if isTitle { repairs.add(.markupInText) }
    return markup(value, .html, scope)
  }

  /// Reads a text of Atom 1.0 (RFC 4287, §3.1 and §4.1.3) or 0.3.
  mutating func atomText(_ node: XMLTreeNode, _ outer: FeedScope) -> FeedText? {
    let scope = outer.within(node)
    let source = address(node.attribute("src"), scope)
    let type = (node.attribute("type") ?? "text").lowercased().trimmingBlanks
    let kind = Self.kind(of: type, mode: node.attribute("mode"))
    var text: FeedText?
    switch kind {
    case .xhtml: text = xhtml(node, scope)
    case .html, .text:
      if node.hasChildren {
        repairs.add(.markupInText)
        text = xhtml(node, scope)
        if kind == .html { text?.kind = .html }
      } else if let value = Self.escapedText(of: node) {
        text = kind == .html ? markup(value, .html, scope) : plain(value, scope)
      }
    case .other:
      if type == "multipart/alternative", let best = alternative(in: node) {
        return atomText(best, scope)
      }
      text = other(node, type, scope)
    }
    guard let source else { return text }
    var elsewhere = text ?? FeedText("", kind: kind)
    elsewhere.source = source
    elsewhere.mediaType = kind == .other ? type : nil
    return elsewhere
  }

  /// Returns the best of several contents in Atom 0.3: HTML, or else the first.
  private func alternative(in node: XMLTreeNode) -> XMLTreeNode? {
    var first: XMLTreeNode?
    for child in node.children where element(child) == .atomContent {
      let type = (child.attribute("type") ?? "").lowercased()
      if type.contains("html") { return child }
      if first == nil, !type.hasPrefix("multipart/") { first = child }
    }
    return first
  }

  /// Returns the text of an element, with Base64 of Atom 0.3 decoded.
  private static func escapedText(of node: XMLTreeNode) -> String? {
    guard let text = node.text, node.attribute("mode")?.lowercased() == "base64",
      let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters), !data.isEmpty
    else { return node.text }
    return String(decoding: data, as: UTF8.self).trimmingBlanks
  }

  private static func kind(of type: String, mode: String?) -> FeedText.Kind {
    switch type {
    case "", "text", "text/plain", "plain": mode == "escaped" && type == "" ? .html : .text
    case "html", "text/html": .html
    case "xhtml", "application/xhtml+xml": mode == "escaped" ? .html : .xhtml
    default: type.contains("/") ? .other : .text
    }
  }

  private mutating func xhtml(_ node: XMLTreeNode, _ outer: FeedScope) -> FeedText? {
    // The `div` is not part of the content (RFC 4287, §3.1.1.3).
    let inside = Array(node.children)
    guard inside.count == 1, let div = inside.first, div.localName.lowercased() == "div",
      node.text == nil
    else { return markup(FeedMarkup.inner(node, outer).trimmingBlanks, .xhtml, outer) }
    let inner = outer.within(div)
    return markup(FeedMarkup.inner(div, inner).trimmingBlanks, .xhtml, inner)
  }

  private mutating func other(
    _ node: XMLTreeNode, _ type: String, _ scope: FeedScope
  ) -> FeedText? {
    var value = node.wholeText
    if let child = node.children.first(where: { _ in true }) {
      // `bytes` adds declarations of the namespaces in scope.
      let bytes = child.bytes
      parts.takeGrowth(bytes.count - child.byteCount)
      value = String(decoding: bytes, as: UTF8.self)
    }
    guard !value.isEmpty else { return nil }
    return FeedText(value.trimmingBlanks, kind: .other, mediaType: type, language: scope.language)
  }

  mutating func plain(_ value: String, _ scope: FeedScope) -> FeedText {
    FeedText(withoutWindowsNumbers(value), language: scope.language)
  }

  private mutating func markup(
    _ value: String, _ kind: FeedText.Kind, _ scope: FeedScope
  ) -> FeedText? {
    value.isEmpty
      ? nil
      : FeedText(
        withoutWindowsNumbers(value), kind: kind, language: scope.language, base: base(of: scope))
  }

  /// Replaces C1 control characters by the characters of Windows-1252 with the same numbers, as
  /// browsers do for numeric references (HTML, §13.2.5.80): `&#146;` is an apostrophe.
  private mutating func withoutWindowsNumbers(_ text: String) -> String {
    // In UTF-8 these controls begin with the byte C2, which is rare in valid texts.
    var text = text
    guard text.withUTF8({ $0.contains(0xC2) }) else { return text }
    let controls: ClosedRange<Unicode.Scalar> = "\u{80}"..."\u{9F}"
    let count = text.unicodeScalars.count { controls.contains($0) }
    guard count > 0 else { return text }
    repairs.add(.windowsCharacter, count)
    var output = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isControl = controls.contains(scalar)
      output.append(isControl ? Windows1252.scalar(of: UInt8(scalar.value)) : scalar)
    }
    return String(output)
  }

  /// Reads a link of Atom.
  mutating func link(_ node: XMLTreeNode, _ outer: FeedScope) -> FeedLink? {
    let scope = outer.within(node)
    guard let url = address(node.attribute("href") ?? node.text, scope) else { return nil }
    let relation = (node.attribute("rel") ?? "alternate").trimmingBlanks
    return FeedLink(
      url, relation: String(Substring(LinkRelation.name(relation.utf8))),
      mediaType: node.attribute("type"), language: node.attribute("hreflang"),
      title: node.attribute("title"), length: node.size("length"))
  }

  /// Reads a person of Atom.
  mutating func person(_ node: XMLTreeNode, _ outer: FeedScope) -> FeedPerson? {
    let scope = outer.within(node)
    var person = FeedPerson()
    for child in node.children {
      switch element(child) {
      case .atomName?, .itunesName?: person.name = child.text
      case .atomURI?, .url?: person.url = address(child.text, scope.within(child))
      case .atomEmail?, .itunesEmail?: person.email = child.text
      default: break
      }
    }
    if person.isEmpty { person = node.text.map(FeedPerson.init(rss:)) ?? person }
    return person.isEmpty ? nil : person
  }

  /// Reads a contributor of Atom.
  mutating func contributor(_ node: XMLTreeNode, _ scope: FeedScope) -> FeedPerson? {
    var person = person(node, scope)
    person?.role = "contributor"
    return person
  }

  /// Reads a license: its address as text or in an attribute.
  mutating func license(_ node: XMLTreeNode, _ scope: FeedScope) -> FeedLink? {
    let location = node.attribute("resource", in: Self.rdf) ?? node.attribute("href") ?? node.text
    return address(location, scope.within(node)).map {
      FeedLink($0, relation: "license", mediaType: node.attribute("type"))
    }
  }

  /// Reads a category of Atom.
  func category(_ node: XMLTreeNode) -> FeedCategory? {
    guard let term = (node.attribute("term") ?? node.text)?.trimmingBlanks, !term.isEmpty else {
      return node.attribute("label").map { FeedCategory($0) }
    }
    return FeedCategory(term, scheme: node.attribute("scheme"), label: node.attribute("label"))
  }

  /// Reads a category of RSS, or of Atom if its namespace is missing.
  func rssCategory(_ node: XMLTreeNode) -> FeedCategory? {
    node.text.map { FeedCategory($0, scheme: node.attribute("domain")) } ?? category(node)
  }

  /// Reads the first 256 comma-separated words, each of which counts as a part.
  mutating func keywords(_ node: XMLTreeNode) -> [FeedCategory] {
    var found: [FeedCategory] = []
    for word in (node.text ?? "").split(separator: ",", maxSplits: 256).prefix(256) {
      let term = String(word).trimmingBlanks
      guard !term.isEmpty else { continue }
      guard parts.take() else { break }
      found.append(FeedCategory(term))
    }
    return found
  }

  /// Parses a duration: seconds, `mm:ss` or `hh:mm:ss`.
  static func duration(_ text: String) -> Duration? {
    let parts = text.trimmingBlanks.split(separator: ":", omittingEmptySubsequences: false)
    guard 1...3 ~= parts.count else { return nil }
    var total = 0.0
    for part in parts {
      guard let number = Double(part), number >= 0, number < 1e7 else { return nil }
      total = total * 60 + number
    }
    return .seconds(total)
  }
}

extension FeedPerson {
  /// Creates a person from a text in one of the forms of RSS: `address (name)`, `name <address>`,
  /// an address or a name.
  init(rss text: String) {
    self.init()
    let text = text.trimmingBlanks
    let hasAddress = text.utf8.contains { $0 == 0x40 || $0 == 0x3E }
    guard hasAddress else {
      name = text.isEmpty ? nil : text
      return
    }
    if text.last == ")", let open = text.lastIndex(of: "(") {
      let (before, within) = (text[..<open], text[text.index(after: open)...].dropLast())
      let isBefore = before.contains("@")
      email = String(isBefore ? before : within).trimmingBlanks
      name = String(isBefore ? within : before).trimmingBlanks
    } else if text.last == ">", let open = text.lastIndex(of: "<") {
      email = String(text[text.index(after: open)...].dropLast()).trimmingBlanks
      name = String(text[..<open]).trimmingBlanks
    } else if text.contains("@"), !text.contains(" ") {
      email = text
    } else {
      name = text
    }
    if email?.hasPrefix("mailto:") == true { email = email.map { String($0.dropFirst(7)) } }
    if let quoted = name, quoted.count > 1, quoted.first == "\"", quoted.last == "\"" {
      name = String(quoted.dropFirst().dropLast())
    }
    if email?.isEmpty == true { email = nil }
    if name?.isEmpty == true { name = nil }
  }
}

extension Array {
  /// Appends an element, unless it is nil.
  mutating func add(_ element: Element?) {
    if let element { append(element) }
  }
}

extension XMLTreeNode {
  /// Returns the whole number in an attribute.
  func integer(_ name: String) -> Int? { attribute(name).flatMap { Int($0) } }

  /// Returns the size in bytes in an attribute, which may have commas between thousands; nil for 0,
  /// which publishers write for an unknown size.
  func size(_ name: String, in namespace: String? = nil) -> Int? {
    guard let text = attribute(name, in: namespace),
      let size = Int(text) ?? Int(text.trimmingBlanks.filter { $0 != "," }), size > 0
    else { return nil }
    return size
  }
}
