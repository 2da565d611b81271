import QuireCore
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

  /// Creates a decoder.
  public init(options: FeedOptions = FeedOptions()) { self.options = options }

  /// True, because the decoder recognises an incomplete document, and throws an error.
  public var isSelfDelimiting: Bool { true }

  /// Starts to decode a page, with the limits of the options.
  public func begin(_ context: DecodingContext) -> any PageDecoding<FeedEntry> {
    var context = context
    context.limits = options.limits
    return FeedPageDecoding(context, options)
  }
}

/// The decoding of one page of a feed.
struct FeedPageDecoding: PageDecoding {
  private let context: DecodingContext
  private let options: FeedOptions
  /// The received bytes; only the first 128 once `hasText` is set.
  private var bytes: [UInt8] = []
  /// Whether the encoding is decided, so that the parser keeps the page's text.
  private var hasText = false
  /// Whether other bytes precede the XML declaration, so that the parser started there.
  private var isBehindOther = false
  /// Whether the declared encoding is unknown, so that the parser uses another one.
  private var isGuessed = false
  /// Whether the page is JSON; nil until its first byte has been received.
  private var isJSON: Bool?
  /// The reader of the page if it is a sitemap in the text format; otherwise nil.
  private var addresses: SitemapText?
  /// The parts of a JSON page, which are joined when it is complete.
  private var parts: [[UInt8]] = []
  private var limitGuard: JSONLimitGuard
  /// The number of bytes of text at which the next trial repair is due.
  private var nextLook = 512 << 10
  private var parser: XMLPageParser?
  /// The fault at which the parser stopped, if a repair may help.
  private var refusal: XMLFault?
  private var entries: [FeedEntry] = []

  init(_ context: DecodingContext, _ options: FeedOptions) {
    self.context = context
    self.options = options
    limitGuard = JSONLimitGuard(options.limits)
  }

  mutating func receive(_ slice: [UInt8]) throws {
    if hasText { return try feed(slice[...]) }
    if isJSON == true { return try receive(json: slice) }
    if addresses != nil { return try addresses?.receive(slice) ?? () }
    let start = bytes.count
    if bytes.isEmpty { bytes = slice } else { bytes += slice }
    if isJSON == nil {
      guard let first = bytes.firstIndex(where: { !Self.isSilent($0) }) else {
        guard bytes.count <= Self.headSize else { throw Self.noStart }
        return
      }
      guard first <= Self.headSize else { throw Self.noStart }
      switch SitemapText.begins(bytes[first...], contentType: context.contentType) {
      case nil: return
      case true?:
        defer { bytes = [] }
        var text = SitemapText(options.limits)
        try text.receive(Array(bytes[first...]))
        addresses = text
        return
      case false?: break
      }
      isJSON = bytes[first] == UInt8(ascii: "{")
      if isJSON == true {
        defer { bytes = [] }
        return try receive(json: bytes)
      }
      parser = try makeParser(charset: charset)
      return try receive(xml: bytes, at: 0)
    }
    try receive(xml: slice, at: start)
  }

  private mutating func receive(json slice: [UInt8]) throws {
    try limitGuard.receive(slice)
    if let last = parts.last, last.count + slice.count <= Self.pieceSize {
      parts[parts.count - 1] += slice
    } else {
      parts.append(slice)
    }
  }

  /// Parses a slice that begins at `start`. Until the encoding is known, the bytes are kept, so
  /// that they can be parsed again.
  private mutating func receive(xml slice: [UInt8], at start: Int) throws {
    guard start <= Self.headSize, bytes.count > Self.headSize else {
      return try feed(slice[...])
    }
    let declaration = Self.documentStart(bytes)
    if declaration == 0 || options.isStrict {
      try feed(slice[...])
    } else {
      // Other bytes precede the declaration: parse from there.
      isBehindOther = true
      try begin(again: declaration, charset)
    }
    // If the charset of HTTP is wrong, the document's may be right.
    for label in [nil, "utf-8"] where refusal?.kind == .encoding {
      isGuessed = true
      try begin(again: declaration, label)
    }
    if let refusal, refusal.kind == .encoding { throw refusal.pageError }
    hasText = true
    bytes = Array(bytes.prefix(128))
  }

  /// Parses the first bytes again, from another byte or in another encoding.
  private mutating func begin(again start: Int, _ label: String?) throws {
    refusal = nil
    parser = try makeParser(charset: label)
    try feed(bytes[start...])
  }

  /// The number of bytes in which to look for a declaration.
  private static let headSize = 64 << 10

  /// Whether a byte may precede the document: white space, the bytes of a byte order mark, and the
  /// zeros of UTF-16.
  private static func isSilent(_ byte: UInt8) -> Bool {
    [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0].contains(byte)
  }

  private var charset: String? { MediaType(context.contentType).charset }

  private var leniency: XMLLeniency {
    options.isStrict ? [.legacyEncodings] : .feed.union(.invalidBytes)
  }

  private func makeParser(charset: String?) throws -> XMLPageParser {
    try XMLPageParser(
      limits: options.xmlLimits, decoding: options.limits, leniency: leniency, charset: charset,
      boundsEntries: true)
  }

  /// The number of bytes to parse at once, so that they stay in the processor's cache.
  private static let pieceSize = 64 << 10

  private mutating func feed(_ slice: ArraySlice<UInt8>) throws {
    guard let parser else { return }
    var start = slice.startIndex
    do throws(XMLFault) {
      while refusal == nil, start < slice.endIndex {
        let piece = slice[start..<min(start + Self.pieceSize, slice.endIndex)]
        start = piece.endIndex
        try parser.receive(piece)
      }
    } catch {
      if options.isStrict || error.kind == .final { throw Self.words(for: error) }
      refusal = error
    }
    guard let refusal, refusal.kind != .encoding else { return }
    do throws(XMLFault) {
      try parser.receiveText(slice[start...])
    } catch {
      throw Self.words(for: error)
    }
    try look(parser)
  }

  /// Repairs the text so far whenever it has doubled, to find out early whether it can be repaired.
  private mutating func look(_ parser: XMLPageParser) throws {
    guard parser.textCount >= nextLook else { return }
    nextLook = parser.textCount * 2
    do {
      try parser.withTextSoFar { text in
        var repair = MarkupRepair(
          text, limits: options.limits, namespaces: options.xmlLimits.namespaces, isWhole: false)
        try repair.run { _ in }
      }
    } catch let error as PageError where error.code == .truncated {
      // More text will follow.
    }
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
    defer { (bytes, parts, parser) = ([], [], nil) }
    if addresses != nil { return try readAddresses() }
    // The page is too short for the beginning of an address.
    if isJSON == nil, let first = bytes.firstIndex(where: { !Self.isSilent($0) }) {
      isJSON = bytes[first] == UInt8(ascii: "{")
      parser = try makeParser(charset: charset)
      try receive(xml: bytes, at: 0)
    }
    switch isJSON {
    case nil:
      throw PageError(.truncated, "The answer is empty: a feed has at least a root element.")
    case true?: return try readJSON()
    case false?: return try readXML()
    }
  }

  // MARK: XML

  private mutating func readXML() throws -> (parsed: ParsedFeed, document: any PageDocument) {
    var tally = RepairTally()
    if saysOtherEncoding || isGuessed { tally.add(.wrongEncoding) }
    if isBehindOther { tally.add(.textBeforeDocument) }
    let first = refusal == nil ? try finishParser() : nil
    if let first {
      note(parser?.repairs ?? [], in: &tally)
      if let parsed = try parse(first, tally) { return (parsed, first) }
    }
    guard !options.isStrict, refusal?.kind != .html, refusal?.kind != .json else {
      throw refusal.map { Self.words(for: $0) } ?? Self.noFeed(first)
    }
    if refusal?.kind == .truncated, !context.isProvenWhole, let refusal { throw refusal.pageError }
    do {
      let (document, repairs) = try mended(first)
      guard let parsed = try parse(document, repairs) else { throw Self.noFeed(document) }
      return (parsed, document)
    } catch let error as PageError where first != nil && error.code == .unexpectedMediaType {
      // The error that names the root element says more than the error of the repair.
      throw Self.noFeed(first)
    }
  }

  /// Whether the page declares UTF-16 in bytes that clearly are not UTF-16, or another encoding
  /// than that of its byte order mark.
  private var saysOtherEncoding: Bool {
    let head = bytes.prefix(128)
    let hasMark = head.starts(with: [0xEF, 0xBB, 0xBF])
    let isWide = head.starts(with: [0xFE, 0xFF]) || head.starts(with: [0xFF, 0xFE])
    guard hasMark || isWide || bytes.first == 0x3C && bytes.count > 1 && bytes[1] != 0,
      case let text = ArraySlice(head.filter { $0 != 0 }.drop { $0 != 0x3C }),
      case let declaration = text.prefix(upTo: text.firstIndex(of: 0x3E) ?? text.endIndex),
      declaration.starts(with: "<?xml".utf8), declaration.containsText("encoding")
    else { return false }
    let saysWide = declaration.containsText("utf-16") || declaration.containsText("ucs-2")
    return hasMark ? !declaration.containsText("utf-8") : isWide ? !saysWide : saysWide
  }

  private mutating func finishParser() throws -> XMLDocument? {
    do throws(XMLFault) {
      return try parser?.finish()
    } catch {
      if options.isStrict || error.kind == .final { throw Self.words(for: error) }
      refusal = error
      return nil
    }
  }

  /// Parses the page again from its repaired text, which the parser gets piece by piece.
  private mutating func mended(_ first: XMLDocument?) throws -> (XMLDocument, RepairTally) {
    var tally = RepairTally()
    let start = hasText ? 0 : Self.documentStart(bytes)
    if start > 0 || isBehindOther { tally.add(.textBeforeDocument) }
    if isGuessed { tally.add(.wrongEncoding) }
    let input = try text(first, from: start, &tally)
    (bytes, parser) = ([], nil)
    let parser = try makeParser(charset: "utf-8")
    let found = try input.withUnsafeBufferPointer { input in
      var repair = MarkupRepair(
        input, limits: options.limits, namespaces: options.xmlLimits.namespaces,
        isWhole: context.isProvenWhole)
      try repair.run { piece in
        do throws(XMLFault) { try parser.receive(piece[...]) } catch { throw error.pageError }
      }
      return repair.repairs.repairs
    }
    tally.add(
      start > 0 && found.first?.kind == .textBeforeDocument ? Array(found.dropFirst()) : found)
    do throws(XMLFault) {
      let document = try parser.finish()
      note(parser.repairs, in: &tally)
      // Something was removed without being counted, such as a declaration of XML 1.1.
      if tally.repairs.isEmpty { tally.add(.badMarkup) }
      return (document, tally)
    } catch {
      throw error.pageError
    }
  }

  /// Returns the page's text in UTF-8; `first` is the page's document, if it could be parsed.
  private func text(
    _ first: XMLDocument?, from start: Int, _ tally: inout RepairTally
  ) throws -> [UInt8] {
    guard hasText, let parser else {
      return try utf8(of: start == 0 ? bytes : Array(bytes[start...]), &tally)
    }
    do throws(XMLFault) {
      // The encoding turned out to be wrong, so the text is invalid.
      if let refusal, refusal.kind == .encoding { throw refusal }
      let text = if let first { first.text } else { try parser.finishText() }
      note(parser.textRepairs, in: &tally)
      return text
    } catch {
      throw Self.words(for: error)
    }
  }

  /// Returns the page in UTF-8. If HTTP's encoding is unknown, the page's own is used, or else
  /// UTF-8.
  private func utf8(of bytes: [UInt8], _ tally: inout RepairTally) throws -> [UInt8] {
    for label in [charset, nil, "utf-8"] {
      do throws(XMLFault) {
        let (text, repairs) = try XMLPageText.utf8(
          of: bytes, charset: label, leniency: .feed.union(.invalidBytes))
        let isGuess = label != charset && refusal?.kind == .encoding
        if isGuess { tally.add(.wrongEncoding) }
        if !isGuess || label == nil { note(repairs, in: &tally) }
        return text
      } catch {
        if error.kind != .encoding || label == "utf-8" { throw Self.words(for: error) }
      }
    }
    return []
  }

  /// Returns the index of the XML declaration if other bytes precede it, otherwise 0: the parser
  /// must start at the declaration, which names the encoding.
  private static func documentStart(_ bytes: [UInt8]) -> Int {
    let head = bytes.prefix(headSize)
    var index = 0
    while index + 6 <= head.count {
      if head[index] == 0x3C, head[index...].starts(with: "<?xml ".utf8) {
        let before = head[..<index]
        return before.allSatisfy(isSilent) ? 0 : index
      }
      index += 1
    }
    return 0
  }

  /// Counts the repairs of the parser by the kinds of feed repairs.
  private func note(
    _ repairs: [(breach: XMLLeniency, count: Int)], in tally: inout RepairTally
  ) {
    for (breach, count) in repairs {
      switch breach {
      case .legacyEncodings: if !options.isStrict { tally.add(.legacyEncoding, count) }
      case .leadingWhiteSpace: tally.add(.textBeforeDocument, count)
      case .trailingContent: tally.add(.trailingContent, count)
      case .controlCharacters: tally.add(.controlCharacter, count)
      case .namedCharacters: tally.add(.undeclaredEntity, count)
      case .mislabelledEncodings, .invalidBytes: tally.add(.wrongEncoding, count)
      default: tally.add(.badMarkup, count)
      }
    }
  }

  /// Reads the feed and the entries of a document. Returns nil if it is not a feed.
  private func parse(_ document: XMLDocument, _ tally: RepairTally) throws -> ParsedFeed? {
    var reader = FeedXMLReader(document, limits: options.limits)
    guard let (properties, nodes, scope) = reader.feed(at: context.url) else { return nil }
    var feed = properties
    try check(reader.isBeyondLimit ? .max : nodes.count)
    try checkParts(reader)
    var entries: [FeedEntry] = []
    entries.reserveCapacity(nodes.count)
    for node in nodes {
      try check(bytes: node.byteCount, ofEntry: entries.count)
      entries.append(reader.readEntry(node, scope))
      try checkParts(reader)
    }
    var all = tally
    all.add(reader.repairs.repairs)
    feed.repairs = all.repairs
    return try finished(
      ParsedFeed(feed: feed, entries: entries, sitemapDates: reader.sitemapDates))
  }

  private func check(_ count: Int) throws {
    guard count <= options.limits.items else {
      throw PageError(
        .limitExceeded, "The feed has more than \(options.limits.items) entries in one page.",
        remedies: [.raise(.init("DecodingLimits.items"))])
    }
  }

  private func checkParts(_ reader: FeedXMLReader) throws {
    if reader.hasTooManyInAll { throw tooManyInAll }
    if reader.hasTooManyParts { throw Self.tooManyParts(reader.partLimit) }
  }

  private var tooManyInAll: PageError {
    PageError(
      .limitExceeded,
      """
      The entries of the feed have more than \(options.limits.events) parts together, in which \
      \(FeedXMLReader.growth) bytes that an address, or markup, is longer than in the page count as one.
      """, remedies: [.raise(.init("DecodingLimits.events"))])
  }

  private static func tooManyParts(_ limit: Int) -> PageError {
    PageError(
      .limitExceeded,
      "The feed, or an entry of it, has more than \(limit) links, persons, files, or other parts.",
      remedies: [.raise(.init("DecodingLimits.items"))])
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

  private mutating func readJSON() throws -> (parsed: ParsedFeed, document: any PageDocument) {
    var inner = context
    inner.items = "/items"
    inner.badItems = options.isStrict ? .throw : .collect
    var session = JSONRawPageDecoder().begin(inner)
    var syntax = JSONSyntaxRepair()
    try session.receive(options.isStrict ? takeParts() : syntax.mended(takeParts()))
    let document = try session.finish()
    var reader = FeedJSONReader(
      url: context.url, partLimit: FeedXMLReader.partLimit(items: options.limits.items),
      growthLimit: options.limits.events.times(FeedXMLReader.growth))
    let version = try document.value(at: "/version")?.string ?? ""
    let isDeclared = version.contains("jsonfeed.org/version/")
    let hasItems = try document.count(at: "/items") != nil
    guard isDeclared || (hasItems && !options.isStrict) else {
      throw PageError(
        .unexpectedMediaType,
        "The answer is JSON, but no JSON Feed: it has no \"version\" of https://jsonfeed.org.")
    }
    var repair = JSONTextRepair(limits: options.limits, isStrict: options.isStrict)
    let properties = try Self.properties(of: document, &repair)
    var feed = reader.feed(properties)
    if !isDeclared { reader.repairs.add(.wrongType) }
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
      try checkParts(reader)
    }
    if reader.hasTooManyParts { throw Self.tooManyParts(reader.partLimit) }
    return entries
  }

  private func checkParts(_ reader: FeedJSONReader) throws {
    if reader.hasTooManyParts { throw Self.tooManyParts(reader.partLimit) }
    if reader.hasTooManyInAll { throw tooManyInAll }
  }

  /// Joins the parts of the page, and releases them.
  private mutating func takeParts() -> [UInt8] {
    var page: [UInt8] = []
    page.reserveCapacity(parts.reduce(64) { $0 + $1.count })
    for index in parts.indices {
      page += parts[index]
      parts[index] = []
    }
    parts = []
    return page
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

  private mutating func readAddresses() throws -> (parsed: ParsedFeed, document: any PageDocument) {
    guard var text = addresses.take() else { throw Self.noStart }
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
    parsed.feed.title = parsed.feed.title.map { $0.rewritten(options.html, sanitizer) }
    parsed.feed.subtitle = parsed.feed.subtitle.map { $0.rewritten(options.html, sanitizer) }
    return parsed
  }

  private static func words(for refusal: XMLFault) -> PageError {
    refusal.kind == .html ? MarkupRepair.html : refusal.pageError
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
