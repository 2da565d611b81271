import CXML2
package import QuireCore
import QuirePagination

/// A parser that turns bytes, in slices of any size, into a tape: libxml2's SAX2 push parser with
/// limits of its own.
///
/// Only this part of libxml2 is used, because its vulnerabilities were in other interfaces. It gets
/// valid UTF-8, in pieces that never end within a tag, so that the ends of slices make no
/// difference. Nothing is opened, loaded or printed.
final class XMLPushParser {
  private let context: xmlParserCtxtPtr
  let state: UnsafeMutablePointer<XMLParserState>
  private var input: XMLInput
  private var scanner: XMLPieceScanner
  private var textGuard = XMLTextGuard()
  /// The names so far, as text.
  private var names: [XMLIndex.Name] = []
  private var quotedNames: [[UInt8]] = []
  private let numberLength: Int
  /// The texts of namespaces by libxml2's addresses: it keeps each namespace once.
  private var namespaces: [UnsafePointer<xmlChar>: String] = [:]
  /// The number of the first name with each local name and namespace.
  private var groups: [NamePart: Int] = [:]
  /// The number of the first name with each local name and prefix.
  private var spellings: [NamePart: Int] = [:]

  /// A local name with its namespace, or with its prefix.
  private struct NamePart: Hashable {
    let local: UnsafePointer<xmlChar>
    let other: UnsafePointer<xmlChar>?
  }

  /// The global tables of libxml2, initialized once, before two threads could do it.
  private static let library: Void = xmlInitParser()

  /// Creates a parser of one page; `charset` is the encoding by HTTP, and `isDeclaredHTML` tells
  /// whether the Content-Type names HTML.
  init(
    limits: XMLLimits = .api, decoding: DecodingLimits = .api, leniency: XMLLeniency = [],
    charset: String? = nil, isDeclaredHTML: Bool = false, items: XMLItemMatcher? = nil,
    boundsEntries: Bool = false
  ) throws {
    Self.library
    var handler = XMLCallbacks.handler()
    state = .allocate(capacity: 1)
    guard let context = xmlCreatePushParserCtxt(&handler, state, nil, 0, nil) else {
      state.deallocate()
      throw PageError(.limitExceeded, "There is no memory for another XML parser.")
    }
    self.context = context
    numberLength = decoding.numberLength
    xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_IGNORE_ENC.rawValue))
    // Otherwise libxml2 would guess an encoding from the first four bytes.
    context.pointee.charset = Int32(XML_CHAR_ENCODING_UTF8.rawValue)
    xmlDictSetLimit(context.pointee.dict, limits.nameBytes)
    input = XMLInput(charset: charset, leniency: leniency)
    scanner = XMLPieceScanner(limits: limits)
    state.initialize(
      to: XMLParserState(
        context: context, limits: limits, decoding: decoding, leniency: leniency,
        tape: XMLTape.withRoom()))
    state.pointee.isDeclaredHTML = isDeclaredHTML
    if boundsEntries { state.pointee.entries = XMLEntryBounds(decoding) }
    state.pointee.items = items.map { XMLItemTracker($0) }
  }

  deinit {
    state.pointee.tape.release()
    state.pointee.names.release()
    state.pointee.items?.release()
    state.deinitialize(count: 1)
    state.deallocate()
    xmlFreeParserCtxt(context)
  }

  // MARK: Bytes in

  /// Parses the next bytes.
  func receive(_ slice: some Collection<UInt8>) throws(XMLFault) {
    try check()
    do {
      try input.receive(slice, into: &state.pointee.tape.source)
    } catch {
      try feed(isLast: false)
      try fail(error, at: state.pointee.tape.source.count)
    }
    try feed(isLast: false)
  }

  /// Receives the next bytes as text, without parsing them, after a fault.
  func receiveText(_ slice: some Collection<UInt8>) throws(XMLFault) {
    do {
      try input.receive(slice, into: &state.pointee.tape.source)
    } catch {
      throw XMLFault(error)
    }
    let limit = state.pointee.limits.textBytes
    guard textGuard.openLength(in: state.pointee.tape.source.elements) <= limit else {
      throw XMLFault(
        .limit(
          what: "bytes of text between two tags", limit: limit, property: "XMLLimits.textBytes"))
    }
  }

  /// Ends the text.
  func finishText() throws(XMLFault) {
    do {
      try input.finish(into: &state.pointee.tape.source)
    } catch {
      throw XMLFault(error)
    }
  }

  /// The page's text so far, in UTF-8.
  var text: [UInt8] { Array(state.pointee.tape.source.elements) }

  /// Ends the page.
  ///
  /// Throws `truncated` when the root element is not closed.
  func finish() throws(XMLFault) {
    try check()
    do {
      try input.finish(into: &state.pointee.tape.source)
    } catch {
      try feed(isLast: false)
      try fail(error, at: state.pointee.tape.source.count)
    }
    try feed(isLast: false)
    do throws(XMLFault) {
      try feed(isLast: true)
    } catch {
      throw isAboutEnd ? truncation : error
    }
    xmlParseChunk(context, nil, 0, 1)
    let isComplete = state.pointee.hasRoot && state.pointee.depth == 0
    if !isComplete, isAboutEnd { throw truncation }
    try check()
  }

  /// Whether the fault, if any, is only that the page ends: libxml2 has read all of it, or waits
  /// for the rest of a construct.
  private var isAboutEnd: Bool {
    guard let fault = state.pointee.fault else { return true }
    if fault.kind == .truncated { return true }
    guard fault.kind == .malformed, let offset = state.pointee.faultOffset else { return false }
    return scanner.cutConstructStart.map { offset > $0 } ?? (offset >= state.pointee.fed)
  }

  private var truncation: XMLFault {
    XMLFault(
      .truncated, at: state.pointee.tape.place(of: state.pointee.tape.source.count))
  }

  // MARK: Index out

  /// Parses a complete page, with a parser that has received nothing else, and returns its index.
  func index(of page: [UInt8]) throws(PageError) -> XMLIndex {
    do throws(XMLFault) {
      try receive(page)
      try finish()
    } catch {
      throw error.pageError
    }
    return takeIndex()
  }

  /// Returns the page's index, after `finish()`, and leaves the parser empty.
  func takeIndex() -> XMLIndex {
    let index = index(of: state.pointee.tape)
    state.pointee.tape = XMLTape()
    return index
  }

  /// Takes the complete items, and returns them with their index, which holds the part of the page
  /// since the last call. Returns nil if there are none, or, unless `all`, if waiting for more of
  /// them is better.
  func takeItems(all: Bool = false) -> (index: XMLIndex, nodes: [Int])? {
    // The previous index may still share the array of names, which is then copied.
    let hasNewNames = state.pointee.names.entries.count > names.count
    let copied = hasNewNames ? names.count * MemoryLayout<XMLIndex.Name>.stride : 0
    guard let items = state.pointee.items, items.complete.count > 0,
      all || items.isWorthTaking(at: state.pointee.tape.source.count, copying: copied)
    else { return nil }
    let nodes = wholeItems
    let fed = state.pointee.fed
    let tape = state.pointee.takeItems(items)
    scanner.forgot(fed - state.pointee.fed)
    return (index(of: tape), nodes)
  }

  /// The complete items that were not taken.
  var wholeItems: [Int] {
    state.pointee.items?.complete.elements.map { Int($0) } ?? []
  }

  /// The number of items taken, without the last one, which is still in the index.
  var forgottenItems: Int {
    state.pointee.items.map { $0.taken - ($0.kept == nil ? 0 : 1) } ?? 0
  }

  /// The number of bytes of the incomplete item, up to a fault.
  var openItemBytes: Int {
    guard let item = state.pointee.items?.open else { return 0 }
    let tape = state.pointee.tape
    let end = state.pointee.faultOffset ?? tape.source.count
    return end - Int(tape.records.base[Int(item.node)].start)
  }

  /// The breaches that leniency has accepted so far, with their number.
  var repairCounts: [(breach: XMLLeniency, count: Int)] {
    let found = state.pointee.repairs.union(input.repairs)
    return XMLLeniency.all.filter { found.contains($0) }.map { breach in
      switch breach {
      case .namedCharacters: (breach, state.pointee.namedCharacters)
      case .controlCharacters: (breach, input.droppedControls)
      default: (breach, 1)
      }
    }
  }

  /// The breaches that leniency accepted in the bytes, before parsing.
  var textRepairs: [(breach: XMLLeniency, count: Int)] { input.repairCounts }

  /// The fault that stopped parsing, if any.
  var fault: XMLFault? { state.pointee.fault }

  private func index(of tape: XMLTape) -> XMLIndex {
    let entries = state.pointee.names.entries
    for number in names.count..<entries.count {
      let entry = entries.base[number]
      let inNamespace = NamePart(local: entry.local, other: entry.namespace)
      let asWritten = NamePart(local: entry.local, other: entry.prefix)
      let name = XMLIndex.Name(
        entry, namespace: entry.namespace.map(text(ofNamespace:)),
        group: Self.first(number, of: inNamespace, &groups),
        spelling: Self.first(number, of: asWritten, &spellings))
      names.append(name)
      quotedNames.append(XMLMapping.quoted(name.qualified))
    }
    return XMLIndex(
      tape, names: names, quotedNames: quotedNames, repairs: state.pointee.repairs,
      numberLength: numberLength)
  }

  /// Returns the number that a part was first given, which is `number` if it had none.
  private static func first(
    _ number: Int, of part: NamePart, _ numbers: inout [NamePart: Int]
  ) -> Int {
    if let known = numbers[part] { return known }
    numbers[part] = number
    return number
  }

  private func text(ofNamespace namespace: UnsafePointer<xmlChar>) -> String {
    if let known = namespaces[namespace] { return known }
    let text = String(namespace: namespace)
    namespaces[namespace] = text
    return text
  }

  private func check() throws(XMLFault) {
    if let fault = state.pointee.fault { throw fault }
  }

  /// Throws a fault that libxml2 does not see, or one in the bytes before it, some of which libxml2
  /// may have held back until now.
  private func fail(_ reason: XMLFault.Reason, at offset: Int) throws(XMLFault) {
    xmlParseChunk(context, nil, 0, 1)
    if isAboutEnd { state.pointee.forgetFault() }
    state.pointee.fail(reason, at: offset)
    try check()
  }

  // MARK: Bytes on

  private func feed(isLast: Bool) throws(XMLFault) {
    let source = state.pointee.tape.source
    state.pointee.repairs.formUnion(input.repairs)
    guard source.count <= XMLRecord.maximumOffset else {
      return try fail(
        .limit(what: "bytes", limit: XMLRecord.maximumOffset, property: nil),
        at: source.count)
    }
    let bytes = source.elements
    while true {
      let start = state.pointee.fed
      switch scanner.piece(of: bytes, from: start, isLast: isLast) {
      case .until(let end):
        state.pointee.fed = end
        source.base.withMemoryRebound(to: CChar.self, capacity: source.count) {
          _ = xmlParseChunk(context, $0 + start, Int32(end - start), 0)
        }
        try check()
        if let entries = state.pointee.entries, entries.isTooLong(at: end) {
          return try fail(
            .limit(
              what: "bytes of an entry", limit: entries.bytes, property: "DecodingLimits.itemBytes"),
            at: end)
        }
        // libxml2 would wait for the end of a reference or tag for ten million bytes, but a piece
        // holds all that it begins.
        if state.pointee.unread > 2 * XMLPieceScanner.size {
          return try fail(
            .malformed("markup that begins here has no end"), at: state.pointee.place)
        }
      case .more:
        return
      case .unknown:
        return try fail(.malformed("there is no markup that starts like this"), at: start)
      case .tooLong(let construct):
        return try failTooLong(construct, at: start)
      }
    }
  }

  private func failTooLong(
    _ construct: XMLPieceScanner.Construct, at start: Int
  ) throws(XMLFault) {
    let limits = state.pointee.limits
    let (what, limit, property) =
      switch construct {
      case .tag: ("bytes of a tag", max(limits.tagBytes, XMLPieceScanner.size), "tagBytes")
      case .comment: ("bytes of a comment", limits.commentBytes, "commentBytes")
      case .text: ("bytes of text between two tags", limits.textBytes, "textBytes")
      case .doctype: ("bytes of a document type", limits.doctypeBytes, "doctypeBytes")
      }
    try fail(.limit(what: what, limit: limit, property: "XMLLimits." + property), at: start)
  }
}

/// The reason why parsing stopped, and the place; `pageError` puts it into words.
package struct XMLFault: Error {
  enum Reason: Error {
    /// The page is not well-formed, as the text says.
    case malformed(String)
    /// The page ends before its root element does.
    case truncated
    /// The page uses a feature that is refused.
    case refused(String)
    /// The page is of another format.
    case otherFormat(OtherFormat)
    /// The page holds more than a limit allows.
    case limit(what: String, limit: Int, property: String?)
    /// The bytes are not what the page's encoding says.
    case encoding(String)
  }

  /// A format that came instead of XML.
  enum OtherFormat { case html, json }

  /// The kind of a fault, which decides what can be done about it.
  package enum Kind: Hashable, Sendable {
    /// The page is not well-formed: mending it may help.
    case malformed
    /// The page ends before its root element does.
    case truncated
    /// The page is HTML.
    case html
    /// The page is JSON.
    case json
    /// The page is in an unknown encoding, or not in the encoding that it declares.
    case encoding
    /// The page is hostile or too large.
    case final
  }

  var reason: Reason
  /// The place of the fault in the page.
  var place: XMLPlace

  init(_ reason: Reason, at place: XMLPlace = XMLPlace()) {
    (self.reason, self.place) = (reason, place)
  }

  package var kind: Kind {
    switch reason {
    case .malformed: .malformed
    case .truncated: .truncated
    case .otherFormat(.html): .html
    case .otherFormat(.json): .json
    case .encoding: .encoding
    case .refused, .limit: .final
    }
  }

  /// The error that puts the fault into words.
  package var pageError: PageError {
    let place = "\(place) (byte \(place.offset))"
    return switch reason {
    case .malformed(let message):
      PageError(.malformed, "The page is not valid XML: at \(place): \(message).")
    case .truncated:
      PageError(
        .truncated, "The XML page is cut off: it ends at \(place), before its root element.")
    case .refused(let feature):
      PageError(.malformed, "The XML page is refused: at \(place), it \(feature).")
    case .otherFormat(.html):
      PageError(
        .unexpectedMediaType,
        "The page is HTML, neither JSON nor XML: a login page, a proxy or another address may have "
          + "answered.")
    case .otherFormat(.json):
      PageError(
        .unexpectedMediaType, "The page is JSON, not XML.", remedies: [Remedy(.decoder, ["JSON"])])
    case .limit(let what, let limit, let property):
      PageError(
        .limitExceeded,
        "At \(place), the XML page has more than \(limit) \(what).",
        remedies: property.map { [.raise(.init($0))] } ?? [])
    case .encoding(let message):
      PageError(.malformed, "The XML page cannot be read: at \(place): \(message).")
    }
  }
}
