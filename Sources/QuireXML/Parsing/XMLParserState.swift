import CXML2
import QuireCore
import QuirePagination

/// The state that libxml2's callbacks work on, at an address that does not move.
///
/// libxml2 2.9.14 limits neither depth nor names nor attributes when it is fed in pieces, and
/// expands entities that a document declares; so these limits are enforced here.
struct XMLParserState {
  let context: xmlParserCtxtPtr
  let limits: XMLLimits
  let depthLimit: Int
  let eventLimit: Int
  /// The number of records that the tape may still have: records taken with items count as well.
  private var recordLimit: Int
  let leniency: XMLLeniency
  /// Whether the Content-Type names HTML.
  var isDeclaredHTML = false
  /// The limits for the entries of a feed; nil for other pages.
  var entries: XMLEntryBounds?

  var tape: XMLTape
  var names = XMLNameTable()
  /// The tracker of items; nil unless they are delivered as they arrive.
  var items: XMLItemTracker?
  /// The number of bytes of the source passed to libxml2.
  var fed = 0
  var depth = 0
  var hasRoot = false
  /// The fault that stops parsing, for which the parser looks after each piece.
  private(set) var fault: XMLFault?
  /// The offset of the fault in the tape's source.
  private(set) var faultOffset: Int?
  /// The breaches that leniency accepted.
  var repairs: XMLLeniency = []
  /// The number of HTML's named characters that the page uses without a declaration.
  private(set) var namedCharacters = 0

  init(
    context: xmlParserCtxtPtr, limits: XMLLimits, decoding: DecodingLimits, leniency: XMLLeniency,
    tape: XMLTape
  ) {
    self.context = context
    self.limits = limits
    // Elements are mapped to JSON recursively: more depth would overflow the stack.
    depthLimit = min(decoding.depth, 4096)
    eventLimit = decoding.events
    recordLimit = min(decoding.events, Int(UInt32.max) - 1)
    self.leniency = leniency
    self.tape = tape
  }

  // MARK: Places

  /// Returns the offset in the source of a byte in libxml2's own buffer.
  @inline(__always)
  private func offset(of byte: UnsafePointer<xmlChar>) -> Int {
    fed - (context.pointee.input.pointee.end - byte)
  }

  @inline(__always)
  private func isInput(_ byte: UnsafePointer<xmlChar>, count: Int) -> Bool {
    let input = context.pointee.input.pointee
    return byte >= input.base && byte + count <= input.end
  }

  /// The offset in the source of the next byte that libxml2 reads.
  var place: Int {
    context.pointee.input == nil ? fed : offset(of: context.pointee.input.pointee.cur)
  }

  /// The number of bytes passed to libxml2 that it has not read.
  var unread: Int {
    guard let input = context.pointee.input else { return 0 }
    return input.pointee.end - input.pointee.cur
  }

  mutating func fail(_ reason: XMLFault.Reason, at offset: Int? = nil) {
    guard fault == nil else { return }
    let offset = min(max(offset ?? place, 0), tape.source.count)
    faultOffset = offset
    fault = XMLFault(reason, at: tape.place(of: offset))
  }

  mutating func forgetFault() { (fault, faultOffset) = (nil, nil) }

  /// Fails, and stops libxml2 within the current piece.
  mutating func stop(_ reason: XMLFault.Reason) {
    fail(reason)
    xmlStopParser(context)
  }

  // MARK: Content

  @inline(__always)
  mutating func startElement(
    _ local: UnsafePointer<xmlChar>, _ prefix: UnsafePointer<xmlChar>?,
    _ namespace: UnsafePointer<xmlChar>?
  ) {
    if fault != nil { return }
    depth += 1
    let number = names.number(local, prefix, namespace)
    tape.open(number, at: startOfTag(Int(names.entries.base[Int(number)].length)))
    if entries != nil { checkEntries(local) }
    if depth > depthLimit || tape.records.count > recordLimit || !hasRoot
      || names.entries.count > limits.nameBytes
    {
      checkElement(local)
    }
  }

  @inline(never)
  private mutating func checkElement(_ local: UnsafePointer<xmlChar>) {
    if !hasRoot {
      hasRoot = true
      if xmlStrcasecmp(local, "rss") == 0 { entries?.hasChannels = true }
      if isHTML(root: local) { fail(.otherFormat(.html)) }
    }
    if depth > depthLimit {
      fail(
        .limit(
          what: "elements within each other", limit: depthLimit, property: "DecodingLimits.depth"))
    }
    if tape.records.count > recordLimit {
      fail(
        .limit(
          what: "elements, attributes and texts", limit: eventLimit,
          property: "DecodingLimits.events"))
    }
    // libxml2 counts the parts of names, and parts that names share once. So names are counted
    // here, each as at least one byte.
    if names.entries.count > limits.nameBytes { fail(tooManyNames) }
  }

  private var tooManyNames: XMLFault.Reason {
    .limit(
      what: "bytes of distinct names", limit: limits.nameBytes, property: "XMLLimits.nameBytes")
  }

  @inline(__always)
  private mutating func checkEntries(_ local: UnsafePointer<xmlChar>) {
    let isWithin = entries?.opened(
      depth: depth, records: tape.records.count, fed: fed,
      isChannel: xmlStrcasecmp(local, "channel") == 0)
    if isWithin == false {
      fail(
        .limit(
          what: "entries, or parts of one", limit: entries?.entryLimit ?? 0,
          property: "DecodingLimits.items"))
    }
  }

  /// Returns the offset of the `<` of the tag that libxml2 has just read; `nameLength` bytes follow
  /// it.
  @inline(__always)
  private func startOfTag(_ nameLength: Int) -> Int {
    let input = context.pointee.input.pointee
    var byte = input.cur - (nameLength + 1)
    if byte >= input.base, byte.pointee == UInt8(ascii: "<") { return offset(of: byte) }
    // The tag has attributes or white space. No other `<` can stand within it.
    byte = input.cur - 1
    while byte > input.base, byte.pointee != UInt8(ascii: "<") { byte -= 1 }
    return offset(of: byte)
  }

  mutating func declare(
    _ count: Int, _ pairs: UnsafeMutablePointer<UnsafePointer<xmlChar>?>
  ) {
    guard Int(context.pointee.nsNr) / 2 <= limits.namespaces, count <= limits.attributes else {
      return fail(
        .limit(
          what: "namespaces in scope", limit: limits.namespaces, property: "XMLLimits.namespaces"))
    }
    for index in 0..<count {
      guard let uri = pairs[2 * index + 1] else { continue }
      let name =
        pairs[2 * index].map { names.number($0, nil, nil) }
        ?? names.number(Self.noPrefix, nil, nil)
      append(
        .namespace, name: name, UnsafeBufferPointer(start: uri, count: Int(xmlStrlen(uri))))
    }
  }

  @inline(__always)
  mutating func addAttributes(
    _ count: Int, _ quintuples: UnsafeMutablePointer<UnsafePointer<xmlChar>?>
  ) {
    guard count <= limits.attributes else {
      return fail(
        .limit(what: "attributes", limit: limits.attributes, property: "XMLLimits.attributes"))
    }
    for index in 0..<count {
      let field = quintuples + 5 * index
      guard let local = field[0], let start = field[3], let end = field[4] else { continue }
      let name = names.number(local, field[1], field[2])
      let length = end - start
      if isInput(start, count: length) {
        tape.append(attribute: name, at: offset(of: start), count: length)
      } else {
        append(.composedAttribute, name: name, UnsafeBufferPointer(start: start, count: length))
      }
    }
  }

  /// Adds a value composed by libxml2, which leaves `&` as `&#38;`, and named characters as
  /// references.
  private mutating func append(
    _ kind: XMLRecord.Kind, name: UInt32, _ value: UnsafeBufferPointer<UInt8>
  ) {
    XMLNamedCharacters.resolve(value).withUnsafeBufferPointer {
      tape.append(kind, name: name, value: $0.baseAddress ?? Self.noPrefix, count: $0.count)
    }
  }

  @inline(__always)
  mutating func endElement() {
    if fault != nil { return }
    items?.closing(depth: depth)
    entries?.closed(depth: depth, records: tape.records.count, fed: fed)
    depth -= 1
    tape.close(at: offset(of: context.pointee.input.pointee.cur))
  }

  @inline(__always)
  mutating func text(_ bytes: UnsafePointer<xmlChar>, _ count: Int) {
    // A CDATA section may be empty; then it is not text.
    if fault != nil || count == 0 { return }
    let offset = isInput(bytes, count: count) ? offset(of: bytes) : nil
    if tape.append(text: bytes, count: count, at: offset) > limits.textBytes {
      fail(
        .limit(
          what: "bytes of text between two tags", limit: limits.textBytes,
          property: "XMLLimits.textBytes"))
    }
  }

  // MARK: Items

  /// Passes the innermost element to the tracker, once its start tag is on the tape.
  @inline(__always)
  mutating func finishTag() {
    if items != nil, fault == nil { items?.opened(depth: depth, on: tape, names: names) }
  }

  /// Takes the complete items off the tape. Returns the previous tape, which holds them.
  mutating func takeItems(_ items: XMLItemTracker) -> XMLTape {
    var old = tape
    let rest = old.split(
      items: items.complete.elements, keptItem: items.kept, openItem: items.open?.node,
      place: min(max(place, 0), fed))
    tape = rest.tape
    fed -= rest.forgotten
    if let offset = faultOffset { faultOffset = offset - rest.forgotten }
    recordLimit -= rest.forgottenRecords
    self.items?.didTake(rest)
    return old
  }

  /// Whether a root element of this name shows that the page is HTML. A page or a part of one may
  /// be well-formed, and would be a list without items.
  private func isHTML(root local: UnsafePointer<xmlChar>) -> Bool {
    xmlStrcasecmp(local, "html") == 0
      || isDeclaredHTML && Self.elementsOfHTML.contains(String(xmlChars: local).lowercased())
  }

  /// The elements that parts of HTML start with. Servers send XML as HTML too, so names that lists
  /// in XML have, such as `table`, are left out.
  private static let elementsOfHTML: Set<String> = [
    "body", "br", "center", "div", "font", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr",
    "iframe", "img", "input", "meta", "nav", "noscript", "ol", "p", "pre", "script", "span",
    "strong", "style", "ul",
  ]

  /// The empty name, in place of a prefix for the default namespace.
  // SAFETY: a constant.
  nonisolated(unsafe) private static let noPrefix: UnsafePointer<xmlChar> = {
    let empty = UnsafeMutablePointer<xmlChar>.allocate(capacity: 1)
    empty.initialize(to: 0)
    return UnsafePointer(empty)
  }()
}

/// Document types, entities and errors.
extension XMLParserState {
  mutating func startDoctype(_ name: UnsafePointer<xmlChar>?) {
    if xmlStrcasecmp(name, "html") == 0 { fail(.otherFormat(.html)) }
  }

  /// Returns the entity `&name;`, which XML itself does not define; stops parsing if there is none.
  mutating func entity(named name: UnsafePointer<xmlChar>) -> xmlEntityPtr? {
    if leniency.contains(.namedCharacters) {
      let isValue = context.pointee.instate == XML_PARSER_ATTRIBUTE_VALUE
      if let entity = XMLNamedCharacters.entity(named: name, isValue: isValue) {
        repairs.insert(.namedCharacters)
        namedCharacters += 1
        return entity
      }
    }
    let text = ServerText(
      bytes: UnsafeBufferPointer(start: name, count: Int(xmlStrlen(name))), limit: 64)
    stop(.malformed("the entity &\(text); is not defined"))
    return nil
  }

  /// Receives an error of libxml2; the first one is kept.
  mutating func report(_ error: xmlError) {
    // A later version of XML is only a warning to libxml2, but its rules differ.
    guard
      error.level.rawValue >= XML_ERR_ERROR.rawValue
        || error.code == XML_WAR_UNKNOWN_VERSION.rawValue
    else { return }
    // Namespaces are compared as text, and need not be URIs.
    guard error.code != XML_WAR_NS_URI.rawValue, fault == nil else { return }
    switch UInt32(error.code) {
    case XML_ERR_USER_STOP.rawValue: return
    case XML_ERR_DOCUMENT_END.rawValue where hasRoot && depth == 0: return reportTrailing()
    case XML_ERR_DOCUMENT_END.rawValue: fail(.truncated, at: tape.source.count)
    case XML_ERR_NO_MEMORY.rawValue: fail(tooManyNames)
    default: fail(.malformed(Self.words(of: error)))
    }
  }

  private mutating func reportTrailing() {
    if leniency.contains(.trailingContent) {
      repairs.insert(.trailingContent)
    } else {
      fail(.malformed("there is content after the end of the root element"))
    }
  }

  /// Returns libxml2's message, which quotes names of the page, on one line of bounded length.
  private static func words(of error: xmlError) -> String {
    guard let message = error.message else { return "error \(error.code)" }
    let words = String(cString: message).split(whereSeparator: \.isWhitespace)
    return ServerText(words.joined(separator: " "), limit: 200).description
  }
}

/// The functions that libxml2 calls, with the parser's state as their first argument.
enum XMLCallbacks {
  /// Returns a handler with the callbacks that are used; the others are silenced.
  static func handler() -> xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = UInt32(XML_SAX2_MAGIC)
    quire_xml_silence(&handler)
    setContent(&handler)
    setDeclarations(&handler)
    handler.serror = { user, error in
      guard let state = parserState(user), let error else { return }
      state.pointee.report(error.pointee)
    }
    return handler
  }

  private static func setContent(_ handler: inout xmlSAXHandler) {
    handler.startElementNs = {
      user, local, prefix, uri, namespaceCount, namespaces, count, defaulted, attributes in
      guard let state = parserState(user), let local else { return }
      state.pointee.startElement(local, prefix, uri)
      if namespaceCount > 0, let namespaces {
        state.pointee.declare(Int(namespaceCount), namespaces)
      }
      // Attributes by default come last. A page that declares them is refused, but none may count
      // as written.
      if count > defaulted, let attributes {
        state.pointee.addAttributes(Int(count - defaulted), attributes)
      }
      state.pointee.finishTag()
    }
    handler.endElementNs = { user, _, _, _ in parserState(user)?.pointee.endElement() }
    let text: charactersSAXFunc = { user, bytes, count in
      guard let state = parserState(user), let bytes else { return }
      state.pointee.text(bytes, Int(count))
    }
    handler.characters = text
    handler.ignorableWhitespace = text
    handler.cdataBlock = text
  }

  private static func setDeclarations(_ handler: inout xmlSAXHandler) {
    handler.internalSubset = { user, name, _, _ in
      parserState(user)?.pointee.startDoctype(name)
    }
    handler.entityDecl = { user, _, _, _, _, _ in
      parserState(user)?.pointee.stop(.refused("declares an entity"))
    }
    handler.unparsedEntityDecl = { user, _, _, _, _ in
      parserState(user)?.pointee.stop(.refused("declares an entity"))
    }
    handler.getParameterEntity = { user, _ in
      parserState(user)?.pointee.stop(.refused("uses a parameter entity"))
      return nil
    }
    handler.attributeDecl = { user, _, _, _, _, value, enumeration in
      xmlFreeEnumeration(enumeration)
      if value != nil {
        parserState(user)?.pointee.stop(.refused("declares a default value for an attribute"))
      }
    }
    handler.resolveEntity = { _, _, _ in nil }
    handler.getEntity = { user, name in
      guard let state = parserState(user), let name else { return nil }
      return state.pointee.entity(named: name)
    }
  }
}

/// Returns the state from the pointer that libxml2 passes back.
@inline(__always)
private func parserState(
  _ user: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<XMLParserState>? {
  user?.assumingMemoryBound(to: XMLParserState.self)
}
