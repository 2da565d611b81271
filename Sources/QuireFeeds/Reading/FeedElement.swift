import QuireXML

/// The meaning of an element, in any format and with any prefix.
///
/// Elements are identified by namespace and local name. Namespaces are compared ignoring case, a
/// closing slash, and `http` versus `https`, because publishers write them in all these ways.
enum FeedElement {
  // Roots and containers.
  case rss, rdf, atomFeed, urlset, sitemapindex, channel, item, entry, sitemapURL, sitemap
  // RSS.
  case title, link, description, language, copyright, editor, webmaster, pubDate, lastBuildDate
  case category, generator, cloud, ttl, image, skipHours, skipDays, author, comments, enclosure,
    guid
  case source, url, hour, day
  // Atom.
  case atomTitle, atomSubtitle, atomLink, atomID, atomUpdated, atomPublished, atomCreated,
    atomAuthor
  case atomContributor, atomCategory, atomGenerator, atomIcon, atomLogo, atomRights, atomSummary
  case atomContent, atomSource, atomName, atomURI, atomEmail
  // Extensions.
  case dcTitle, dcDescription, dcCreator, dcContributor, dcDate, dcIssued, dcCreated, dcModified
  case dcLanguage, license, inReplyTo
  case dcRights, dcSubject, dcIdentifier, dcSource
  case contentEncoded, xhtmlBody, origLink, commentFeed, commentCount, threadTotal
  case mediaGroup, mediaContent, mediaThumbnail, mediaTitle, mediaDescription, mediaCredit
  case mediaCategory, mediaKeywords, mediaCopyright, mediaPlayer, mediaRating
  case itunesTitle, itunesAuthor, itunesOwner, itunesName, itunesEmail, itunesSummary
  case itunesSubtitle, itunesImage, itunesCategory, itunesKeywords, itunesDuration, itunesEpisode
  case itunesSeason, itunesEpisodeType, itunesExplicit, itunesComplete, itunesNewFeed
  case podcastGUID, podcastPerson, podcastTranscript, podcastChapters, podcastLocation
  case podcastEpisode, podcastSeason, podcastAlternate, podcastSource, podcastFunding
  case podcastFrequency, podcastComments
  case geoPoint, geoLine, geoPolygon, geoBox, geoWhere, geoName, geoLat, geoLong, gmlPoint, gmlPos
  case gmlEnvelope, gmlCorner
  case syPeriod, syFrequency, archive, complete, generatorAgent
  case loc, lastmod, changefreq, priority, sitemapImage, imageLoc, imageTitle, sitemapVideo
  case videoLoc, videoPlayer, videoThumbnail, videoTitle, videoDescription, videoDuration, videoDate
  case videoTag, news, newsTitle, newsDate, newsKeywords
  case newsPublication, newsName, newsLanguage, xhtmlLink
}

extension FeedElement {
  private enum Space {
    case none, atom, dc, terms, content, xhtml, feedburner, pheedo, wfw, slash, thread, media
    case itunes, podcast, georss, gml, geo, syndication, history, admin, sitemap, sitemapImage
    case sitemapVideo, sitemapNews, rdf, enclosure, license
  }

  /// The namespaces, normalized by `key(of:)`.
  private static let spaces: [String: Space] = [
    "": .none, "http://purl.org/rss/1.0": .none,
    "http://channel.netscape.com/rdf/simple/0.9": .none,
    "http://my.netscape.com/rdf/simple/0.9": .none, "http://purl.org/net/rss1.1": .none,
    "http://backend.userland.com/rss": .none, "http://backend.userland.com/rss2": .none,
    "http://backend.userland.com/rss091": .none, "http://backend.userland.com/rss092": .none,
    "http://blogs.law.harvard.edu/tech/rss": .none, "http://cyber.law.harvard.edu/rss": .none,
    "http://www.rssboard.org/rss-specification": .none,
    "http://www.w3.org/2005/atom": .atom, "http://purl.org/atom/ns": .atom,
    "http://www.w3.org/1999/02/22-rdf-syntax-ns": .rdf,
    "http://purl.org/dc/elements/1.1": .dc, "http://purl.org/dc/elements/1.0": .dc,
    "http://purl.org/dc": .dc, "http://purl.org/dc/terms": .terms,
    "http://purl.org/rss/1.0/modules/dcterms": .terms,
    "http://purl.org/rss/1.0/modules/content": .content, "http://www.w3.org/1999/xhtml": .xhtml,
    "http://rssnamespace.org/feedburner/ext/1.0": .feedburner,
    "http://www.pheedo.com/namespace/pheedo": .pheedo, "http://wellformedweb.org/commentapi": .wfw,
    "http://purl.org/rss/1.0/modules/slash": .slash,
    "http://purl.oclc.org/net/rss_2.0/enc": .enclosure, "http://web.resource.org/cc": .license,
    "http://creativecommons.org/ns": .license,
    "http://backend.userland.com/creativecommonsrssmodule": .license,
    "http://cyber.law.harvard.edu/rss/creativecommonsrssmodule.html": .license,
    "http://purl.org/syndication/thread/1.0": .thread,
    "http://search.yahoo.com/mrss": .media, "http://tools.search.yahoo.com/mrss": .media,
    "http://www.itunes.com/dtds/podcast-1.0.dtd": .itunes,
    "http://podcastindex.org/namespace/1.0": .podcast,
    "http://github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md": .podcast,
    "http://www.georss.org/georss": .georss, "http://www.georss.org/georss/10": .georss,
    "http://www.opengis.net/gml": .gml, "http://www.opengis.net/gml/3.2": .gml,
    "http://www.w3.org/2003/01/geo/wgs84_pos": .geo,
    "http://purl.org/rss/1.0/modules/syndication": .syndication,
    "http://purl.org/syndication/history/1.0": .history,
    "http://webns.net/mvcb": .admin,
    "http://www.sitemaps.org/schemas/sitemap/0.9": .sitemap,
    "http://www.google.com/schemas/sitemap/0.84": .sitemap,
    "http://www.google.com/schemas/sitemap-image/1.1": .sitemapImage,
    "http://www.google.com/schemas/sitemap-video/1.1": .sitemapVideo,
    "http://www.google.com/schemas/sitemap-news/0.9": .sitemapNews,
  ]

  /// The namespaces of common prefixes.
  private static let prefixes: [String: String] = [
    "atom": "http://www.w3.org/2005/Atom", "atom10": "http://www.w3.org/2005/Atom",
    "a10": "http://www.w3.org/2005/Atom",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "dc": "http://purl.org/dc/elements/1.1/", "dcterms": "http://purl.org/dc/terms/",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "xhtml": "http://www.w3.org/1999/xhtml",
    "feedburner": "http://rssnamespace.org/feedburner/ext/1.0",
    "wfw": "http://wellformedweb.org/CommentAPI/",
    "slash": "http://purl.org/rss/1.0/modules/slash/",
    "enc": "http://purl.oclc.org/net/rss_2.0/enc#", "cc": "http://web.resource.org/cc/",
    "creativeCommons": "http://backend.userland.com/creativeCommonsRssModule",
    "thr": "http://purl.org/syndication/thread/1.0", "media": "http://search.yahoo.com/mrss/",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "podcast": "https://podcastindex.org/namespace/1.0",
    "georss": "http://www.georss.org/georss", "gml": "http://www.opengis.net/gml",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
    "fh": "http://purl.org/syndication/history/1.0", "admin": "http://webns.net/mvcb/",
    "image": "http://www.google.com/schemas/sitemap-image/1.1",
    "video": "http://www.google.com/schemas/sitemap-video/1.1",
    "news": "http://www.google.com/schemas/sitemap-news/0.9",
    "xlink": "http://www.w3.org/1999/xlink",
  ]

  /// Whether a prefix commonly stands for a namespace of feeds.
  static func isConventional(_ prefix: ArraySlice<UInt8>) -> Bool {
    prefixes[String(decoding: prefix, as: UTF8.self)] != nil
  }

  /// Whether a local name in lowercase is one of RSS, Atom or sitemaps.
  static func isName(_ local: String) -> Bool { plainNames.contains(local) }

  private static let plainNames = Set(
    [Space.none, .atom, .sitemap].flatMap { names[$0].map { Array($0.keys) } ?? [] }
  ).union(["textinput", "rating", "docs"])

  /// Returns the namespace for an undeclared prefix.
  static func namespace(ofPrefix prefix: String) -> String {
    prefixes[prefix] ?? "urn:undeclared:" + prefix
  }

  private static let names: [Space: [String: FeedElement]] = [
    .none: [
      "rss": .rss, "rdf": .rdf, "feed": .atomFeed, "urlset": .urlset, "sitemapindex": .sitemapindex,
      "channel": .channel, "item": .item, "entry": .entry, "title": .title, "link": .link,
      "description": .description, "language": .language, "copyright": .copyright,
      "managingeditor": .editor, "webmaster": .webmaster, "pubdate": .pubDate,
      "lastbuilddate": .lastBuildDate, "category": .category, "generator": .generator,
      "cloud": .cloud, "ttl": .ttl, "image": .image, "skiphours": .skipHours,
      "skipdays": .skipDays, "author": .author, "comments": .comments, "enclosure": .enclosure,
      "guid": .guid, "source": .source, "url": .url, "hour": .hour, "day": .day, "body": .xhtmlBody,
      "date": .dcDate, "summary": .atomSummary, "content": .atomContent, "id": .atomID,
      "updated": .atomUpdated, "published": .atomPublished, "sitemap": .sitemap, "loc": .loc,
      "lastmod": .lastmod, "changefreq": .changefreq, "priority": .priority,
      "subtitle": .atomSubtitle, "name": .atomName, "uri": .atomURI, "email": .atomEmail,
      "rights": .atomRights, "icon": .atomIcon, "logo": .atomLogo, "modified": .atomUpdated,
      "issued": .atomPublished, "contributor": .atomContributor, "tagline": .atomSubtitle,
    ],
    .rdf: ["rdf": .rdf],
    .atom: [
      "feed": .atomFeed, "entry": .entry, "title": .atomTitle, "subtitle": .atomSubtitle,
      "tagline": .atomSubtitle, "link": .atomLink, "id": .atomID, "updated": .atomUpdated,
      "modified": .atomUpdated, "published": .atomPublished, "issued": .atomPublished,
      "created": .atomCreated, "author": .atomAuthor, "contributor": .atomContributor,
      "category": .atomCategory, "generator": .atomGenerator, "icon": .atomIcon,
      "logo": .atomLogo, "rights": .atomRights, "copyright": .atomRights,
      "summary": .atomSummary, "content": .atomContent, "source": .atomSource,
      "name": .atomName, "uri": .atomURI, "url": .atomURI, "email": .atomEmail,
    ],
    .dc: [
      "title": .dcTitle, "description": .dcDescription, "creator": .dcCreator,
      "author": .dcCreator,
      "contributor": .dcContributor, "date": .dcDate, "language": .dcLanguage,
      "rights": .dcRights, "subject": .dcSubject, "identifier": .dcIdentifier,
      "source": .dcSource,
    ],
    .terms: [
      "title": .dcTitle, "abstract": .dcDescription, "creator": .dcCreator, "date": .dcDate,
      "issued": .dcIssued, "created": .dcCreated, "modified": .dcModified,
      "language": .dcLanguage, "rights": .dcRights, "subject": .dcSubject,
      "identifier": .dcIdentifier, "description": .dcDescription, "license": .license,
      "contributor": .dcContributor, "source": .dcSource,
    ],
    .content: ["encoded": .contentEncoded],
    .xhtml: ["body": .xhtmlBody, "div": .xhtmlBody, "link": .xhtmlLink],
    .feedburner: ["origlink": .origLink],
    .pheedo: ["origlink": .origLink],
    .wfw: ["commentrss": .commentFeed],
    .slash: ["comments": .commentCount],
    .thread: ["total": .threadTotal, "in-reply-to": .inReplyTo],
    .enclosure: ["enclosure": .enclosure],
    .license: ["license": .license],
    .media: [
      "group": .mediaGroup, "content": .mediaContent, "thumbnail": .mediaThumbnail,
      "title": .mediaTitle, "description": .mediaDescription, "text": .mediaDescription,
      "credit": .mediaCredit, "category": .mediaCategory, "keywords": .mediaKeywords,
      "copyright": .mediaCopyright, "player": .mediaPlayer, "rating": .mediaRating,
      "adult": .mediaRating, "license": .license,
    ],
    .itunes: [
      "title": .itunesTitle, "author": .itunesAuthor, "owner": .itunesOwner, "name": .itunesName,
      "email": .itunesEmail, "summary": .itunesSummary, "subtitle": .itunesSubtitle,
      "image": .itunesImage, "category": .itunesCategory, "keywords": .itunesKeywords,
      "duration": .itunesDuration, "episode": .itunesEpisode, "season": .itunesSeason,
      "episodetype": .itunesEpisodeType, "explicit": .itunesExplicit,
      "complete": .itunesComplete, "new-feed-url": .itunesNewFeed,
    ],
    .podcast: [
      "guid": .podcastGUID, "person": .podcastPerson, "transcript": .podcastTranscript,
      "chapters": .podcastChapters, "location": .podcastLocation, "episode": .podcastEpisode,
      "season": .podcastSeason, "alternateenclosure": .podcastAlternate,
      "source": .podcastSource, "funding": .podcastFunding,
      "updatefrequency": .podcastFrequency, "socialinteract": .podcastComments,
    ],
    .georss: [
      "point": .geoPoint, "line": .geoLine, "polygon": .geoPolygon, "box": .geoBox,
      "circle": .geoPoint, "where": .geoWhere, "featurename": .geoName,
    ],
    .gml: [
      "point": .gmlPoint, "linestring": .gmlPoint, "polygon": .gmlPoint, "exterior": .gmlPoint,
      "outerboundaryis": .gmlPoint, "linearring": .gmlPoint, "pos": .gmlPos, "poslist": .gmlPos,
      "envelope": .gmlEnvelope, "lowercorner": .gmlCorner, "uppercorner": .gmlCorner,
    ],
    .geo: ["lat": .geoLat, "long": .geoLong, "lon": .geoLong, "point": .geoWhere],
    .syndication: ["updateperiod": .syPeriod, "updatefrequency": .syFrequency],
    .history: ["archive": .archive, "complete": .complete],
    .admin: ["generatoragent": .generatorAgent],
    .sitemap: [
      "urlset": .urlset, "sitemapindex": .sitemapindex, "url": .sitemapURL, "sitemap": .sitemap,
      "loc": .loc, "lastmod": .lastmod, "changefreq": .changefreq, "priority": .priority,
    ],
    .sitemapImage: ["image": .sitemapImage, "loc": .imageLoc, "title": .imageTitle],
    .sitemapVideo: [
      "video": .sitemapVideo, "content_loc": .videoLoc, "player_loc": .videoPlayer,
      "thumbnail_loc": .videoThumbnail, "title": .videoTitle, "description": .videoDescription,
      "duration": .videoDuration, "publication_date": .videoDate, "tag": .videoTag,
    ],
    .sitemapNews: [
      "news": .news, "title": .newsTitle, "publication_date": .newsDate,
      "keywords": .newsKeywords, "publication": .newsPublication, "name": .newsName,
      "language": .newsLanguage,
    ],
  ]

  /// Returns the meaning of each name of a page, by number, and whether the root's namespace is
  /// known.
  ///
  /// If the namespace is not known, or is that of another format, the root's name identifies the
  /// format, and elements in that namespace belong to it; so do those in the namespace `own`.
  static func table(
    of document: XMLDocument, own: String? = nil
  ) -> (elements: [FeedElement?], isKnown: Bool) {
    let root = document.name(document.root.nameNumber)
    let home = key(of: root.namespace)
    let isKnown = spaces[home].flatMap { names[$0]?[root.local.lowercased()] } != nil
    let own = own.map { key(of: $0) }
    let elements = (0..<document.nameCount).map { number -> FeedElement? in
      let name = document.name(number)
      let key = key(of: name.namespace)
      let local = name.local.lowercased()
      let isOwn = !isKnown && key == home || key == own
      let space = isOwn ? space(ofRoot: root.local) : nil
      return space.flatMap { names[$0]?[local] } ?? spaces[key].flatMap { names[$0]?[local] }
    }
    return (elements, isKnown)
  }

  private static func space(ofRoot name: String) -> Space? {
    switch name.lowercased() {
    case "rss", "rdf": Space.none
    case "feed": .atom
    case "urlset", "sitemapindex": .sitemap
    default: nil
    }
  }

  /// Returns the namespace in lowercase, with `http`, and without spaces around it and a closing
  /// slash or number sign.
  private static func key(of namespace: String?) -> String {
    // Only the start is compared: a page may have a million names in one long namespace, and no
    // known namespace is as long as this.
    let start = (namespace ?? "").utf8.prefix(256).drop { $0 == 0x20 }
    var key = String(decoding: start, as: UTF8.self).lowercased()
    while key.last == "/" || key.last == "#" || key.last == " " { key.removeLast() }
    if key.hasPrefix("https://") { key = "http" + key.dropFirst(5) }
    return key.hasPrefix("http://purl.org/atom/ns") ? "http://purl.org/atom/ns" : key
  }
}
