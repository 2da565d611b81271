import QuireCore
import QuirePagination
import QuireXML

/// Parses the XML of a feed or a list of subscriptions as it arrives, and once more from its
/// repaired text if it is not well-formed or not what is wanted.
struct RepairingXMLParser {
  private let options: FeedOptions
  /// The charset that HTTP declares.
  private let charset: String?
  /// Whether the body is known to be complete.
  private let isProvenWhole: Bool
  /// Whether the document has entries that must keep to the limits as they arrive.
  private let boundsEntries: Bool
  /// The received bytes; only the first 128 once `hasText` is set.
  private var bytes: [UInt8] = []
  /// Whether the encoding is decided, so that the parser keeps the page's text.
  private var hasText = false
  /// Whether other bytes precede the XML declaration, so that the parser started there.
  private var isBehindOther = false
  /// Whether the declared encoding is unknown, so that the parser uses another one.
  private var isGuessed = false
  /// The number of bytes of text at which the next trial repair is due.
  private var nextTrial = 512 << 10
  private var parser: XMLPageParser?
  /// The fault at which the parser stopped, if a repair may help.
  private var fault: XMLFault?

  /// Creates a parser of one page. A feed has `boundsEntries`.
  init(
    _ options: FeedOptions, charset: String?, isProvenWhole: Bool, boundsEntries: Bool
  ) throws {
    self.options = options
    self.charset = charset
    self.isProvenWhole = isProvenWhole
    self.boundsEntries = boundsEntries
    parser = try makeParser(charset: charset)
  }

  /// Parses the next bytes. Until the encoding is known, the bytes are kept, so that they can be
  /// parsed again.
  mutating func receive(_ slice: [UInt8]) throws {
    if hasText { return try parse(slice[...]) }
    let start = bytes.count
    if bytes.isEmpty { bytes = slice } else { bytes += slice }
    guard start <= Self.headSize, bytes.count > Self.headSize else {
      return try parse(slice[...])
    }
    let declaration = Self.documentStart(bytes)
    if declaration == 0 || options.isStrict {
      try parse(slice[...])
    } else {
      // Other bytes precede the declaration: parse from there.
      isBehindOther = true
      try begin(again: declaration, charset)
    }
    // If the charset of HTTP is wrong, the document's may be right.
    for label in [nil, "utf-8"] where fault?.kind == .encoding {
      isGuessed = true
      try begin(again: declaration, label)
    }
    if let fault, fault.kind == .encoding { throw fault.pageError }
    hasText = true
    bytes = Array(bytes.prefix(128))
  }

  /// Ends the page, and returns what `read` makes of its document and repairs, and the document.
  ///
  /// If the page is not well-formed, or `read` returns nil, `read` gets the repaired page. If it
  /// returns nil again, throws `unwanted`, which gets the document if there is one.
  mutating func finish<Value>(
    unwanted: (XMLDocument?) -> PageError,
    read: (XMLDocument, RepairTally) throws -> Value?
  ) throws -> (value: Value, document: XMLDocument) {
    var tally = RepairTally()
    if declaresOtherEncoding || isGuessed { tally.add(.wrongEncoding) }
    if isBehindOther { tally.add(.textBeforeDocument) }
    let first = fault == nil ? try finishParser() : nil
    if let first {
      note(parser?.repairs ?? [], in: &tally)
      if let value = try read(first, tally) { return (value, first) }
    }
    guard !options.isStrict, fault?.kind != .html, fault?.kind != .json else {
      throw fault.map { Self.pageError(for: $0) } ?? unwanted(first)
    }
    if fault?.kind == .truncated, !isProvenWhole, let fault { throw fault.pageError }
    do {
      let (document, repairs) = try repaired(first)
      guard let value = try read(document, repairs) else { throw unwanted(document) }
      return (value, document)
    } catch let error as PageError where first != nil && error.code == .unexpectedMediaType {
      // The error that names the root element says more than the error of the repair.
      throw unwanted(first)
    }
  }

  // MARK: Parsing

  /// The number of bytes in which to look for a declaration.
  static let headSize = 64 << 10

  /// The number of bytes to parse at once, so that they stay in the processor's cache.
  private static let pieceSize = 64 << 10

  private var leniency: XMLLeniency {
    options.isStrict ? [.legacyEncodings] : .feed.union(.invalidBytes)
  }

  private func makeParser(charset: String?) throws -> XMLPageParser {
    try XMLPageParser(
      limits: options.xmlLimits, decoding: options.limits, leniency: leniency, charset: charset,
      boundsEntries: boundsEntries)
  }

  /// Parses the first bytes again, from another byte or in another encoding.
  private mutating func begin(again start: Int, _ label: String?) throws {
    fault = nil
    parser = try makeParser(charset: label)
    try parse(bytes[start...])
  }

  private mutating func parse(_ slice: ArraySlice<UInt8>) throws {
    guard let parser else { return }
    var start = slice.startIndex
    do throws(XMLFault) {
      while fault == nil, start < slice.endIndex {
        let piece = slice[start..<min(start + Self.pieceSize, slice.endIndex)]
        start = piece.endIndex
        try parser.receive(piece)
      }
    } catch {
      if options.isStrict || error.kind == .final { throw Self.pageError(for: error) }
      fault = error
    }
    guard let fault, fault.kind != .encoding else { return }
    do throws(XMLFault) {
      try parser.receiveText(slice[start...])
    } catch {
      throw Self.pageError(for: error)
    }
    try tryRepair(parser)
  }

  /// Repairs the text so far whenever it has doubled, to find out early whether it can be repaired.
  private mutating func tryRepair(_ parser: XMLPageParser) throws {
    guard parser.textCount >= nextTrial else { return }
    nextTrial = parser.textCount * 2
    do {
      try parser.withTextSoFar { text in
        var repair = makeRepair(text, isWhole: false)
        try repair.run { _ in }
      }
    } catch let error as PageError where error.code == .truncated {
      // More text will follow.
    }
  }

  private mutating func finishParser() throws -> XMLDocument? {
    do throws(XMLFault) {
      return try parser?.finish()
    } catch {
      if options.isStrict || error.kind == .final { throw Self.pageError(for: error) }
      fault = error
      return nil
    }
  }

  // MARK: Repair

  private func makeRepair(_ text: UnsafeBufferPointer<UInt8>, isWhole: Bool) -> MarkupRepair {
    MarkupRepair(
      text, limits: options.limits, namespaces: options.xmlLimits.namespaces, isWhole: isWhole)
  }

  /// Parses the page again from its repaired text, which the parser gets piece by piece.
  private mutating func repaired(_ first: XMLDocument?) throws -> (XMLDocument, RepairTally) {
    var tally = RepairTally()
    let start = hasText ? 0 : Self.documentStart(bytes)
    if start > 0 || isBehindOther { tally.add(.textBeforeDocument) }
    if isGuessed { tally.add(.wrongEncoding) }
    let input = try text(first, from: start, &tally)
    (bytes, parser) = ([], nil)
    let parser = try makeParser(charset: "utf-8")
    let found = try input.withUnsafeBufferPointer { input in
      var repair = makeRepair(input, isWhole: isProvenWhole)
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
      return try utf8(of: bytes[start...], &tally)
    }
    do throws(XMLFault) {
      // The encoding turned out to be wrong, so the text is invalid.
      if let fault, fault.kind == .encoding { throw fault }
      let text = if let first { first.text } else { try parser.finishText() }
      note(parser.textRepairs, in: &tally)
      return text
    } catch {
      throw Self.pageError(for: error)
    }
  }

  /// Returns the page in UTF-8. If HTTP's encoding is unknown, the page's own is used, or else
  /// UTF-8.
  private func utf8(of bytes: ArraySlice<UInt8>, _ tally: inout RepairTally) throws -> [UInt8] {
    for label in [charset, nil, "utf-8"] {
      let parser = try makeParser(charset: label)
      do throws(XMLFault) {
        try parser.receiveText(bytes)
        let text = try parser.finishText()
        let isGuess = label != charset && fault?.kind == .encoding
        if isGuess { tally.add(.wrongEncoding) }
        if !isGuess || label == nil { note(parser.textRepairs, in: &tally) }
        return text
      } catch {
        if error.kind != .encoding || label == "utf-8" { throw Self.pageError(for: error) }
      }
    }
    return []
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

  private static func pageError(for fault: XMLFault) -> PageError {
    switch fault.kind {
    case .html: MarkupRepair.html
    case .json:
      PageError(
        .unexpectedMediaType,
        "The answer is JSON, but no JSON Feed, which is an object with a \"version\" and \"items\".",
        remedies: [Remedy(.feedAddress)])
    default: fault.pageError
    }
  }

  // MARK: The first bytes

  /// Returns the index of the XML declaration if other bytes precede it, otherwise 0: the parser
  /// must start at the declaration, which names the encoding.
  private static func documentStart(_ bytes: [UInt8]) -> Int {
    let head = bytes.prefix(headSize)
    var index = 0
    while index + 6 <= head.count {
      if head[index] == 0x3C, head[index...].starts(with: "<?xml ".utf8) {
        let before = head[..<index]
        return before.allSatisfy(\.mayPrecedeDocument) ? 0 : index
      }
      index += 1
    }
    return 0
  }

  /// Whether the page declares UTF-16 in bytes that clearly are not UTF-16, or another encoding
  /// than that of its byte order mark.
  private var declaresOtherEncoding: Bool {
    let head = bytes.prefix(128)
    let hasMark = head.starts(with: [0xEF, 0xBB, 0xBF])
    let isWide = head.starts(with: [0xFE, 0xFF]) || head.starts(with: [0xFF, 0xFE])
    guard hasMark || isWide || bytes.first == 0x3C && bytes.count > 1 && bytes[1] != 0,
      case let text = ArraySlice(head.filter { $0 != 0 }.drop { $0 != 0x3C }),
      case let declaration = text.prefix(upTo: text.firstIndex(of: 0x3E) ?? text.endIndex),
      declaration.starts(with: "<?xml".utf8), declaration.containsText("encoding")
    else { return false }
    let declaresWide = declaration.containsText("utf-16") || declaration.containsText("ucs-2")
    return hasMark
      ? !declaration.containsText("utf-8") : isWide ? !declaresWide : declaresWide
  }
}
