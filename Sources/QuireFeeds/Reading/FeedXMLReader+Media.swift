import QuirePagination
import QuireXML

/// Reads Media RSS, iTunes, Podcasting 2.0 and places in an entry.
extension FeedXMLReader {
  mutating func readMedia(_ element: FeedElement, _ node: XMLTreeNode, _ scope: FeedScope) {
    switch element {
    case .mediaGroup:
      for child in node.children {
        if let element = self.element(child), parts.take() {
          readMedia(element, child, scope)
        }
      }
    case .mediaContent: readContent(node, scope)
    case .mediaThumbnail:
      fallback.thumbnail = fallback.thumbnail ?? address(node.attribute("url") ?? node.text, scope)
    case .mediaTitle: fallback.title = fallback.title ?? typed(node, scope)
    case .mediaDescription: fallback.summary = fallback.summary ?? typed(node, scope)
    case .mediaCredit:
      guard let name = node.text else { return }
      if let role = node.attribute("role")?.lowercased(), role != "author" {
        entry.authors.append(FeedPerson(name: name, role: role))
      } else {
        fallback.authors.append(FeedPerson(name: name))
      }
    case .mediaRating: readRating(node)
    case .mediaPlayer: readPlayer(node, scope)
    case .mediaCategory:
      if let term = node.text {
        entry.categories.append(
          FeedCategory(term, scheme: node.attribute("scheme"), label: node.attribute("label")))
      }
    case .mediaKeywords, .itunesKeywords: fallback.keywords += keywords(node)
    case .mediaCopyright: fallback.rights = fallback.rights ?? text(node, scope)
    default: readPodcast(element, node, scope)
    }
  }

  /// Reads a text whose `type` is `plain` or `html` (Media RSS 1.5.1).
  private mutating func typed(_ node: XMLTreeNode, _ outer: FeedScope) -> FeedText? {
    let scope = outer.within(node)
    guard let value = node.text else { return nil }
    guard node.attribute("type")?.lowercased() == "html" else { return plain(value, scope) }
    return FeedText(value, kind: .html, language: scope.language, base: base(of: scope))
  }

  /// Reads whether an entry has explicit content: by the simple scheme, which is the default, or by
  /// the older `media:adult`.
  private mutating func readRating(_ node: XMLTreeNode) {
    guard (node.attribute("scheme") ?? "urn:simple").lowercased() == "urn:simple",
      let isAdult = ["adult": true, "true": true, "nonadult": false, "false": false][
        node.text?.lowercased() ?? ""]
    else { return }
    episode.isExplicit = episode.isExplicit ?? isAdult
  }

  /// Adds the page of a player as a file, for media without an address of their own.
  private mutating func readPlayer(_ node: XMLTreeNode, _ scope: FeedScope, title: String? = nil) {
    guard let url = address(node.attribute("url"), scope) else { return }
    entry.add(
      FeedEnclosure(
        url, mediaType: "text/html", title: title,
        width: node.integer("width"),
        height: node.integer("height")), &fallback.files)
  }

  private mutating func readContent(_ node: XMLTreeNode, _ scope: FeedScope) {
    // The file's title, description and so on are inside the element.
    var title: String?
    var player: XMLTreeNode?
    for child in node.children {
      guard let element = self.element(child), parts.take() else { continue }
      if element == .mediaTitle { title = child.text }
      if element == .mediaPlayer {
        player = child
      } else {
        readMedia(element, child, scope)
      }
    }
    guard let url = address(node.attribute("url"), scope) else {
      if let player { readPlayer(player, scope, title: title) }
      return
    }
    let type = node.attribute("type")
    let medium = node.attribute("medium")?.lowercased()
    let isPicture = medium == "image" || type?.hasPrefix("image/") == true
    if isPicture { fallback.picture = fallback.picture ?? url }
    let known = ["audio": "audio/*", "video": "video/*", "image": "image/*"]
    entry.add(
      FeedEnclosure(
        url, mediaType: type ?? medium.flatMap { known[$0] },
        length: node.size("fileSize"),
        duration: node.attribute("duration").flatMap(Self.duration), title: title,
        width: node.integer("width"),
        height: node.integer("height")), &fallback.files)
  }

  // MARK: Podcasts

  private mutating func readPodcast(
    _ element: FeedElement, _ node: XMLTreeNode, _ scope: FeedScope
  ) {
    switch element {
    case .itunesTitle: fallback.title = fallback.title ?? text(node, scope, isTitle: true)
    case .itunesSummary, .itunesSubtitle:
      fallback.summary = fallback.summary ?? text(node, scope)
    case .itunesCategory: entry.categories += categories(node)
    case .itunesAuthor: fallback.authors.add(node.text.map(FeedPerson.init(rss:)))
    case .podcastPerson: entry.authors.add(podcastPerson(node, scope))
    case .itunesImage, .image:
      let location =
        node.attribute("href") ?? node.attribute("url")
        ?? node.children.first { self.element($0) == .url }?.text ?? node.text
      entry.image = address(location, scope) ?? entry.image
    case .itunesDuration: fallback.duration = node.text.flatMap(Self.duration)
    case .podcastAlternate:
      let source = node.children.first { self.element($0) == .podcastSource }
      if let url = address(source?.attribute("uri"), scope) {
        entry.add(
          FeedEnclosure(
            url, mediaType: node.attribute("type"),
            length: node.size("length"), title: node.attribute("title"),
            height: node.integer("height")), &fallback.files)
      }
    case .podcastComments:
      fallback.comments = fallback.comments ?? address(node.attribute("uri"), scope)
    case .podcastLocation:
      let point = (node.attribute("geo") ?? "").split { ":,;".contains($0) }
      if point.count >= 3, let latitude = Double(point[1]), let longitude = Double(point[2]) {
        entry.place = FeedPlace(latitude: latitude, longitude: longitude, name: node.text)
      }
    case .itunesEpisode, .podcastEpisode, .itunesSeason, .podcastSeason, .itunesEpisodeType,
      .itunesExplicit, .podcastTranscript, .podcastChapters:
      readEpisode(element, node, scope)
    default: readPlace(element, node)
    }
  }

  private mutating func readEpisode(
    _ element: FeedElement, _ node: XMLTreeNode, _ scope: FeedScope
  ) {
    switch element {
    case .itunesEpisode, .podcastEpisode:
      let number = node.text.flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
      episode.number = episode.number ?? number
    case .itunesSeason, .podcastSeason:
      episode.season = episode.season ?? node.text.flatMap { Int($0) }
    case .itunesEpisodeType: episode.kind = node.text?.lowercased()
    case .itunesExplicit: episode.isExplicit = Self.isExplicit(node.text)
    case .podcastTranscript, .podcastChapters:
      guard let url = address(node.attribute("url"), scope) else { break }
      let isChapters = element == .podcastChapters
      let link = FeedLink(
        url, relation: isChapters ? "chapters" : "transcript", mediaType: node.attribute("type"),
        language: node.attribute("language"))
      entry.episode = episode
      // In place: a copy of all transcripts for each would take quadratic time.
      if isChapters {
        entry.episode?.chapters = link
      } else {
        entry.episode?.transcripts.append(link)
      }
    default: break
    }
  }

  // MARK: Places

  private mutating func readPlace(_ element: FeedElement, _ node: XMLTreeNode) {
    switch element {
    case .geoPoint, .geoLine, .geoPolygon, .gmlPos: place(node.text)
    case .geoBox:
      let numbers = Self.numbers(node.text)
      guard numbers.count == 4 else { return }
      entry.place = FeedPlace(
        latitude: (numbers[0] + numbers[2]) / 2, longitude: (numbers[1] + numbers[3]) / 2)
    case .geoWhere, .gmlPoint:
      for child in node.children {
        if let element = self.element(child) { readPlace(element, child) }
      }
    case .gmlEnvelope:
      let corners = node.children.filter { self.element($0) == .gmlCorner }.map {
        Self.numbers($0.text)
      }
      guard corners.count == 2, corners.allSatisfy({ $0.count >= 2 }) else { return }
      entry.place = FeedPlace(
        latitude: (corners[0][0] + corners[1][0]) / 2,
        longitude: (corners[0][1] + corners[1][1]) / 2)
    case .geoLat: fallback.latitude = node.text.flatMap { Double($0) }
    case .geoLong: fallback.longitude = node.text.flatMap { Double($0) }
    case .geoName: fallback.placeName = node.text
    default: break
    }
  }

  private mutating func place(_ text: String?) {
    let numbers = Self.numbers(text)
    guard numbers.count >= 2 else { return }
    entry.place = FeedPlace(latitude: numbers[0], longitude: numbers[1])
  }

  private static func numbers(_ text: String?) -> [Double] {
    (text ?? "").prefix(4_096).split { $0.isWhitespace || $0 == "," }.prefix(64).compactMap {
      Double($0)
    }
  }
}
