import QuirePagination
import QuireXML

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads an entry: the elements of `item`, `entry` and a sitemap's `url`.
extension FeedXMLReader {
  /// Values that are used only if there are no better ones.
  struct EntryFallback {
    /// The identifier of Dublin Core, used only if the format's own is missing; the order of the
    /// elements does not matter.
    var identifier: String?
    var title: FeedText?
    var summary: FeedText?
    var authors: [FeedPerson] = []
    /// The authors of the source, which are the entry's if it has none (RFC 4287, §4.2.1).
    var sourceAuthors: [FeedPerson] = []
    var published: Date?
    var issued: Date?
    var created: Date?
    var keywords: [FeedCategory] = []
    var guidIsPermalink = false
    var picture: String?
    var thumbnail: String?
    /// A picture among the entry's files.
    var file: String?
    var placeName: String?
    var comments: String?
    var latitude: Double?
    var longitude: Double?
    var rights: FeedText?
    var duration: Duration?
    /// The elements that an entry has once at most, of those that were read.
    var singles: Singles = []
    /// The indexes of the entry's files in `enclosures`, by address.
    var files: [String: Int] = [:]
  }

  /// Elements that an entry has once at most.
  struct Singles: OptionSet {
    let rawValue: Int

    static let guid = Singles(rawValue: 1)
    static let pubDate = Singles(rawValue: 2)
    static let atomID = Singles(rawValue: 4)
    static let atomUpdated = Singles(rawValue: 8)
    static let atomPublished = Singles(rawValue: 16)
  }

  /// Counts a repair if the entry has had the element already.
  private mutating func readOnce(_ element: Singles) {
    if !fallback.singles.insert(element).inserted { repairs.add(.repeatedElement) }
  }

  /// The entry's comments and episode, created by the first property that is set.
  var comments: FeedComments {
    get { entry.comments ?? FeedComments() }
    set { entry.comments = newValue }
  }
  var episode: FeedEpisode {
    get { entry.episode ?? FeedEpisode() }
    set { entry.episode = newValue }
  }

  /// Reads an entry, with its own repairs.
  mutating func readEntry(_ node: XMLTreeNode, _ outer: FeedScope) -> FeedEntry {
    let before = repairs
    (repairs, entry, fallback) = (RepairTally(), FeedEntry(), EntryFallback())
    parts.beginEntry()
    let scope = outer.within(node)
    if let about = node.attribute("about", in: Self.rdf) { entry.id = about }
    entry.language = scope.language
    let own = node.nameNumber
    for child in node.children {
      guard let element = element(child) else { continue }
      guard child.nameNumber != own else {
        nested.append(child)
        continue
      }
      guard parts.take() else { break }
      read(element, child, scope)
    }
    applyFallbacks()
    entry.repairs = repairs.repairs
    entry.raw = node.rawItem
    repairs = before
    repairs.add(entry.repairs)
    return entry
  }

  // MARK: RSS

  /// Reads an element of RSS, or of any other format by the methods below.
  private mutating func read(_ element: FeedElement, _ node: XMLTreeNode, _ scope: FeedScope) {
    switch element {
    case .title: entry.title = entry.title ?? text(node, scope, isTitle: true)
    case .link:
      if node.text == nil, node.attribute("href") != nil {
        entry.links.add(link(node, scope))
      } else {
        entry.url = entry.url ?? address(node.text, scope.within(node))
      }
    case .description: readDescription(node, scope)
    case .contentEncoded: entry.content = text(node, scope) ?? entry.content
    case .xhtmlBody: readBody(node, scope)
    case .pubDate:
      readOnce(.pubDate)
      entry.published = entry.published ?? date(node, as: .rfc822)
    case .guid:
      readOnce(.guid)
      entry.id = node.text ?? entry.id
      // True by default (RSS 2.0).
      fallback.guidIsPermalink =
        node.attribute("isPermaLink")?.lowercased().trimmingBlanks != "false"
    case .author:
      if node.hasChildren {
        entry.authors.add(person(node, scope))
      } else {
        entry.authors.add(node.text.map(FeedPerson.init(rss:)))
      }
    case .category: entry.categories.add(rssCategory(node))
    case .enclosure: readEnclosure(node, scope)
    case .comments: comments.url = address(node.text, scope.within(node))
    case .source: readSource(node, scope)
    default: readAtom(element, node, scope)
    }
  }

  private mutating func readDescription(_ node: XMLTreeNode, _ scope: FeedScope) {
    if let inner = node.children.first(where: { element($0) == .contentEncoded }) {
      // `content:encoded` within `description`, as in Apple's own example of a podcast.
      entry.content = entry.content ?? text(inner, scope.within(node))
    } else {
      entry.summary = entry.summary ?? text(node, scope)
    }
  }

  private mutating func readBody(_ node: XMLTreeNode, _ outer: FeedScope) {
    let scope = outer.within(node)
    let value = FeedMarkup.inner(node, scope).trimmingBlanks
    guard !value.isEmpty else { return }
    entry.content = FeedText(value, kind: .xhtml, language: scope.language, base: base(of: scope))
  }

  private mutating func readEnclosure(_ node: XMLTreeNode, _ scope: FeedScope) {
    // RSS 1.0's module for enclosures has `rdf:resource`.
    let location =
      node.attribute("url") ?? node.attribute("href") ?? node.attribute("resource", in: Self.rdf)
    guard let url = address(location ?? node.text, scope) else { return }
    // Its other attributes have the module's namespace.
    let own = node.namespace
    let length = node.size("length") ?? own.flatMap { node.size("length", in: $0) }
    let type = node.attribute("type") ?? own.flatMap { node.attribute("type", in: $0) }
    if type?.hasPrefix("image/") == true { fallback.file = fallback.file ?? url }
    entry.add(FeedEnclosure(url, mediaType: type, length: length), &fallback.files)
  }

  // MARK: Atom

  private mutating func readAtom(_ element: FeedElement, _ node: XMLTreeNode, _ scope: FeedScope) {
    switch element {
    case .atomTitle: entry.title = entry.title ?? atomText(node, scope)
    case .atomSummary: entry.summary = entry.summary ?? atomText(node, scope)
    case .atomContent: entry.content = entry.content ?? atomText(node, scope)
    case .atomLink, .xhtmlLink:
      entry.links.add(link(node, scope))
      // RFC 4685, §4.
      if let count = node.attribute("count", in: Self.thread).flatMap({ Int($0) }), count >= 0 {
        comments.count = comments.count ?? count
      }
    case .atomID:
      readOnce(.atomID)
      entry.id = entry.id ?? node.text
    case .atomUpdated:
      readOnce(.atomUpdated)
      entry.updated = entry.updated ?? date(node, as: .atom)
    case .atomPublished:
      readOnce(.atomPublished)
      entry.published = entry.published ?? date(node, as: .atom)
    case .atomCreated: fallback.created = date(node, as: .atom)
    case .atomAuthor: entry.authors.add(person(node, scope))
    case .atomContributor:
      entry.authors.add(contributor(node, scope))
    case .inReplyTo:
      // RFC 4685, §3.
      if let url = address(node.attribute("href"), scope.within(node)) {
        entry.links.append(
          FeedLink(url, relation: "in-reply-to", mediaType: node.attribute("type")))
      }
    case .atomCategory: entry.categories.add(category(node))
    case .atomRights: entry.rights = atomText(node, scope)
    case .atomSource: readSource(node, scope)
    default: readModule(element, node, scope)
    }
  }

  private mutating func readSource(_ node: XMLTreeNode, _ outer: FeedScope) {
    let scope = outer.within(node)
    var source = FeedSource()
    for child in node.children {
      switch element(child) {
      case .atomTitle?, .title?: source.title = atomText(child, scope)?.plain
      case .atomID?: source.id = child.text
      case .atomUpdated?: source.updated = date(child, as: .atom)
      case .atomLink?, .link?:
        guard let link = link(child, scope) else { continue }
        if link.relation.lowercased() == "self" { source.feedURL = link.url }
        if link.relation.lowercased() == "alternate" { source.url = source.url ?? link.url }
      case .atomAuthor?, .author?:
        guard parts.take() else { return }
        fallback.sourceAuthors.add(person(child, scope))
      default: break
      }
    }
    // In RSS the title is the text, possibly beside elements of other formats.
    if source.title == nil, let text = node.text {
      source.title = node.hasChildren ? self.text(node, outer)?.plain : text
    }
    source.feedURL = source.feedURL ?? address(node.attribute("url"), scope)
    entry.source = source
  }

  /// Reads a source of Dublin Core: an address or a name.
  private mutating func readSource(text node: XMLTreeNode, _ scope: FeedScope) {
    guard entry.source == nil, let text = node.text else { return }
    let isAddress = text.hasPrefix("http://") || text.hasPrefix("https://")
    entry.source = isAddress ? FeedSource(url: address(text, scope)) : FeedSource(title: text)
  }

  // MARK: Modules

  private mutating func readModule(
    _ element: FeedElement, _ node: XMLTreeNode, _ scope: FeedScope
  ) {
    switch element {
    case .dcTitle: fallback.title = text(node, scope, isTitle: true)
    case .dcDescription: fallback.summary = text(node, scope) ?? fallback.summary
    case .dcCreator: fallback.authors.add(node.text.map(FeedPerson.init(rss:)))
    case .dcContributor:
      if var person = node.text.map(FeedPerson.init(rss:)) {
        person.role = "contributor"
        entry.authors.append(person)
      }
    case .dcDate: fallback.published = fallback.published ?? date(node, as: .w3c)
    case .dcIssued: fallback.issued = fallback.issued ?? date(node, as: .w3c)
    case .dcCreated: fallback.created = fallback.created ?? date(node, as: .w3c)
    case .dcSource: readSource(text: node, scope)
    case .license: entry.links.add(license(node, scope))
    case .dcModified: entry.updated = entry.updated ?? date(node, as: .w3c)
    case .dcLanguage: entry.language = node.text ?? entry.language
    case .dcRights: fallback.rights = text(node, scope)
    case .dcSubject: entry.categories.add(node.text.map { FeedCategory($0) })
    case .dcIdentifier: fallback.identifier = fallback.identifier ?? node.text
    case .origLink: entry.canonicalURL = address(node.text, scope)
    case .commentFeed: comments.feedURL = address(node.text, scope)
    case .commentCount, .threadTotal: comments.count = node.text.flatMap { Int($0) }
    default: readSitemap(element, node, scope)
    }
  }

  // MARK: Sitemaps

  private mutating func readSitemap(
    _ element: FeedElement, _ node: XMLTreeNode, _ scope: FeedScope
  ) {
    switch element {
    case .loc: entry.url = address(node.text, scope)
    case .lastmod: entry.updated = date(node, as: .w3c)
    case .changefreq: entry.changeFrequency = node.text?.lowercased()
    case .priority:
      entry.priority = node.text.flatMap { Double($0) }.flatMap { 0...1 ~= $0 ? $0 : nil }
    case .sitemapImage:
      let title = node.children.first { self.element($0) == .imageTitle }?.text
      for child in node.children where self.element(child) == .imageLoc {
        guard parts.take(), let url = address(child.text, scope) else { continue }
        entry.image = entry.image ?? url
        entry.add(FeedEnclosure(url, title: title), &fallback.files)
      }
    case .sitemapVideo: readVideo(node, scope)
    case .news: readNews(node, scope)
    default: readMedia(element, node, scope)
    }
  }

  private mutating func readVideo(_ node: XMLTreeNode, _ scope: FeedScope) {
    var video = FeedEnclosure("")
    var player: String?
    for child in node.children {
      switch element(child) {
      case .videoLoc?: video.url = address(child.text, scope) ?? ""
      case .videoThumbnail?: entry.image = entry.image ?? address(child.text, scope)
      case .videoPlayer?: player = address(child.text, scope)
      case .videoTitle?: video.title = child.text
      case .videoDescription?: entry.summary = entry.summary ?? text(child, scope)
      case .videoDate?: fallback.published = fallback.published ?? date(child, as: .w3c)
      case .videoTag? where parts.take():
        entry.categories.add(child.text.map { FeedCategory($0) })
      case .videoDuration?: video.duration = child.text.flatMap(Self.duration)
      default: break
      }
    }
    if video.url.isEmpty { video.url = player ?? "" }
    if !video.url.isEmpty { entry.add(video, &fallback.files) }
    entry.title = entry.title ?? video.title.map { plain($0, scope) }
  }

  private mutating func readNews(_ node: XMLTreeNode, _ scope: FeedScope) {
    for child in node.children {
      switch element(child) {
      case .newsTitle?: entry.title = child.text.map { plain($0, scope) }
      case .newsDate?: entry.published = date(child, as: .w3c)
      case .newsKeywords?: entry.categories += keywords(child)
      case .newsPublication?:
        let name = child.children.first { element($0) == .newsName }?.text
        entry.source = FeedSource(title: name)
        entry.language =
          child.children.first { element($0) == .newsLanguage }?.text ?? entry.language
      default: break
      }
    }
  }

  // MARK: Fallbacks

  /// Fills properties that have no value from `fallback`.
  private mutating func applyFallbacks() {
    entry.id = entry.id ?? fallback.identifier
    entry.title = entry.title ?? fallback.title
    entry.summary = entry.summary ?? fallback.summary
    entry.rights = entry.rights ?? fallback.rights
    entry.published =
      entry.published ?? fallback.published ?? fallback.issued ?? fallback.created
    let own = entry.authors.filter { $0.role == nil }
    if own.isEmpty {
      let others = fallback.authors.isEmpty ? fallback.sourceAuthors : fallback.authors
      entry.authors = others + entry.authors
    } else if !own.contains(where: { $0.name != nil }) {
      // A mail address alone does not say who wrote, as another element may.
      entry.authors = fallback.authors.filter { $0.name != nil } + entry.authors
    }
    if entry.categories.isEmpty { entry.categories = fallback.keywords }
    entry.image = entry.image ?? fallback.picture ?? fallback.thumbnail ?? fallback.file
    if let url = fallback.comments { comments.url = comments.url ?? url }
    if entry.place == nil, let latitude = fallback.latitude, let longitude = fallback.longitude {
      entry.place = FeedPlace(latitude: latitude, longitude: longitude)
    }
    if let name = fallback.placeName { entry.place?.name = name }
    if let duration = fallback.duration {
      episode.duration = duration
      if let index = entry.enclosures.indices.first, entry.enclosures[index].duration == nil {
        entry.enclosures[index].duration = duration
      }
    }
    entry.settleLinks(&fallback.files)
    settlePermalink()
  }

  /// Uses a `guid` that is a permalink as the entry's address, or as its canonical address if the
  /// entry has another one.
  private mutating func settlePermalink() {
    guard fallback.guidIsPermalink, let id = entry.id,
      id.hasPrefix("http://") || id.hasPrefix("https://"),
      let url = FeedScope(url: nil).absolute(id), (try? Origin(url: url)) != nil
    else { return }
    if entry.url == nil {
      entry.url = url
    } else if entry.url != url, entry.canonicalURL == nil {
      entry.canonicalURL = url
    }
  }
}

extension FeedEntry {
  /// Adds a file, or completes the one with the same address; `files` has the index of each
  /// address.
  mutating func add(_ enclosure: FeedEnclosure, _ files: inout [String: Int]) {
    guard let index = files[enclosure.url] else {
      files[enclosure.url] = enclosures.count
      return enclosures.append(enclosure)
    }
    let old = enclosures[index]
    enclosures[index] = FeedEnclosure(
      old.url, mediaType: old.mediaType ?? enclosure.mediaType,
      length: old.length ?? enclosure.length, duration: old.duration ?? enclosure.duration,
      title: old.title ?? enclosure.title, width: old.width ?? enclosure.width,
      height: old.height ?? enclosure.height)
  }

  /// Sets the properties that links with a relation determine: addresses, files, and comments.
  mutating func settleLinks(_ files: inout [String: Int]) {
    guard !links.isEmpty else { return }
    let alternates = links.filter { $0.relation.lowercased() == "alternate" }
    let pages = alternates.filter { $0.mediaType?.contains("html") ?? true }
    url = url ?? (pages.first ?? alternates.first)?.url
    for link in links {
      switch link.relation.lowercased() {
      case "canonical": canonicalURL = canonicalURL ?? link.url
      case "related": externalURL = externalURL ?? link.url
      case "enclosure":
        add(
          FeedEnclosure(
            link.url, mediaType: link.mediaType, length: link.length, title: link.title), &files)
      case "replies":
        var known = comments ?? FeedComments()
        if link.mediaType.map(FeedLink.isFeedType) ?? false {
          known.feedURL = known.feedURL ?? link.url
        } else {
          known.url = known.url ?? link.url
        }
        comments = known
      default: break
      }
    }
  }
}
