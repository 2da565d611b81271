import QuireCore
import QuireHTTP
import QuireJSON
public import QuirePagination
import QuireXML

/// Decodes the pages of feeds in any format.
///
/// The first byte after white space distinguishes JSON from XML, because the Content-Types of feeds
/// are unreliable; an address there begins a sitemap in the text format. `client.feed(at:)`
/// combines the decoder with paging; alone, it can be used with a description of your own.
public struct FeedPageDecoder: PageDecoder {
  private let options: FeedOptions
  private let redactor: Redactor?

  /// Creates a decoder.
  public init(options: FeedOptions = FeedOptions()) { self.init(options, hiding: nil) }

  /// Creates a decoder that keeps secrets out of the bases of texts.
  init(_ options: FeedOptions, hiding redactor: Redactor?) {
    (self.options, self.redactor) = (options, redactor)
  }

  /// True, because the decoder recognises an incomplete document, and throws an error.
  public var isSelfDelimiting: Bool { true }

  /// Starts to decode a page, with the limits of the options.
  public func begin(_ context: DecodingContext) -> any PageDecoding<FeedEntry> {
    var context = context
    context.limits = options.limits
    return FeedPageDecoding(context, options, hiding: redactor)
  }
}

/// The decoding of one page of a feed.
struct FeedPageDecoding: PageDecoding {
  private let context: DecodingContext
  private let options: FeedOptions
  private let redactor: Redactor?
  /// The received bytes, until the syntax is known, and the index of the first that may not precede
  /// the document.
  private var head: [UInt8] = []
  private var start = 0
  private var syntax: Syntax?
  private var entries: [FeedEntry] = []

  /// The syntax of a page, with what was received of it.
  private enum Syntax {
    case xml(RepairingXMLParser)
    case json(JSONParts)
    /// A sitemap in the text format.
    case addresses(SitemapText)
  }

  init(_ context: DecodingContext, _ options: FeedOptions, hiding redactor: Redactor? = nil) {
    self.context = context
    self.options = options
    self.redactor = redactor
  }

  /// The scope of the page's root.
  private var scope: FeedScope { FeedScope(url: context.url, hiding: redactor) }

  mutating func receive(_ slice: [UInt8]) throws {
    guard syntax == nil else { return try receiveInSyntax(slice) }
    if head.isEmpty { head = slice } else { head += slice }
    while start < head.count, head[start].mayPrecedeDocument { start += 1 }
    guard start <= RepairingXMLParser.headSize else { throw Self.noStart }
    guard start < head.count else { return }
    switch SitemapText.begins(head[start...], contentType: context.contentType) {
    case nil: return
    case true?:
      syntax = .addresses(SitemapText(options.limits))
      head.removeFirst(start)
    case false?:
      let isJSON = head[start] == UInt8(ascii: "{")
      syntax = isJSON ? .json(JSONParts(options.limits)) : .xml(try makeXMLParser())
    }
    defer { head = [] }
    try receiveInSyntax(head)
  }

  private mutating func receiveInSyntax(_ slice: [UInt8]) throws {
    // Taken out, so that no buffer is copied.
    switch syntax.take() {
    case .xml(var parser)?:
      try parser.receive(slice)
      syntax = .xml(parser)
    case .json(var page)?:
      try page.receive(slice)
      syntax = .json(page)
    case .addresses(var text)?:
      try text.receive(slice)
      syntax = .addresses(text)
    case nil: break
    }
  }

  private func makeXMLParser() throws -> RepairingXMLParser {
    try RepairingXMLParser(
      options, charset: MediaType(context.contentType).charset,
      isProvenWhole: context.isProvenWhole, boundsEntries: true)
  }

  mutating func finish() throws -> any PageDocument {
    let (parsed, document) = try read()
    entries = parsed.entries
    return FeedDocument(parsed, document)
  }

  mutating func items() -> DecodedItems<FeedEntry> {
    defer { entries = [] }
    return DecodedItems(entries)
  }

  /// Parses the received page.
  mutating func read() throws -> (parsed: ParsedFeed, document: any PageDocument) {
    if syntax == nil, start < head.count {
      // The page is too short for the beginning of an address.
      syntax = .xml(try makeXMLParser())
      try receiveInSyntax(head)
    }
    switch syntax.take() {
    case .xml(var parser)?:
      let (parsed, document) = try parser.finish(unwanted: Self.noFeed) { document, repairs in
        try parse(document, repairs)
      }
      return (parsed, document)
    case .json(var page)?: return try readJSON(&page)
    case .addresses(var text)?: return try readAddresses(&text)
    case nil:
      throw PageError(.truncated, "The answer is empty: a feed has at least a root element.")
    }
  }

  // MARK: XML

  /// Reads the feed and the entries of a document. Returns nil if it is not a feed.
  private func parse(_ document: XMLDocument, _ tally: RepairTally) throws -> ParsedFeed? {
    var reader = FeedXMLReader(document, limits: options.limits)
    guard case (var feed, var nodes, let scope)? = reader.feed(in: self.scope) else { return nil }
    try check(reader.isBeyondLimit ? .max : nodes.count)
    try reader.parts.check()
    var entries: [FeedEntry] = []
    entries.reserveCapacity(nodes.count)
    while entries.count < nodes.count {
      let node = nodes[entries.count]
      try check(bytes: node.byteCount, ofEntry: entries.count)
      entries.append(reader.readEntry(node, scope))
      try reader.parts.check()
      // Entries within the entry are read after the others.
      nodes += reader.takeNested()
      try check(nodes.count)
    }
    var all = tally
    all.add(reader.repairs.repairs)
    if options.isStrict, feed.format.family == .atom {
      all.add(.missingIdentifier, entries.count { $0.id == nil })
    }
    feed.repairs = all.repairs
    return try finished(
      ParsedFeed(feed: feed, entries: entries, sitemapDates: reader.sitemapDates))
  }

  private func check(_ count: Int) throws {
    guard count <= options.limits.items else {
      throw PageError.tooManyEntries(options.limits.items)
    }
  }

  private func check(bytes: Int, ofEntry number: Int) throws {
    guard bytes <= options.limits.itemBytes else {
      throw PageError(
        .limitExceeded,
        "Entry \(number) of the page, counted from 0, has more than \(options.limits.itemBytes) bytes.",
        remedies: [.raise(.init("DecodingLimits.itemBytes"))])
    }
  }

  // MARK: JSON

  private func readJSON(
    _ page: inout JSONParts
  ) throws -> (parsed: ParsedFeed, document: any PageDocument) {
    var inner = context
    inner.items = "/items"
    inner.badItems = options.isStrict ? .throw : .collect
    var session = JSONRawPageDecoder().begin(inner)
    var syntax = JSONSyntaxRepair()
    try session.receive(options.isStrict ? page.joined() : syntax.mended(page.joined()))
    let document = try session.finish()
    var reader = FeedJSONReader(scope, limits: options.limits)
    let version = try document.value(at: "/version")?.string ?? ""
    let isDeclared = version.contains("jsonfeed.org/version/")
    let count = try document.count(at: "/items")
    let isNull = try count == 0 && document.value(at: "/items") == .null
    let hasItems = count != nil && !isNull
    guard isDeclared || (hasItems && !options.isStrict) else {
      throw PageError(
        .unexpectedMediaType,
        "The answer is JSON, but no JSON Feed: it has no \"version\" of https://jsonfeed.org.")
    }
    var repair = JSONTextRepair(limits: options.limits, isStrict: options.isStrict)
    let properties = try Self.properties(of: document, &repair)
    var feed = reader.feed(properties)
    try reader.parts.check()
    if !isDeclared || isNull { reader.repairs.add(.wrongType) }
    let items = hasItems ? try repair.items(of: session.items()) : []
    try check(items.count)
    let entries = try entries(of: items, &reader, &repair)
    reader.repairs.add(.wrongEncoding, repair.count)
    reader.repairs.add(syntax.repairs)
    feed.repairs += reader.repairs.repairs
    return (try finished(ParsedFeed(feed: feed, entries: entries)), document)
  }

  private func entries(
    of items: [RawItem], _ reader: inout FeedJSONReader, _ repair: inout JSONTextRepair
  ) throws -> [FeedEntry] {
    var entries: [FeedEntry] = []
    entries.reserveCapacity(items.count)
    for (number, item) in items.enumerated() {
      try check(bytes: item.bytes.count, ofEntry: number)
      let repaired = repair.count
      let value = try repair.value(of: item)
      guard case .object = value else {
        reader.repairs.add(.wrongType)
        continue
      }
      var entry = reader.entry(value)
      if repair.count > repaired { entry.repairs.append(FeedRepair(.wrongEncoding)) }
      entry.raw = item
      entries.append(entry)
      try reader.parts.check()
    }
    return entries
  }

  /// Returns the feed's members at the top level, without its items.
  private static func properties(
    of document: any PageDocument, _ repair: inout JSONTextRepair
  ) throws -> JSONValue {
    let names: [String] = [
      "version", "title", "home_page_url", "feed_url", "description", "next_url", "icon", "favicon",
      "author", "authors", "language", "expired", "hubs",
    ]
    return .object(
      try names.compactMap { name in
        try repair.value(at: PagePath("/" + name), of: document).map { JSONValue.Member(name, $0) }
      })
  }

  // MARK: Text

  private func readAddresses(
    _ text: inout SitemapText
  ) throws -> (parsed: ParsedFeed, document: any PageDocument) {
    let (entries, repairs) = try text.finish(isWhole: context.isProvenWhole)
    var feed = Feed(FeedFormat(.sitemap))
    feed.repairs = repairs
    return (try finished(ParsedFeed(feed: feed, entries: entries)), EmptyDocument())
  }

  // MARK: The end

  /// Returns the feed with its HTML treated as the options ask. Throws at the first repair if
  /// reading is strict.
  private func finished(_ parsed: ParsedFeed) throws -> ParsedFeed {
    if options.isStrict, let repair = parsed.feed.repairs.first {
      throw PageError(
        .malformed,
        "The feed is not as its format says: \(repair). Read it leniently if that is right.",
        remedies: [Remedy(.init("FeedOptions.isStrict"), ["false"])])
    }
    guard options.html != .asWritten else { return parsed }
    var parsed = parsed
    let sanitizer = HTMLSanitizer()
    for index in parsed.entries.indices { parsed.entries[index].rewrite(options.html, sanitizer) }
    parsed.feed.rewrite(options.html, sanitizer)
    return parsed
  }

  private static let noStart = PageError(
    .unexpectedMediaType, "The answer is no feed: it begins with 64 KiB of white space.",
    remedies: [Remedy(.feedAddress)])

  private static func noFeed(_ document: XMLDocument?) -> PageError {
    if document?.root.localName.lowercased() == "opml" {
      return PageError(
        .unexpectedMediaType,
        "The answer is a list of subscriptions (OPML), not a feed. Its feeds can be discovered.",
        remedies: [Remedy(.feedAddress)])
    }
    let name = document.map { ": its root element is \(ServerText($0.root.localName, limit: 64))" }
    return PageError(
      .unexpectedMediaType, "The answer is XML, but no feed\(name ?? "").",
      remedies: [Remedy(.feedAddress)])
  }
}

extension PageError {
  static func tooManyEntries(_ limit: Int) -> PageError {
    PageError(
      .limitExceeded, "The feed has more than \(limit) entries in one page.",
      remedies: [.raise(.init("DecodingLimits.items"))])
  }
}

/// The received parts of a JSON page.
private struct JSONParts {
  private var parts: [[UInt8]] = []
  private var limitGuard: JSONLimitGuard

  /// The size in bytes up to which parts are joined at once.
  private static let partSize = 64 << 10

  init(_ limits: DecodingLimits) { limitGuard = JSONLimitGuard(limits) }

  mutating func receive(_ slice: [UInt8]) throws {
    try limitGuard.receive(slice)
    if let last = parts.last, last.count + slice.count <= Self.partSize {
      parts[parts.count - 1] += slice
    } else {
      parts.append(slice)
    }
  }

  /// Returns the page, and releases its parts.
  mutating func joined() -> [UInt8] {
    var page: [UInt8] = []
    page.reserveCapacity(parts.reduce(64) { $0 + $1.count })
    for index in parts.indices {
      page += parts[index]
      parts[index] = []
    }
    parts = []
    return page
  }
}
