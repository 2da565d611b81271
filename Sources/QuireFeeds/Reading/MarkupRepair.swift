public import QuireCore
import QuirePagination
import QuireXML

/// Repairs a feed into well-formed XML, and counts the repairs.
///
/// Makes one pass over the text in UTF-8. It never guesses missing content: references, brackets,
/// quotes and end tags are put where an HTML parser would see them, and everything else stays.
/// Comments and instructions are removed. A feed that ends within an entry stays truncated. More
/// than 10,000 repairs, if they are also more than one for every eight bytes, are an error.
struct MarkupRepair {
  /// The text, which the caller keeps alive.
  private let input: UnsafeBufferPointer<UInt8>
  private let limits: DecodingLimits
  /// The maximum number of undeclared prefixes.
  private let namespaces: Int
  /// Whether the body is known to be complete, so that missing end tags at the end can be added.
  private let isWhole: Bool
  private var output: [UInt8] = []
  private(set) var repairs = RepairTally()
  private var open: [OpenElement] = []
  private var index = 0
  /// By prefix, the number of open elements that declare it.
  private var inScope: [[UInt8]: Int] = [:]
  /// The undeclared prefixes.
  private var undeclared: Set<[UInt8]> = []
  /// The number of entries, and of elements since the start of the last one.
  private var entryCount = 0
  private var elementCount = 0
  /// Whether `?>` may still occur; false after a search in vain, so that none is repeated.
  private var hasInstructionEnd = true
  /// The index in the input up to which the output was delivered.
  private var deliveredIndex = 0
  /// The number of bytes to repair or deliver at once.
  private static let pieceSize = 64 << 10

  init(_ input: UnsafeBufferPointer<UInt8>, limits: DecodingLimits, namespaces: Int, isWhole: Bool)
  {
    self.input = input
    self.limits = limits
    self.namespaces = namespaces
    self.isWhole = isWhole
  }

  /// Delivers the repaired feed to `receive`, piece by piece.
  ///
  /// Throws `unexpectedMediaType` if the text has no feed, `truncated` if it is incomplete,
  /// `malformed` if it declares entities or needs too many repairs, and `limitExceeded` for too
  /// many entries, parts of an entry, nested elements or undeclared prefixes.
  mutating func run(into receive: ([UInt8]) throws -> Void) throws {
    try findRoot()
    while index < input.count {
      let byte = input[index]
      if byte == 0x3C {
        try markup()
        if open.isEmpty { break }
      } else {
        text(byte)
      }
      if output.count >= Self.pieceSize || index >= deliveredIndex + Self.pieceSize {
        try deliver(to: receive)
      }
    }
    try finish()
    try deliver(to: receive)
  }

  /// Delivers the repaired text so far. Throws `malformed` if there were too many repairs.
  private mutating func deliver(to receive: ([UInt8]) throws -> Void) throws {
    let count = repairs.repairs.reduce(0) { $0 + $1.count }
    guard count <= max(10_000, index / 8) else {
      throw PageError(
        .malformed,
        "The feed is broken all over: its first \(index) bytes would need \(count) repairs.")
    }
    try receive(output)
    output.removeAll(keepingCapacity: true)
    deliveredIndex = index
  }

  // MARK: Beginning and end

  private static let roots = OpenElement.containers.union(["entry"])

  /// Moves to the first element that is the root of a feed, or of a list of subscriptions.
  private mutating func findRoot() throws {
    var isClean = true
    while index < input.count {
      guard input[index] == 0x3C else {
        if !input[index].isWhiteSpace { isClean = false }
        index += 1
        continue
      }
      if starts(with: "<!--") {
        skipComment()
      } else if starts(with: "<!") {
        try skipDeclaration()
      } else if starts(with: "<?") {
        if index > 0, starts(with: "<?xml ") { isClean = false }
        skipInstruction(isExpected: true)
      } else {
        let name = OpenElement.localName(nameHere(from: index + 1))
        if Self.roots.contains(name) {
          if !isClean { repairs.add(.textBeforeDocument) }
          return
        }
        if name == "html" || name == "body" { throw Self.html }
        isClean = false
        index += 1
      }
    }
    throw PageError(
      .unexpectedMediaType, "There is no feed in the answer: no element of RSS, Atom or a sitemap.")
  }

  static let html = PageError(
    .unexpectedMediaType,
    "The answer is a web page, not a feed. Its own feeds can be discovered.",
    remedies: [Remedy(.feedAddress)])

  private mutating func finish() throws {
    if !open.isEmpty {
      let isCut = entryCount == 0 || !open.allSatisfy(\.isContainer)
      guard isWhole, !isCut else {
        throw PageError(
          .truncated, "The feed is cut off: it ends before its root element does.")
      }
      repairs.add(.missingEnd)
      while !open.isEmpty { close() }
    }
    if input[index...].contains(where: { !$0.isWhiteSpace }) {
      repairs.add(.trailingContent)
    }
  }

  // MARK: Text

  private mutating func text(_ byte: UInt8) {
    if byte == 0x26 {
      reference(until: input.count)
    } else if byte == 0x5D, starts(with: "]]>") {
      output += "]]&gt;".utf8
      index += 3
      repairs.add(.sectionEnd)
    } else {
      let start = index
      let limit = min(input.count, start + Self.pieceSize)
      repeat { index += 1 } while index < limit && Self.isPlain(input[index])
      output += input[start..<index]
      noteText(in: start..<index)
    }
  }

  /// Records that the innermost open element has text, unless it is white space.
  private mutating func noteText(in range: Range<Int>) {
    guard let last = open.indices.last, !open[last].hasText else { return }
    open[last].hasText = input[range].contains { !$0.isWhiteSpace }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte != 0x26 && byte != 0x3C && byte != 0x5D
  }

  /// Copies or repairs a reference.
  private mutating func reference(until limit: Int) {
    var end = index + 1
    if end < limit, input[end] == 0x23 { end += 1 }
    let longest = min(limit, index + 40)
    while end < longest, HTMLToken.isName(input[end]) { end += 1 }
    guard end < limit, input[end] == 0x3B, end > index + 1 else {
      output += "&amp;".utf8
      index += 1
      return repairs.add(.bareAmpersand)
    }
    let name = String(decoding: input[(index + 1)..<end], as: UTF8.self)
    defer { index = end + 1 }
    if name.hasPrefix("#") {
      let digits = name.dropFirst()
      let value =
        digits.first == "x" || digits.first == "X"
        ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
      if let value, let scalar = Unicode.Scalar(value), Self.isXML(scalar) {
        output += "&#\(value);".utf8
        return
      }
    } else if ["amp", "lt", "gt", "quot", "apos"].contains(name) {
      output += input[index...end]
      return
    } else if let text = HTMLNamedCharacter.text(name) {
      output += text.utf8
      return repairs.add(.undeclaredEntity)
    }
    output += "&amp;".utf8
    output += input[(index + 1)...end]
    repairs.add(.unknownEntity)
  }

  /// Whether XML allows the character (XML 1.0, production 2).
  private static func isXML(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x9, 0xA, 0xD: true
    case 0..<0x20, 0xFFFE, 0xFFFF: false
    default: true
    }
  }

  // MARK: Markup

  private mutating func markup() throws {
    let next = index + 1 < input.count ? input[index + 1] : 0
    switch next {
    case UInt8(ascii: "!"):
      if starts(with: "<!--") {
        skipComment()
      } else if starts(with: "<![CDATA[") {
        try section()
      } else {
        try skipDeclaration()
        repairs.add(.badMarkup)
      }
    case UInt8(ascii: "?"): skipInstruction(isExpected: false)
    case UInt8(ascii: "/"): endTag()
    case let byte where Self.isNameStart(byte): try startTag()
    default:
      output += "&lt;".utf8
      index += 1
      repairs.add(.bareLessThan)
    }
  }

  private mutating func skipComment() {
    guard let end = find("-->", from: index + 4) else {
      repairs.add(.badMarkup)
      index = input.count
      return
    }
    if let dashes = find("--", from: index + 4), dashes < end - 3 { repairs.add(.badMarkup) }
    index = end
  }

  private mutating func skipInstruction(isExpected: Bool) {
    if !isExpected, starts(with: "<?xml ") { repairs.add(.badMarkup) }
    if hasInstructionEnd, let end = find("?>", from: index + 2) {
      index = end
    } else {
      hasInstructionEnd = false
      repairs.add(.badMarkup)
      index = find(">", from: index) ?? input.count
    }
  }

  private mutating func skipDeclaration() throws {
    let start = index
    var depth = 0
    while index < input.count {
      let byte = input[index]
      index += 1
      if byte == 0x5B { depth += 1 }
      if byte == 0x5D { depth -= 1 }
      if byte == 0x3E, depth <= 0 { break }
    }
    let text = input[start..<index]
    guard !text.containsText("<!ENTITY") else {
      throw PageError(.malformed, "The feed is refused: it declares an entity.")
    }
    if text.prefix(32).containsText("<!DOCTYPE html") { throw Self.html }
  }

  private mutating func section() throws {
    guard let end = find("]]>", from: index + 9) else {
      throw PageError(.truncated, "The feed is cut off: it ends within a CDATA section.")
    }
    output += input[index..<end]
    noteText(in: (index + 9)..<(end - 3))
    index = end
  }

  // MARK: Tags

  private mutating func endTag() {
    let name = nameHere(from: index + 2)
    if name.isEmpty {
      output += "&lt;".utf8
      index += 1
      return repairs.add(.bareLessThan)
    }
    guard let end = find(">", from: index + 2 + name.count) else {
      // A truncated tag closes nothing.
      index = input.count
      return
    }
    index = end
    guard let depth = openElement(closedBy: name) else { return repairs.add(.strayEndTag) }
    repairs.add(.unclosedElement, open.count - depth - 1)
    while open.count > depth { close() }
  }

  /// Returns the index of the open element that an end tag closes; nil if there is none. An end tag
  /// of HTML closes nothing outside of the innermost open element of the feed.
  private func openElement(closedBy name: [UInt8]) -> Int? {
    let wanted = name.map(XMLText.lowercased)
    let isPart = OpenElement.parts.contains(OpenElement.localName(name))
    for depth in open.indices.reversed() {
      if open[depth].lowercased == wanted { return depth }
      if !isPart, open[depth].isPart { return nil }
    }
    return nil
  }

  private mutating func close() {
    guard let element = open.popLast() else { return }
    for prefix in element.prefixes {
      inScope[prefix] = inScope[prefix].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
    output += "</".utf8
    output += element.name
    output.append(0x3E)
  }

  private mutating func startTag() throws {
    let name = nameHere(from: index + 1)
    let local = OpenElement.localName(name)
    closeBefore(name, local)
    try count(local)
    index += 1 + name.count
    output.append(0x3C)
    output += name
    var tag = Tag()
    try attributes(&tag)
    let isVoid = isVoid(name, local, tag)
    try declarePrefixes(of: name, tag)
    if tag.isClosed {
      output += "/>".utf8
    } else if isVoid {
      output += "/>".utf8
      repairs.add(.unclosedElement)
    } else {
      output.append(0x3E)
      let home = open.isEmpty ? OpenElement.prefix(name) : home
      open.append(OpenElement(name, prefixes: tag.prefixes, home: home))
      for prefix in tag.prefixes { inScope[prefix, default: 0] += 1 }
      guard open.count <= limits.depth else {
        throw PageError(
          .limitExceeded,
          "The feed has more than \(limits.depth) elements within each other.",
          remedies: [.raise(.init("DecodingLimits.depth"))])
      }
    }
  }

  private mutating func count(_ local: String) throws {
    elementCount += 1
    if beginsEntry(local) { (entryCount, elementCount) = (entryCount + 1, 0) }
    guard entryCount > limits.items || elementCount > max(limits.items, 4_096) else { return }
    throw PageError(
      .limitExceeded, "The feed has more than \(limits.items) entries, or parts of one.",
      remedies: [.raise(.init("DecodingLimits.items"))])
  }

  /// Whether an element is an entry. A `url` is one only in a sitemap: persons and pictures have a
  /// `url`, too.
  private func beginsEntry(_ local: String) -> Bool {
    switch local {
    case "item", "entry": true
    case "url": open.last?.local == "urlset"
    case "sitemap": open.last?.local == "sitemapindex"
    default: false
    }
  }

  /// The prefix of the root; nil if it has none.
  private var home: ArraySlice<UInt8>? { open.first.flatMap { OpenElement.prefix($0.name) } }

  /// Void HTML elements that no feed has.
  private static let voids: Set<String> = ["br", "hr", "img", "input", "wbr"]

  /// Whether an element has no content, although its start tag does not say so: a void element of
  /// HTML, or a feed's that an attribute makes complete and that its end tag does not follow.
  private func isVoid(_ name: [UInt8], _ local: String, _ tag: Tag) -> Bool {
    if !name.contains(0x3A), Self.voids.contains(local) { return true }
    guard let attribute = OpenElement.voids[local], tag.names.contains(Array(attribute.utf8)),
      OpenElement.isFeeds(name, home)
    else { return false }
    var next = index
    while next < input.count, input[next].isWhiteSpace { next += 1 }
    guard next < input.count, input[next] == 0x3C else { return false }
    let isEnd = next + 1 < input.count && input[next + 1] == 0x2F
    return !isEnd || nameHere(from: next + 2) != name
  }

  /// Closes open elements that cannot contain the next one, `name`.
  private mutating func closeBefore(_ name: [UInt8], _ local: String) {
    guard let depth = depth(endedBy: name, local), depth < open.count else { return }
    repairs.add(.unclosedElement, open.count - depth)
    while open.count > depth { close() }
  }

  /// Returns the number of open elements that can contain the next one: an entry belongs to a
  /// channel, an identifier to an entry, and an element of text contains no other feed element.
  /// Returns nil if all of them can.
  private func depth(endedBy name: [UInt8], _ local: String) -> Int? {
    if isEntry(local) { return depth(endedByEntry: name) }
    guard OpenElement.isFeeds(name, home) else { return nil }
    if OpenElement.children.contains(local),
      let parent = open.lastIndex(where: {
        $0.isContainer || isEntry($0.local)
          || $0.local == "source" && OpenElement.sourceChildren.contains(local)
      }), open[(parent + 1)...].allSatisfy({ $0.isKnown || $0.hasText })
    {
      return parent + 1
    }
    guard OpenElement.parts.contains(local), open.last?.isLeaf == true else { return nil }
    return open.count - 1
  }

  /// An entry ends an earlier one with its name, unless an element of an unknown extension is open
  /// in that; and everything that is open in the channel.
  private func depth(endedByEntry name: [UInt8]) -> Int? {
    if let entry = open.lastIndex(where: { isEntry($0.local) }) {
      let canEnd =
        entry > 0 && open[entry].lowercased == name.map(XMLText.lowercased)
        && open[(entry + 1)...].allSatisfy(\.isKnown)
      return canEnd ? entry : nil
    }
    guard let container = open.lastIndex(where: \.isContainer) else { return nil }
    let prefix = OpenElement.prefix(name)
    return prefix == nil || prefix == home ? container + 1 : nil
  }

  /// Whether a name is that of an entry in this feed.
  private func isEntry(_ local: String) -> Bool {
    switch local {
    case "item", "entry": true
    case "url": open.first?.local == "urlset"
    case "sitemap": open.first?.local == "sitemapindex"
    default: false
    }
  }

  // MARK: Attributes

  /// The contents of a start tag.
  private struct Tag {
    var names: Set<[UInt8]> = []
    /// The prefixes that it declares.
    var prefixes: [[UInt8]] = []
    /// The prefixes of its attributes.
    var used: [[UInt8]] = []
    var isClosed = false
  }

  private mutating func attributes(_ tag: inout Tag) throws {
    while index < input.count {
      let byte = input[index]
      if byte == 0x3E {
        index += 1
        return
      }
      if byte == 0x3C {
        // The tag was not closed.
        return repairs.add(.badMarkup)
      }
      if byte == 0x2F {
        index += 1
        if index < input.count, input[index] == 0x3E { tag.isClosed = true }
      } else if byte.isWhiteSpace {
        index += 1
      } else {
        attribute(&tag)
      }
    }
    throw PageError(.truncated, "The feed is cut off: it ends within a tag.")
  }

  private mutating func attribute(_ tag: inout Tag) {
    let name = nameHere(from: index)
    guard !name.isEmpty, Self.isNameStart(name[0]) else {
      index += max(1, name.count)
      return repairs.add(.badAttribute)
    }
    index += name.count
    let start = output.count
    output.append(0x20)
    output += name
    output += "=\"".utf8
    value(of: name)
    output.append(0x22)
    guard tag.names.count < 256, !tag.names.contains(name) else {
      output.removeLast(output.count - start)
      return repairs.add(.badAttribute)
    }
    tag.names.insert(name)
    guard let colon = name.firstIndex(of: 0x3A) else { return }
    let prefix = Array(name[..<colon])
    if prefix.elementsEqual("xmlns".utf8) {
      tag.prefixes.append(Array(name[(colon + 1)...]))
    } else if !prefix.elementsEqual("xml".utf8) {
      tag.used.append(prefix)
    }
  }

  private mutating func value(of name: [UInt8]) {
    var next = index
    while next < input.count, input[next].isWhiteSpace { next += 1 }
    guard next < input.count, input[next] == 0x3D else {
      output += name
      return repairs.add(.badAttribute)
    }
    index = next + 1
    while index < input.count, input[index].isWhiteSpace { index += 1 }
    guard index < input.count else { return }
    let quote = input[index]
    let isQuoted = quote == 0x22 || quote == 0x27
    var end = isQuoted ? index + 1 : index
    if isQuoted {
      index = end
      while end < input.count, input[end] != quote { end += 1 }
    } else {
      repairs.add(.badAttribute)
      while end < input.count, !input[end].isWhiteSpace, input[end] != 0x3E { end += 1 }
      if end < input.count, input[end] == 0x3E, end > index, input[end - 1] == 0x2F { end -= 1 }
    }
    while index < end { valueByte(until: end) }
    index = isQuoted ? min(end + 1, input.count) : end
  }

  private mutating func valueByte(until end: Int) {
    switch input[index] {
    case 0x26: return reference(until: end)
    case 0x3C:
      output += "&lt;".utf8
      repairs.add(.bareLessThan)
    case 0x22: output += "&quot;".utf8
    case let byte: output.append(byte)
    }
    index += 1
  }

  // MARK: Names

  private mutating func declarePrefixes(of name: [UInt8], _ tag: Tag) throws {
    var used = tag.used
    if let colon = name.firstIndex(of: 0x3A) { used.append(Array(name[..<colon])) }
    var declared = tag.prefixes
    for prefix in used where !declared.contains(prefix) && !prefix.elementsEqual("xml".utf8) {
      guard inScope[prefix] == nil else { continue }
      declared.append(prefix)
      undeclared.insert(prefix)
      guard undeclared.count <= namespaces else {
        throw PageError(
          .limitExceeded, "The feed has more than \(namespaces) prefixes without a namespace.",
          remedies: [.raise(.init("XMLLimits.namespaces"))])
      }
      let text = String(decoding: prefix, as: UTF8.self)
      output += " xmlns:\(text)=\"\(FeedElement.namespace(ofPrefix: text))\"".utf8
      repairs.add(.undeclaredPrefix)
    }
  }

  private static func isNameStart(_ byte: UInt8) -> Bool {
    0x41...0x5A ~= byte & 0xDF || byte == 0x5F || byte >= 0x80
  }

  private func nameHere(from start: Int) -> [UInt8] {
    var end = start
    while end < input.count {
      let byte = input[end]
      guard
        HTMLToken.isName(byte) || byte >= 0x80 || byte == 0x3A || byte == 0x2D || byte == 0x2E
          || byte == 0x5F
      else { break }
      end += 1
    }
    return end > start ? Array(input[start..<end]) : []
  }

  private func starts(with text: String) -> Bool {
    input[index...].starts(with: text.utf8)
  }

  /// Returns the index after the first occurrence of a text; nil if there is none.
  private func find(_ text: String, from start: Int) -> Int? {
    guard start < input.count else { return nil }
    let wanted = Array(text.utf8)
    var place = start
    while place + wanted.count <= input.count {
      if input[place] == wanted[0], input[place..<(place + wanted.count)].elementsEqual(wanted) {
        return place + wanted.count
      }
      place += 1
    }
    return nil
  }
}

extension Collection where Element == UInt8, Index == Int {
  /// Whether an ASCII text occurs, ignoring case.
  func containsText(_ text: String) -> Bool {
    let wanted = text.utf8.map(XMLText.lowercased)
    guard count >= wanted.count else { return false }
    return (startIndex...(endIndex - wanted.count)).contains { place in
      wanted.indices.allSatisfy { XMLText.lowercased(self[place + $0]) == wanted[$0] }
    }
  }
}

extension Remedy.Setting {
  /// The address of the feed, because the requested address is not a feed.
  public static let feedAddress = Self("feed.address")
}
