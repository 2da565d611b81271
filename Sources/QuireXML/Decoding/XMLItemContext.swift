import QuireCore
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The state that the decoders of one page share. Used by one task at a time.
final class XMLItemContext {
  let index: XMLIndex
  let options: XMLDecodingOptions
  let userInfo: [CodingUserInfoKey: Any]
  /// Whether a key strategy converts keys, so that they may differ from names in the page.
  let convertsKeys: Bool
  /// The node of the item being decoded, where coding paths start.
  var item = 0 {
    didSet { if !crowds.isEmpty { crowds = [:] } }
  }
  /// The node of the last error.
  var failedNode: Int?
  /// How many lists were asked for that have no elements.
  var emptyLists = 0
  /// How many values are being decoded within each other.
  var depth = 0
  /// Deeper than any page of `DecodingLimits.depth`, unless that was raised: as deep as `JSONDecoder`
  /// goes.
  static let deepest = 512

  /// A position among the child elements of `parent`. Types usually ask for fields in the page's
  /// order, so the search continues there, unless a passed element may have the name.
  private struct Hint {
    var parent = -1
    var next = 0
    /// The number of elements passed, and a Bloom filter of their names: see `XMLIndex.Name.bits`.
    var passed = 0
    var bits: UInt64 = 0
  }

  private var hint = Hint()

  /// The child elements of an element with many, by name.
  private struct Crowd {
    /// The first element of each local name.
    var first: [String: Int] = [:]
    /// All elements in order, by the group of their name: see `XMLIndex.Name.group`.
    var all: [Int: [Int]] = [:]
  }

  /// The number of child elements beyond which they are looked up in a `Crowd`: a type may ask for
  /// each element of a list of a million.
  private static let crowdThreshold = 128
  private var crowds: [Int: Crowd] = [:]

  init(_ index: XMLIndex, _ options: XMLDecodingOptions) {
    self.index = index
    self.options = options
    userInfo = options.userInfo
    convertsKeys = if case .exact = options.keys { false } else { true }
  }

  // MARK: Finding

  /// Returns the value for a key within an element, nil if there is none.
  func find(_ key: String, in node: Int) -> XMLValue? {
    let key = name(for: key)
    if let element = firstElement(key, in: node) { return XMLValue(node: element, role: .member) }
    let attribute = index.attributes(of: node).first {
      index.names[index.records[$0].name].local == key
    }
    return attribute.map { XMLValue(node: $0, role: .attribute) } ?? findSpecial(key, in: node)
  }

  /// Returns the first child element with a local name.
  private func firstElement(_ key: String, in node: Int) -> Int? {
    if !crowds.isEmpty, let crowd = crowds[node] { return crowd.first[key] }
    let bits = XMLIndex.Name.bits(of: key)
    var place = hint
    if place.parent != node || place.bits & bits != 0 { place = Hint(parent: node, next: node + 1) }
    let end = Int(index.records[node].next)
    while place.next < end {
      let found = place.next
      let record = index.records[found]
      place.next = Int(record.next)
      guard record.kind == .element else { continue }
      guard place.passed < Self.crowdThreshold else { return crowd(in: node).first[key] }
      place.passed += 1
      let own = index.names[record.name].bits
      place.bits |= own
      if own & bits != 0, index.names[record.name].local == key {
        if hint.parent != node || hint.passed < place.passed { hint = place }
        return found
      }
    }
    return nil
  }

  private func crowd(in node: Int) -> Crowd {
    if let known = crowds[node] { return known }
    var crowd = Crowd()
    for child in index.children(of: node) {
      let name = index.name(of: child)
      if crowd.all[name.group]?.append(child) == nil {
        crowd.all[name.group] = [child]
        if crowd.first[name.local] == nil { crowd.first[name.local] = child }
      }
    }
    crowds[node] = crowd
    return crowd
  }

  /// Returns the name in the page for a key, after the key strategy.
  func name(for key: String) -> String {
    switch options.keys {
    case .exact: key
    case .capitalized:
      // A prefix is not converted: it is the type's own name for a namespace.
      if let colon = key.utf8.firstIndex(of: UInt8(ascii: ":")), !key.hasPrefix("@") {
        key[...colon] + Self.capitalized(key[key.index(after: colon)...])
      } else {
        Self.capitalized(key[...])
      }
    case .custom(let change): change(key)
    }
  }

  private static func capitalized(_ key: Substring) -> String {
    key.prefix(1).uppercased() + key.dropFirst()
  }

  /// Returns a key, other than the name itself, that leads to a name. Only the strategy
  /// `capitalized` can be reversed; nil for the others.
  func key(for name: String) -> String? {
    guard case .capitalized = options.keys else { return nil }
    return name.prefix(1).lowercased() + name.dropFirst()
  }

  @inline(__always)
  func value(_ key: some CodingKey, in node: Int) throws -> XMLValue {
    guard let value = find(key.stringValue, in: node) else { throw missing(key, in: node) }
    return value
  }

  /// Returns the value for a key; nil if there is none, or it counts as nil.
  @inline(__always)
  func present(_ key: some CodingKey, in node: Int) -> XMLValue? {
    guard let value = find(key.stringValue, in: node), !isNil(value) else { return nil }
    return value
  }

  /// Decodes a value that was found by a key, and keeps the position of the search, which decoding
  /// may move into the value.
  func decode<T: Decodable>(_ type: T.Type, found value: XMLValue) throws -> T {
    let hint = hint
    defer { self.hint = hint }
    return try decode(type, value)
  }

  private func findSpecial(_ key: String, in node: Int) -> XMLValue? {
    if key == options.textKey { return XMLValue(node: node, role: .text) }
    let isAttribute = key.hasPrefix("@")
    let name = isAttribute ? key.dropFirst() : key[...]
    guard isAttribute || name.contains(":") else { return nil }
    if !isAttribute, let found = index.children(of: node).first(where: { matches($0, name) }) {
      return XMLValue(node: found, role: .member)
    }
    return index.attributes(of: node).first { matches($0, name) }
      .map { XMLValue(node: $0, role: .attribute) }
  }

  /// Whether a name matches a key that is not a plain local name, such as `dc:title`.
  private func matches(_ node: Int, _ key: Substring) -> Bool {
    let name = index.name(of: node)
    guard let colon = key.firstIndex(of: ":") else { return name.local == key }
    guard let namespace = options.namespaces[String(key[..<colon])] else {
      return name.qualified == key
    }
    return name.namespace == namespace && name.local == key[key.index(after: colon)...]
  }

  /// Returns the next sibling element of the same name, nil after the last.
  func sibling(of node: Int) -> Int? {
    let parent = Int(index.records[node].parent)
    let group = self.group(of: node)
    let end = Int(index.records[parent].next)
    var next = Int(index.records[node].next)
    var passed = 0
    while next < end, passed < Self.crowdThreshold {
      let record = index.records[next]
      if record.kind == .element {
        if index.names[record.name].group == group { return next }
        passed += 1
      }
      next = Int(record.next)
    }
    guard next < end else { return nil }
    let all = crowd(in: parent).all[group] ?? []
    let place = all.place(of: node + 1)
    return place < all.count ? all[place] : nil
  }

  private func group(of node: Int) -> Int { index.names[index.records[node].name].group }

  // MARK: Nothing

  private static let instances = "http://www.w3.org/2001/XMLSchema-instance"

  /// Whether a value counts as nil: if it is empty and `emptyIsNil`, or marked `xsi:nil`.
  func isNil(_ value: XMLValue) -> Bool {
    switch value.role {
    case .list: return false
    case .attribute, .text:
      return options.emptyIsNil && withBytes(of: value) { XMLText.trimmed($0).isEmpty }
    case .member, .whole: break
    }
    var node = value.node + 1
    let end = Int(index.records[value.node].next)
    if node == end { return options.emptyIsNil }
    var hasContent = false
    while node < end {
      let record = index.records[node]
      switch record.kind {
      case .text, .composedText, .element: return false
      case .attribute, .composedAttribute:
        let name = index.names[record.name]
        if name.local == "nil", name.namespace == Self.instances {
          let isTrue = index.value(of: node).elementsEqual("true".utf8)
          if isTrue || index.value(of: node).elementsEqual("1".utf8) { return true }
        }
        hasContent = true
      case .space, .composedSpace, .namespace: break
      }
      node += 1
    }
    return options.emptyIsNil && !hasContent
  }

  // MARK: Bytes

  @inline(__always)
  func withBytes<Result>(
    of value: XMLValue, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    if value.role == .attribute { return try body(index.value(of: value.node)) }
    let first = value.node + 1
    if Int(index.records[value.node].next) == first + 1, index.records[first].kind.isText {
      return try body(index.value(of: first))
    }
    return try index.withText(of: value.node, body)
  }
}

/// A value that can be decoded: a node, and what is read of it.
struct XMLValue {
  enum Role: UInt8 {
    /// An element on its own: the item, or an element of a list.
    case whole
    /// An element found by a key; siblings of its name may follow.
    case member
    case attribute
    /// An element's own text.
    case text
    /// A list without elements; the node is the element that has none.
    case list
  }

  let node: Int
  let role: Role
}

/// Errors for values that do not fit, with their paths.
extension XMLItemContext {
  /// Returns the keys from the item to a node. An element with siblings of its name also has its
  /// index, as in an array.
  func codingPath(to node: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var node = node
    while node > item {
      if index.records[node].kind == .element {
        let position = self.position(of: node)
        if let position { path.append(XMLKey(intValue: position)) }
        path.append(XMLKey(stringValue: index.name(of: node).local))
      } else {
        path.append(XMLKey(stringValue: "@" + index.name(of: node).qualified))
      }
      node = Int(index.records[node].parent)
    }
    return path.reversed()
  }

  /// Returns the index of an element among the siblings of its name, nil if it is the only one.
  private func position(of node: Int) -> Int? {
    let parent = Int(index.records[node].parent)
    let group = self.group(of: node)
    var all = Array(index.children(of: parent).prefix(Self.crowdThreshold + 1))
    if all.count > Self.crowdThreshold {
      all = crowd(in: parent).all[group] ?? []
    } else {
      all.removeAll { self.group(of: $0) != group }
    }
    return all.count > 1 ? all.place(of: node) : nil
  }

  func mismatch(
    _ type: Any.Type, _ value: XMLValue, _ reason: String? = nil
  ) -> DecodingError {
    failedNode = value.node
    let found =
      reason
      ?? withBytes(of: value) { bytes in
        "found \"\(ServerText(bytes: XMLText.trimmed(bytes), limit: 64))\""
      }
    return DecodingError.typeMismatch(
      type,
      .init(
        codingPath: codingPath(to: value.node), debugDescription: "Expected \(type), but \(found).")
    )
  }

  func tooDeep(_ value: XMLValue) -> DecodingError {
    failedNode = value.node
    return DecodingError.dataCorrupted(
      .init(
        codingPath: codingPath(to: value.node),
        debugDescription: "The item nests more than \(Self.deepest) values."))
  }

  func missing(_ key: any CodingKey, in node: Int) -> DecodingError {
    failedNode = node
    let sought = name(for: key.stringValue)
    return DecodingError.keyNotFound(
      key,
      .init(
        codingPath: codingPath(to: node),
        debugDescription: "There is neither an element nor an attribute \"\(sought)\"."))
  }
}

extension [Int] {
  /// Returns the index of a number, or the one at which to insert it, in this sorted array.
  fileprivate func place(of number: Int) -> Int {
    var (start, end) = (startIndex, endIndex)
    while start < end {
      let middle = (start + end) / 2
      if self[middle] < number { start = middle + 1 } else { end = middle }
    }
    return start
  }
}

/// A coding key that holds a name in the page or an index.
struct XMLKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }
}

/// Reading text, numbers, truth values, dates and data.
extension XMLItemContext {
  func string(_ value: XMLValue) throws -> String {
    try checkScalar(value, String.self)
    return withBytes(of: value) { String(checkedUTF8: $0) }
  }

  func integer<Integer: FixedWidthInteger>(
    _ type: Integer.Type, _ value: XMLValue
  ) throws -> Integer {
    try checkScalar(value, type)
    let result = withBytes(of: value) { bytes -> Integer? in
      let text = XMLText.trimmed(bytes)
      if let number = Self.plain(text) { return Integer(exactly: number) }
      return Integer(String(checkedUTF8: text))
    }
    guard let result else { throw mismatch(type, value) }
    return result
  }

  /// Returns a number of one to eighteen digits; nil for any other text.
  private static func plain(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard 1...18 ~= text.count else { return nil }
    var number: Int64 = 0
    for byte in text {
      let digit = byte &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      number = number &* 10 &+ Int64(digit)
    }
    return number
  }

  func float<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ type: Number.Type, _ value: XMLValue
  ) throws -> Number {
    try checkScalar(value, type)
    let result = withBytes(of: value) { bytes -> Number? in
      let text = XMLText.trimmed(bytes)
      guard text.count <= index.numberLength else { return nil }
      switch String(decoding: text, as: UTF8.self) {
      case "INF", "+INF": return Number.infinity
      case "-INF": return -Number.infinity
      case "NaN": return Number.nan
      case let text:
        let isNumber = text.utf8.allSatisfy {
          0x30...0x39 ~= $0 || "+-.eE".utf8.contains($0)
        }
        // A number that is too large for the type becomes infinite.
        guard isNumber, let number = Number(text), number.isFinite else { return nil }
        return number
      }
    }
    guard let result else { throw mismatch(type, value) }
    return result
  }

  /// Returns the text without the white space around it.
  private func trimmedText(_ value: XMLValue) -> String {
    withBytes(of: value) { String(decoding: XMLText.trimmed($0), as: UTF8.self) }
  }

  func bool(_ value: XMLValue) throws -> Bool {
    try checkScalar(value, Bool.self)
    let text = trimmedText(value)
    switch text {
    case "true", "1", "True", "TRUE": return true
    case "false", "0", "False", "FALSE": return false
    default: throw mismatch(Bool.self, value)
    }
  }

  func date(_ value: XMLValue) throws -> Date {
    try checkScalar(value, Date.self)
    let text = trimmedText(value)
    switch options.dates {
    case .iso8601:
      guard let date = XMLDate.parse(text) else { throw mismatch(Date.self, value) }
      return date
    case .secondsSince1970: return Date(timeIntervalSince1970: try float(Double.self, value))
    case .custom(let read): return try read(text)
    }
  }

  func data(_ value: XMLValue) throws -> Data {
    try checkScalar(value, Data.self)
    switch options.data {
    case .base64:
      let text = withBytes(of: value) { Data($0.filter { !$0.isWhiteSpace }) }
      guard let data = Data(base64Encoded: text) else { throw mismatch(Data.self, value) }
      return data
    case .custom(let read):
      return try read(withBytes(of: value) { String(decoding: $0, as: UTF8.self) })
    }
  }

  func url(_ value: XMLValue) throws -> URL {
    try checkScalar(value, URL.self)
    let text = trimmedText(value)
    guard let url = URL(string: text) else { throw mismatch(URL.self, value) }
    return url
  }

  func uuid(_ value: XMLValue) throws -> UUID {
    try checkScalar(value, UUID.self)
    let text = trimmedText(value)
    guard let uuid = UUID(uuidString: text) else { throw mismatch(UUID.self, value) }
    return uuid
  }

  /// Returns the value of a `RawRepresentable` type, such as an enum, whose text in the page has
  /// white space around it; nil if there is none.
  func trimmedCase(_ type: any RawRepresentable.Type, _ value: XMLValue) -> Any? {
    func make<T: RawRepresentable>(_ type: T.Type) -> T? {
      (trimmedText(value) as? T.RawValue).flatMap(T.init(rawValue:))
    }
    return make(type)
  }

  func decimal(_ value: XMLValue) throws -> Decimal {
    try checkScalar(value, Decimal.self)
    let text = trimmedText(value)
    // `Decimal` reads the number that a text begins with, and ignores the rest.
    guard text.utf8.count <= index.numberLength, Self.isDecimal(text),
      let decimal = Decimal(string: text), decimal.isFinite
    else { throw mismatch(Decimal.self, value) }
    return decimal
  }

  /// Whether a text is a decimal number (XML Schema Part 2, §3.3.3), which may have an exponent.
  private static func isDecimal(_ text: String) -> Bool {
    var rest = text.utf8[...]
    func skipSign() {
      if let sign = rest.first, sign == 0x2B || sign == 0x2D { rest.removeFirst() }
    }
    func skipDigits() -> Int {
      let digits = rest.prefix { (0x30...0x39).contains($0) }.count
      rest.removeFirst(digits)
      return digits
    }
    skipSign()
    var digits = skipDigits()
    if rest.first == 0x2E {
      rest.removeFirst()
      digits += skipDigits()
    }
    guard digits > 0 else { return false }
    if let sign = rest.first, sign == 0x65 || sign == 0x45 {
      rest.removeFirst()
      skipSign()
      guard skipDigits() > 0 else { return false }
    }
    return rest.isEmpty
  }

  /// Throws for an element with child elements, which would be lost if only its text were read.
  private func checkScalar(_ value: XMLValue, _ type: Any.Type) throws {
    switch value.role {
    case .attribute, .text: return
    case .list: throw mismatch(type, value)
    case .whole, .member:
      let first = value.node + 1
      if Int(index.records[value.node].next) == first { return }
      if Int(index.records[value.node].next) == first + 1, index.records[first].kind != .element {
        return
      }
      if index.hasChildren(value.node) { throw mismatch(type, value, "it holds elements") }
    }
  }
}

/// The reason why an item could not be decoded, and the node of the error.
struct XMLItemFailure: Error {
  let underlying: any Error
  let node: Int

  init(_ underlying: any Error, at node: Int) {
    self.underlying = underlying
    self.node = node
  }

  /// Throws the failure, or returns the item as a bad item, as `policy` says.
  func settle(
    _ policy: BadItemPolicy, number: Int, item: Int, in index: XMLIndex,
    places: inout XMLPlaceFinder
  ) throws -> BadItem {
    let path = index.path(to: node, below: item).escapedForDisplay
    let message = "\(Self.words(of: underlying)) It stands at \(places.place(of: node))."
    return try ItemFailure(index: number, path: path, message: message, underlying: underlying)
      .settle(policy, bytes: index.markup(of: item)[...])
  }

  static func words(of error: any Error) -> String {
    switch error {
    case DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context),
      DecodingError.keyNotFound(_, let context), DecodingError.valueNotFound(_, let context):
      ServerText(context.debugDescription).description
    case let error as PageError: error.message
    default: ServerText(String(describing: error)).description
    }
  }
}
