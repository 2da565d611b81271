import QuirePagination
import QuireXML

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the properties of a feed: the elements of `channel` and `feed` other than entries.
extension FeedXMLReader {
  /// Values that are used only if there are no better ones.
  private struct Fallback {
    var title: FeedText?
    var subtitle: FeedText?
    var authors: [FeedPerson] = []
    /// The managing editors, who come before other authors.
    var editors: [FeedPerson] = []
    /// Those who are responsible for something else, and come after all authors: the owner of a
    /// podcast before the webmaster.
    var owner: FeedPerson?
    var webmaster: FeedPerson?
    var iTunesImage: String?
    var copyright: FeedText?
    var period = 0
    var frequency = 1
    var keywords: [FeedCategory] = []
    /// The seconds between episodes, by `podcast:updateFrequency`.
    var episodeInterval: Double?
  }

  mutating func readProperties(
    of channel: XMLTreeNode, _ scope: FeedScope, into feed: inout Feed
  ) {
    var fallback = Fallback()
    parts.beginEntry()
    for node in channel.children {
      guard let element = element(node) else { continue }
      if element == .item || element == .entry { continue }
      guard parts.take() else { break }
      read(element, node, scope, into: &feed, &fallback)
    }
    applyFallbacks(&feed, fallback)
  }

  private mutating func read(
    _ element: FeedElement, _ node: XMLTreeNode, _ scope: FeedScope, into feed: inout Feed,
    _ fallback: inout Fallback
  ) {
    switch element {
    case .title: feed.title = feed.title ?? text(node, scope, isTitle: true)
    case .atomTitle: feed.title = feed.title ?? atomText(node, scope)
    case .description: feed.subtitle = feed.subtitle ?? text(node, scope)
    case .atomSubtitle: feed.subtitle = feed.subtitle ?? atomText(node, scope)
    case .link:
      // An Atom link whose namespace is missing.
      if node.text == nil, node.attribute("href") != nil {
        feed.links.add(link(node, scope))
      } else {
        feed.url = feed.url ?? address(node.text, scope.within(node))
      }
    case .atomLink, .xhtmlLink: feed.links.add(link(node, scope))
    case .atomID: feed.id = node.text ?? feed.id
    case .language, .dcLanguage: feed.language = node.text ?? feed.language
    case .author where node.hasChildren:
      // An Atom author whose namespace is missing.
      feed.authors.add(person(node, scope))
    case .editor, .author: fallback.editors.add(node.text.map(FeedPerson.init(rss:)))
    case .webmaster: fallback.webmaster = node.text.map(FeedPerson.init(rss:))
    case .atomAuthor: feed.authors.add(person(node, scope))
    case .atomContributor: feed.authors.add(contributor(node, scope))
    case .pubDate: feed.published = feed.published ?? date(node, as: .rfc822)
    case .lastBuildDate: feed.updated = feed.updated ?? date(node, as: .rfc822)
    case .atomUpdated: feed.updated = feed.updated ?? date(node, as: .atom)
    case .atomPublished: feed.published = feed.published ?? date(node, as: .atom)
    case .dcDate: feed.published = feed.published ?? date(node, as: .w3c)
    case .dcModified: feed.updated = feed.updated ?? date(node, as: .w3c)
    default: readDetail(element, node, scope, into: &feed, &fallback)
    }
  }

  private mutating func readDetail(
    _ element: FeedElement, _ node: XMLTreeNode, _ scope: FeedScope, into feed: inout Feed,
    _ fallback: inout Fallback
  ) {
    switch element {
    case .category: feed.categories.add(rssCategory(node))
    case .atomCategory: feed.categories.add(category(node))
    case .generator: feed.generator = feed.generator ?? node.text
    case .atomGenerator:
      let words = [node.text, node.attribute("version")].compactMap { $0 }
      let name = words.joined(separator: " ")
      let uri = node.attribute("uri") ?? node.attribute("url")
      feed.generator = name.isEmpty ? uri : uri.map { "\(name) (\($0))" } ?? name
    case .generatorAgent:
      feed.generator = feed.generator ?? node.attribute("resource", in: Self.rdf)
    case .copyright: feed.rights = text(node, scope)
    case .atomRights: feed.rights = atomText(node, scope)
    case .image, .itunesImage: readImage(node, scope, into: &feed, &fallback.iTunesImage)
    case .atomLogo: feed.icon = address(node.text, scope.within(node))
    case .atomIcon: feed.favicon = address(node.text, scope.within(node))
    case .ttl:
      // More than a year is a mistake.
      if let minutes = node.text.flatMap({ Double($0) }), 0...527_040 ~= minutes {
        feed.schedule.timeToLive = .seconds(minutes * 60)
      }
    case .skipHours, .skipDays: readSkips(node, into: &feed.schedule)
    case .cloud: readCloud(node, scope, into: &feed)
    case .archive: feed.pages.isArchive = true
    case .complete: feed.pages.isComplete = true
    default: readExtension(element, node, scope, into: &feed, &fallback)
    }
  }

  private mutating func readExtension(
    _ element: FeedElement, _ node: XMLTreeNode, _ scope: FeedScope, into feed: inout Feed,
    _ fallback: inout Fallback
  ) {
    switch element {
    case .dcTitle, .itunesTitle: fallback.title = fallback.title ?? text(node, scope, isTitle: true)
    case .dcDescription, .itunesSummary, .itunesSubtitle:
      fallback.subtitle = fallback.subtitle ?? text(node, scope)
    case .dcCreator, .itunesAuthor:
      fallback.authors.add(node.text.map(FeedPerson.init(rss:)))
    case .itunesOwner: fallback.owner = person(node, scope)
    case .podcastPerson: feed.authors.add(podcastPerson(node, scope))
    case .dcRights: fallback.copyright = text(node, scope)
    case .dcSubject: feed.categories.add(node.text.map { FeedCategory($0) })
    case .dcIdentifier: feed.id = feed.id ?? node.text
    case .podcastGUID: feed.id = feed.id ?? node.text
    case .license: feed.links.add(license(node, scope))
    case .podcastFunding: feed.links.add(funding(node, scope))
    case .podcastFrequency: readFrequency(node, into: &feed, &fallback)
    case .itunesCategory: feed.categories += categories(node)
    case .itunesKeywords: fallback.keywords += keywords(node)
    case .itunesExplicit: feed.isExplicit = Self.isExplicit(node.text)
    case .itunesComplete: feed.isExpired = feed.isExpired || node.text?.lowercased() == "yes"
    case .itunesNewFeed: feed.newFeedURL = address(node.text, scope)
    case .syPeriod:
      let periods = [
        "hourly": 3_600, "daily": 86_400, "weekly": 604_800, "monthly": 2_592_000,
        "yearly": 31_536_000,
      ]
      fallback.period = periods[(node.text ?? "").lowercased()] ?? 0
    case .syFrequency: fallback.frequency = max(1, node.text.flatMap { Int($0) } ?? 1)
    default: break
    }
  }

  /// Returns a link for funding, with the registered relation `payment`.
  private mutating func funding(_ node: XMLTreeNode, _ scope: FeedScope) -> FeedLink? {
    address(node.attribute("url"), scope).map {
      FeedLink($0, relation: "payment", title: node.text)
    }
  }

  /// Reads the interval between episodes from a recurrence rule (RFC 5545, §3.3.10), and whether
  /// the podcast is complete.
  private func readFrequency(
    _ node: XMLTreeNode, into feed: inout Feed, _ fallback: inout Fallback
  ) {
    if node.attribute("complete")?.lowercased() == "true" { feed.isExpired = true }
    var parts: [Substring: Substring] = [:]
    for part in (node.attribute("rrule") ?? "").uppercased().prefix(256).split(separator: ";") {
      guard let mark = part.firstIndex(of: "=") else { continue }
      parts[part[..<mark]] = part[part.index(after: mark)...]
    }
    let days = ["HOURLY": 1.0 / 24, "DAILY": 1, "WEEKLY": 7, "MONTHLY": 30, "YEARLY": 365]
    guard let days = parts["FREQ"].flatMap({ days[String($0)] }) else { return }
    let every = parts["INTERVAL"].flatMap { Double($0) }.flatMap { 1...1_000 ~= $0 ? $0 : nil }
    let times = parts["BYDAY"]?.split(separator: ",").count ?? 1
    fallback.episodeInterval = days * 86_400 * (every ?? 1) / Double(max(1, times))
  }

  static func isExplicit(_ text: String?) -> Bool? {
    switch text?.lowercased() {
    case "yes", "true", "explicit": true
    case "no", "false", "clean": false
    default: nil
    }
  }

  mutating func podcastPerson(_ node: XMLTreeNode, _ scope: FeedScope) -> FeedPerson? {
    guard let name = node.text else { return nil }
    return FeedPerson(
      name: name, url: address(node.attribute("href"), scope),
      avatar: address(node.attribute("img"), scope),
      role: node.attribute("role")?.lowercased() ?? "host")
  }

  /// Returns an iTunes category, and the categories nested in it.
  mutating func categories(_ node: XMLTreeNode) -> [FeedCategory] {
    guard parts.take() else { return [] }
    let scheme = "http://www.itunes.com/dtds/podcast-1.0.dtd"
    var found: [FeedCategory] = []
    found.add((node.attribute("text") ?? node.text).map { FeedCategory($0, scheme: scheme) })
    for child in node.children where element(child) == .itunesCategory {
      found += categories(child)
    }
    return found
  }

  /// Reads a picture: the `url` element of RSS's `image` as the icon, or the address of
  /// `itunes:image` as a fallback.
  mutating func readImage(
    _ node: XMLTreeNode, _ scope: FeedScope, into feed: inout Feed,
    _ fallback: inout String?
  ) {
    if let href = node.attribute("href") ?? node.attribute("url") {
      fallback = address(href, scope)
    } else if element(node) == .image {
      readImage(node, scope, into: &feed)
    } else {
      fallback = address(node.text, scope)
    }
  }

  mutating func readImage(_ node: XMLTreeNode, _ scope: FeedScope, into feed: inout Feed) {
    let inner = scope.within(node)
    guard let url = node.children.first(where: { element($0) == .url }) else { return }
    feed.icon = address(url.text, inner.within(url)) ?? feed.icon
  }

  private func readSkips(_ node: XMLTreeNode, into schedule: inout FeedSchedule) {
    for child in node.children {
      guard let text = child.text?.lowercased() else { continue }
      switch element(child) {
      case .hour?:
        if let hour = Int(text), 0...24 ~= hour { schedule.skipHours.insert(hour % 24) }
      case .day?:
        if let day = DateWords.weekday(text) { schedule.skipDays.insert(day + 1) }
      default: break
      }
    }
  }

  private mutating func readCloud(
    _ node: XMLTreeNode, _ scope: FeedScope, into feed: inout Feed
  ) {
    guard let domain = node.attribute("domain") else { return }
    let port = node.integer("port") ?? 80
    let path = node.attribute("path") ?? "/"
    let scheme = port == 443 ? "https" : "http"
    let authority = port == 443 || port == 80 ? domain : "\(domain):\(port)"
    let place = path.hasPrefix("/") ? path : "/" + path
    guard let url = address("\(scheme)://\(authority)\(place)", scope) else { return }
    feed.hubs.append(FeedHub(kind: "rssCloud", url))
  }

  /// Fills properties that have no value from `fallback`.
  private func applyFallbacks(_ feed: inout Feed, _ fallback: Fallback) {
    feed.title = feed.title ?? fallback.title
    feed.subtitle = feed.subtitle ?? fallback.subtitle
    feed.rights = feed.rights ?? fallback.copyright
    feed.icon = feed.icon ?? fallback.iTunesImage
    feed.authors = fallback.editors + feed.authors
    let own = feed.authors.filter { $0.role == nil }
    if own.isEmpty {
      let others = [fallback.authors.first, fallback.owner, fallback.webmaster].compactMap(\.self)
      feed.authors = others.prefix(1) + feed.authors
    } else if !own.contains(where: { $0.name != nil }) {
      // An editor's mail address does not say who writes, as another element may.
      let others = fallback.authors + [fallback.owner].compactMap(\.self)
      feed.authors = others.filter { $0.name != nil }.prefix(1) + feed.authors
    }
    if feed.categories.isEmpty { feed.categories = fallback.keywords }
    if fallback.period > 0 {
      feed.schedule.updateInterval = .seconds(Double(fallback.period) / Double(fallback.frequency))
    } else {
      feed.schedule.updateInterval = fallback.episodeInterval.map { .seconds($0) }
    }
    feed.settleLinks()
  }
}

extension Feed {
  /// Sets the properties that links with a relation determine: the web page, the feed's own
  /// address, hubs, and other pages.
  mutating func settleLinks() {
    var announced = Set(hubs.map(\.url))
    for link in links {
      switch link.relation.lowercased() {
      case "alternate":
        if url == nil || link.mediaType?.contains("html") == true {
          if !(link.mediaType.map(FeedLink.isFeedType) ?? false) { url = url ?? link.url }
        }
      case "self": feedURL = feedURL ?? link.url
      case "hub": if announced.insert(link.url).inserted { hubs.append(FeedHub(link.url)) }
      case "next": pages.next = pages.next ?? link.url
      case "prev", "previous": pages.previous = pages.previous ?? link.url
      case "prev-archive": pages.previousArchive = pages.previousArchive ?? link.url
      case "current": pages.current = pages.current ?? link.url
      default: break
      }
    }
    url = url ?? links.first { $0.relation.lowercased() == "alternate" }?.url
  }
}

extension FeedLink {
  static func isFeedType(_ type: String) -> Bool {
    FeedFormat.mediaTypes.contains(type.prefix { $0 != ";" }.lowercased().trimmingBlanks)
  }
}
