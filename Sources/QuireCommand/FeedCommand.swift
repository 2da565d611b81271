import ArgumentParser
import Foundation
import Quire
import QuireCore
import QuireFeeds

/// `quire feed`: prints the entries of a feed of any format in one form.
struct FeedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feed",
    _superCommandName: "quire",
    abstract: "Read a feed of any format, all pages of it.",
    discussion: """
      RSS, Atom, JSON Feed or a sitemap: prints each entry as an item of JSON Feed 1.1, one a line, with \
      what JSON Feed has no member for in "_quire". What is not as its format demands is mended and counted, \
      or, by --strict, refused. Older pages are found by themselves.
      """)

  @OptionGroup var request: RequestArguments

  @Flag(help: "Print what the feed says of itself, as the top level of JSON Feed without items.")
  var feed = false

  @Flag(
    help:
      "Print the feeds that the web page or the list of subscriptions (OPML) at the URL leads to, one a line."
  )
  var discover = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Stop after this many pages. Default: all.", valueName: "n"))
  var pages: Int?

  @Option(
    help: ArgumentHelp(
      "Only entries published or changed since then; entries without a date too. Where pages go from newer to "
        + "older entries, none is read behind one that has only older ones; of a sitemap index, the sitemaps "
        + "are read that it does not say to be older.", valueName: "date"))
  var since: String?

  @Flag(help: "Refuse a feed that is not as its format demands.")
  var strict = false

  @Flag(help: "Print each entry as its publisher wrote it: an element of XML, an object of JSON.")
  var raw = false

  @Option(
    help: ArgumentHelp(
      "A safety limit, such as items=200000 for the entries of a page; may be repeated.",
      valueName: "name=n"))
  var limit: [String] = []

  @Option(help: "HTML in texts: as-written, absolute-links, sanitized.")
  var html: HTMLChoice = .asWritten

  enum HTMLChoice: String, CaseIterable, ExpressibleByArgument {
    case asWritten = "as-written"
    case absoluteLinks = "absolute-links"
    case sanitized

    var option: FeedOptions.HTML {
      switch self {
      case .asWritten: .asWritten
      case .absoluteLinks: .absoluteLinks
      case .sanitized: .sanitized
      }
    }
  }

  func run() async throws {
    try check()
    let since = try sinceDate()
    var request = request
    request.url = FeedListing.webAddress(of: request.url)
    let url = try request.absoluteURL()
    let requested = try request.options()
    var configuration = PageClient.Configuration.feed
    try request.limit(&configuration)
    configuration.retry = PageClient.Configuration().retry
    var values = LimitOption.Values(configuration: configuration)
    for text in limit { try LimitOption.apply(text, to: &values) }
    values.limits.pages = try NumberOption.number(pages, for: "--pages")
    // Feeds get these fields as a parameter, discovery by the configuration.
    if discover { values.configuration.headers = requested.headers }
    let client = PageClient(
      transport: try request.transport(), configuration: values.configuration)
    let options = FeedOptions(
      isStrict: strict, html: html.option, limits: values.configuration.decodingLimits,
      xmlLimits: values.xmlLimits, links: try request.linkPolicy(), sitemapsSince: since)
    let printer = FeedPrinter(since: since, limits: values.limits, isRaw: raw)
    let (discover, feed) = (discover, feed)
    do {
      try await interruptible {
        if discover {
          try printer.print(try await client.discoverFeeds(at: url, options: options))
        } else {
          let listing = client.feed(
            at: url, options: options, headers: requested.headers, secrets: requested.secrets)
          if feed {
            try printer.print(try await listing.properties())
          } else {
            try await printer.print(listing.pages)
          }
        }
      }
    } catch let failure as OutputFailure {
      if !failure.isClosedPipe { throw Diagnostics.failure(failure.complaint) }
    }
  }

  private func check() throws {
    let hasPageOptions = raw || since != nil || pages != nil
    let hasTextOptions =
      strict || html != .asWritten || request.links != nil || !request.secret.isEmpty
    if discover, feed || hasPageOptions || hasTextOptions {
      throw ValidationError(
        "--discover prints addresses; --feed, --raw, --since, --pages, --strict, --html, --links and --secret "
          + "go without it.")
    }
    if feed, hasPageOptions {
      throw ValidationError("--feed prints no entries; --raw, --since and --pages go without it.")
    }
  }

  private func sinceDate() throws -> Date? {
    guard let since else { return nil }
    guard let date = FeedDate.read(since) else {
      throw ValidationError("--since \(since): no date. Write 2025-03-01 or 2025-03-01T12:00:00Z.")
    }
    return date
  }
}

/// Prints feeds and entries as lines of JSON.
struct FeedPrinter: Sendable {
  let since: Date?
  let limits: Limits
  let isRaw: Bool

  func print(_ feeds: [DiscoveredFeed]) throws {
    guard !feeds.isEmpty else {
      throw PageError(
        .exhausted,
        "No feed was found: the page, or list of subscriptions, names none, and a page's usual addresses have none."
      )
    }
    for feed in feeds {
      var members: [JSONValue.Member] = [.init("url", .string(feed.url))]
      if let title = feed.title { members.append(.init("title", .string(title))) }
      if let type = feed.mediaType { members.append(.init("type", .string(type))) }
      if let format = feed.format { members.append(.init("format", .string("\(format)"))) }
      members.append(.init("found", .string(feed.origin.rawValue)))
      try write(JSONValue.object(members).description)
    }
  }

  func print(_ feed: Feed) throws { try write(feed.jsonFeed.description) }

  func print(_ cursor: Cursor<FeedEntry>) async throws {
    let walk = cursor.limited(to: limits).walk()
    var repairs: [(name: String, count: Int)] = []
    var order = FeedPageOrder()
    defer { say(repairs, walk.report) }
    while let page = try await walk.next() {
      for repair in page.feed?.repairs ?? [] {
        let name = "\(repair.kind)"
        let place = repairs.firstIndex { $0.name == name } ?? repairs.endIndex
        if place == repairs.endIndex { repairs.append((name, 0)) }
        repairs[place].count += repair.count
      }
      for entry in page.items where isWanted(entry) { try print(entry) }
      if let since, order.showsOnlyOlder(page.feed, page.items, than: since) { return }
    }
    // Entries are missing: those of a sitemap that the server does not have, or those behind pages
    // that repeat the entries before them.
    let losses: [WalkReport.Warning.Code] = [.missingSitemap, .repeatingFeed]
    if walk.report.warnings.contains(where: { losses.contains($0.code) }) {
      throw ExitStatus.failed
    }
  }

  private func print(_ entry: FeedEntry) throws {
    if isRaw {
      // Written without JSON escapes, which are not valid in XML or between the tokens of JSON.
      let raw = entry.rawBytes
      // A line of a plain-text sitemap is only an address.
      try write(raw.isEmpty ? Array((entry.url ?? "").utf8) : Array(raw))
    } else {
      try write(entry.jsonFeedItem().description)
    }
  }

  private func isWanted(_ entry: FeedEntry) -> Bool {
    since.map { !entry.isOlder(than: $0) } ?? true
  }

  /// Writes to standard error which repairs and warnings there were.
  private func say(_ repairs: [(name: String, count: Int)], _ report: WalkReport) {
    if !repairs.isEmpty {
      let list = repairs.map { "\($0.name) × \($0.count)" }.joined(separator: ", ")
      Diagnostics.write("quire: not as its format demands, and mended: \(list).")
    }
    for warning in report.warnings {
      Diagnostics.write("quire: \(RemedyWords(for: FeedCommand.self).message(warning))")
    }
  }

  private func write(_ json: String) throws {
    try write(Array(PrintableJSON.bytes(of: Data(json.utf8))))
  }

  private func write(_ line: [UInt8]) throws {
    try OutputFailure.write(line + [UInt8(ascii: "\n")], to: STDOUT_FILENO, path: nil)
  }
}

/// Decides, from the order of a feed's pages, whether the following pages can have only older
/// entries.
///
/// One page of old entries proves nothing: it may be the first of a feed that begins with its
/// oldest page, or contain only pinned entries. The sitemaps of an index are in no order.
struct FeedPageOrder {
  private var newest: Date?
  private var hasSitemaps = false

  /// Adds a page. Returns whether it and, by the order of the pages so far, all following pages
  /// have only entries older than `date`.
  mutating func showsOnlyOlder(_ feed: Feed?, _ entries: [FeedEntry], than date: Date) -> Bool {
    if let family = feed?.format.family, [.sitemap, .sitemapIndex].contains(family) {
      hasSitemaps = true
    }
    guard let latest = entries.compactMap(\.latestDate).max() else { return false }
    defer { newest = latest }
    guard !hasSitemaps, let newest, latest < newest else { return false }
    return entries.allSatisfy { $0.isOlder(than: date) }
  }
}

extension FeedEntry {
  /// The later of the dates of publication and change; nil for an entry without a date.
  fileprivate var latestDate: Date? { [published, updated].compactMap(\.self).max() }

  /// Whether both dates of the entry are before `date`; false without a date.
  fileprivate func isOlder(than date: Date) -> Bool { latestDate.map { $0 < date } ?? false }
}
