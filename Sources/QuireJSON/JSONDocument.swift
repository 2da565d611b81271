public import QuireCore
public import QuirePagination

/// A page of JSON, checked completely and indexed once, with values read as the server wrote them.
///
/// The page must be one RFC 8259 value in UTF-8. A byte order mark and the guards that some servers
/// put before JSON (`)]}'` and a line end, `while(1);`, `for(;;);`) are skipped. Text that no
/// string can hold (invalid UTF-8, half a surrogate pair) and numbers longer than
/// `DecodingLimits.numberLength` are errors only when that value is read, so that one bad item does
/// not fail its page. Indexing takes one pass without recursion and keeps the bytes and eight bytes
/// for each value and name, sixteen for an array or object. Names are compared byte by byte, never
/// normalized.
public struct JSONDocument: PageDocument {
  /// The page and its index, behind one reference, so that passing on a document or an item copies
  /// nothing.
  let index: JSONIndex

  var bytes: [UInt8] { index.bytes }
  var end: Int { index.end }
  var tape: [UInt64] { index.tape }
  var hasFlaws: Bool { index.hasFlaws }
  /// Whether this is the page as received, so that messages can give byte offsets in it; false for
  /// a document composed of parts of a page.
  var isPage = true

  /// Checks and indexes a page.
  ///
  /// Throws `malformed` with the byte and line where the page stops being JSON, `truncated` when it
  /// ends before its value does, `limitExceeded` when it nests deeper or holds more than `limits`
  /// allow.
  public init(_ bytes: consuming [UInt8], limits: DecodingLimits = .api) throws {
    let end = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: JSONScanner.padding))
    try self.init(padded: bytes, end: end, limits: limits)
  }

  /// Checks and indexes a page that already has `JSONScanner.padding` zeros after it. `shift` is
  /// the offset from which bytes of the page were left out, and their number, for the offsets in
  /// messages.
  init(
    padded bytes: [UInt8], end: Int, limits: DecodingLimits, shift: (from: Int, by: Int)? = nil
  ) throws {
    guard end <= JSONWord.maximumOffset else {
      throw PageError(
        .limitExceeded, "The JSON page has \(end) bytes, more than \(JSONWord.maximumOffset).")
    }
    let start = try JSONPrologue.length(of: bytes[..<end])
    var fault: JSONFault?
    var hasFlaws = false
    // At least one word: an array without capacity is the empty array that the whole process
    // shares, and all threads would write its count.
    let capacity = max(1, JSONScanner.wordCapacity(for: end - start, limits: limits))
    let tape = bytes.withUnsafeBufferPointer { page in
      [UInt64](unsafeUninitializedCapacity: capacity) { words, used in
        // Neither is empty: the page has its padding, the tape a capacity of at least one.
        guard let page = page.baseAddress, let words = words.baseAddress else { return }
        var scanner = JSONScanner(
          bytes: page, start: start, end: end, words: words, limits: limits)
        do throws(JSONFault) { try scanner.scan() } catch { fault = error }
        used = scanner.used
        hasFlaws = scanner.hasFlaws
      }
    }
    if let fault { throw fault.pageError(in: bytes[..<end], shift) }
    index = JSONIndex(bytes: bytes, end: end, tape: tape, hasFlaws: hasFlaws, limits: limits)
  }

  private init(_ index: JSONIndex) { self.index = index }

  /// Returns the envelope of a page that had `count` items, of which only the last is left in it.
  func withDeliveredItems(_ count: Int, of items: Pagination.Items) throws -> JSONDocument {
    guard let path = items.paths.first, let list = try find(path).node else { return self }
    var document = JSONDocument(
      JSONIndex(
        bytes: bytes, end: end, tape: tape, hasFlaws: hasFlaws, limits: index.limits,
        deliveredItems: (list, count)))
    document.isPage = false
    return document
  }

  /// The document `null`, for the decoder of a missing value.
  static let null = JSONDocument(
    JSONIndex(
      bytes: Array("null".utf8) + repeatElement(0, count: JSONScanner.padding), end: 4,
      tape: [JSONWord(.null, at: 0, length: 4).bits], hasFlaws: false, limits: .api))

  /// Returns the value at `path`, nil if there is none. An explicit null is `.null`.
  ///
  /// Throws `shape` when a name on the path occurs twice in its object, `malformed` when the value
  /// holds text that is not Unicode, `limitExceeded` when it holds a number that is too long. Each
  /// step takes time linear in the members or elements it passes.
  public func value(at path: PagePath) throws -> JSONValue? {
    try find(path).node.map { try value(of: $0) }
  }

  /// Returns the number of elements or members of the container at `path`; 1 for a scalar, 0 for an
  /// explicit null, nil if there is no value.
  ///
  /// Throws `shape` when a name on the path occurs twice in its object.
  public func count(at path: PagePath) throws -> Int? {
    try find(path).node.map { count(of: $0) }
  }

  private func count(of node: Int) -> Int {
    if let delivered = index.deliveredItems, delivered.list == node { return delivered.count }
    let word = word(at: node)
    return word.kind.isContainer ? word.length : word.kind == .null ? 0 : 1
  }

  /// Returns the value at `path` outside the items: a `*` step does not enter them. Throws as
  /// `value(at:)` does.
  public func value(
    at path: PagePath, outsideItemsOf items: Pagination.Items
  ) throws -> JSONValue? {
    try find(path, outsideItemsOf: items).node.map { try value(of: $0) }
  }

  /// Returns the count at `path`, as `count(at:)` does, outside the items: a `*` step does not
  /// enter them.
  public func count(at path: PagePath, outsideItemsOf items: Pagination.Items) throws -> Int? {
    try find(path, outsideItemsOf: items).node.map { count(of: $0) }
  }

  /// Returns the value at `path` in the last item of the page, nil if there is none.
  ///
  /// Throws as `value(at:)` does, and `shape` when the items are not where `items` says.
  public func value(at path: PagePath, inLastItemOf items: Pagination.Items) throws -> JSONValue? {
    let (page, lists) = try arranged(for: items)
    guard let list = lists.last(where: { page.word(at: $0).length > 0 }),
      let item = page.element(of: list, at: page.word(at: list).length - 1)
    else { return nil }
    return try page.value(at: path, of: item)
  }

  /// Returns the value at `path` in each item of the page, in order; nil for an item without one.
  ///
  /// Throws as `value(at:inLastItemOf:)` does.
  public func values(at path: PagePath, inItemsOf items: Pagination.Items) throws -> [JSONValue?] {
    let (page, lists) = try arranged(for: items)
    return try lists.flatMap { page.elements(of: $0) }.map {
      try page.value(at: path, of: $0)
    }
  }
}

/// The bytes of a page and their index.
final class JSONIndex: Sendable {
  /// The bytes of the page, followed by `JSONScanner.padding` zeros.
  let bytes: [UInt8]
  /// The length of the page in `bytes`, without the padding.
  let end: Int
  /// The index: one or two words for each value and name, as `JSONWord` describes.
  let tape: [UInt64]
  /// Whether any value on the tape is flawed.
  let hasFlaws: Bool
  /// The limits for the page, and for documents composed of its parts.
  let limits: DecodingLimits

  /// The node of the list of items and the number of items it had; nil unless they were delivered
  /// as they arrived.
  let deliveredItems: (list: Int, count: Int)?

  init(
    bytes: [UInt8], end: Int, tape: [UInt64], hasFlaws: Bool, limits: DecodingLimits,
    deliveredItems: (list: Int, count: Int)? = nil
  ) {
    self.deliveredItems = deliveredItems
    self.limits = limits
    self.bytes = bytes
    self.end = end
    self.tape = tape
    self.hasFlaws = hasFlaws
  }

  /// Calls `body` with pointers to the page's bytes and its tape, which are valid for the call.
  @inline(__always)
  func withPointers<Result, Failure: Error>(
    _ body: (UnsafePointer<UInt8>, UnsafePointer<UInt64>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
      try tape.withUnsafeBufferPointer { tape throws(Failure) in
        guard let bytes = bytes.baseAddress, let tape = tape.baseAddress else {
          preconditionFailure("A page has its padding and its tape the word of its root.")
        }
        return try body(bytes, tape)
      }
    }
  }
}

/// Moving over the tape. A node is the tape index of a value; 0 is the whole page.
extension JSONDocument {
  @inline(__always)
  func word(at node: Int) -> JSONWord { JSONWord(bits: tape[node]) }

  /// Returns the node after `node` and everything in it.
  func next(after node: Int) -> Int {
    word(at: node).isContainer ? Int(tape[node + 1] >> 32) : node + 1
  }

  /// Returns the range of the value's bytes in the page, brackets and quotes included.
  func range(of node: Int) -> Range<Int> {
    let word = word(at: node)
    if word.isContainer { return word.offset..<Int(tape[node + 1] & 0xFFFF_FFFF) }
    if word.kind.isString { return word.offset - 1..<word.offset + word.length + 1 }
    return word.content
  }

  /// Returns the element at `index`, nil beyond the end. The time is linear in `index`.
  func element(of array: Int, at index: Int) -> Int? {
    guard word(at: array).kind == .array, 0..<word(at: array).length ~= index else { return nil }
    var node = array + 2
    for _ in 0..<index { node = next(after: node) }
    return node
  }

  /// Returns the elements of an array, in order; none for another value.
  func elements(of array: Int) -> Children { children(of: array, .array, stride: .element) }

  /// Returns the names of an object, in order; none for another value. The value of the name at
  /// node `n` is the node `n + 1`.
  func names(of object: Int) -> Children { children(of: object, .object, stride: .member) }

  /// Returns the children if `node` is of `kind`, otherwise none: a scalar's length counts bytes,
  /// and taken as a number of children would lead past the end of the tape.
  private func children(
    of node: Int, _ kind: JSONWord.Kind, stride: Children.Stride
  ) -> Children {
    let word = word(at: node)
    return Children(
      document: self, node: node + 2, left: word.kind == kind ? word.length : 0, stride: stride)
  }

  struct Children: Sequence, IteratorProtocol {
    enum Stride: Int { case element = 0, member = 1 }

    let document: JSONDocument
    var node: Int
    var left: Int
    let stride: Stride

    var underestimatedCount: Int { left }

    mutating func next() -> Int? {
      guard left > 0 else { return nil }
      left -= 1
      defer { node = document.next(after: node + stride.rawValue) }
      return node
    }
  }
}

/// Making values from the tape.
extension JSONDocument {
  /// A container whose children are being read.
  private struct Frame {
    let isObject: Bool
    let end: Int
    var name = ""
    var elements: [JSONValue] = []
    var members: [JSONValue.Member] = []

    mutating func append(_ value: JSONValue) {
      if isObject { members.append(.init(name, value)) } else { elements.append(value) }
    }

    var value: JSONValue { isObject ? .object(members) : .array(elements) }
  }

  /// The most containers that a `JSONValue` may nest. A value is released recursively, so one
  /// deeper than the thread's stack allows would crash the process.
  private static let deepestValue = 4096

  /// Returns the value at `node`. Members with the same name are all kept, in order.
  ///
  /// Throws the error of a flawed value (`flawError(at:)`), and `limitExceeded` for a value that
  /// nests more than `deepestValue` containers.
  package func value(of node: Int) throws -> JSONValue {
    guard word(at: node).isContainer else { return try scalar(at: node) }
    var frames: [Frame] = []
    var index = node
    while true {
      if let frame = frames.last, frame.isObject, index < frame.end {
        frames[frames.count - 1].name = try text(at: index)
        index += 1
      }
      var finished: JSONValue?
      if let frame = frames.last, index == frame.end {
        finished = frame.value
        frames.removeLast()
      } else if word(at: index).kind.isContainer {
        guard frames.count < Self.deepestValue else { throw Self.tooDeep }
        frames.append(
          Frame(isObject: word(at: index).kind == .object, end: next(after: index)))
        index += 2
      } else {
        finished = try scalar(at: index)
        index += 1
      }
      guard let finished else { continue }
      if frames.isEmpty { return finished }
      frames[frames.count - 1].append(finished)
    }
  }

  private static let tooDeep = PageError(
    .limitExceeded,
    "A value nests more than \(deepestValue) containers. It can be had as bytes, and looked into, but not "
      + "as one value.")

  private func scalar(at node: Int) throws -> JSONValue {
    let word = word(at: node)
    switch word.kind {
    case .null: return .null
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .number: return .number(String(decoding: bytes[word.content], as: UTF8.self))
    case .longNumber: throw flawError(at: node)
    default: return .string(try text(at: node))
    }
  }

  /// Returns the text of a string or a name.
  ///
  /// Throws `malformed` if no `String` can hold it.
  func text(at node: Int) throws -> String {
    let word = word(at: node)
    if word.kind == .surrogateString || word.kind == .invalidString { throw flawError(at: node) }
    return index.withPointers { bytes, _ in
      let text = UnsafeBufferPointer(start: bytes + word.offset, count: word.length)
      return word.isKind(.escapedString)
        ? JSONText.string(text) : String(checkedUTF8: text, isASCII: word.isKind(.string))
    }
  }

  /// Returns the content of a string with its escapes resolved, as UTF-8. The scanner has checked
  /// the escapes.
  func unescaped(_ range: Range<Int>) -> [UInt8] {
    index.withPointers { bytes, _ in
      var text: [UInt8] = []
      JSONText.append(
        UnsafeBufferPointer(start: bytes + range.lowerBound, count: range.count), to: &text)
      return text
    }
  }
}

/// Writing parts of a page.
extension JSONDocument {
  /// Appends the node to `output` without the white space between its tokens; every number and
  /// string stays as the server wrote it. Runs without white space are copied at once.
  package func appendCompact(_ node: Int, to output: inout [UInt8]) {
    let range = range(of: node)
    index.withPointers { bytes, tape in
      output.append(
        contentsOf: UnsafeBufferPointer(start: bytes + range.lowerBound, count: range.count))
      // Most servers write no white space, and most items are done with one copy.
      guard JSONWord(bits: tape[node]).isSpaced else { return }
      let spaces = output.withUnsafeMutableBufferPointer { output in
        guard let end = output.baseAddress.map({ $0 + output.count }) else { return 0 }
        return range.count - Self.compact(node, bytes, tape, to: end - range.count)
      }
      output.removeLast(spaces)
    }
  }

  /// Writes a container, without white space between its tokens, to `output`, which has room for
  /// all of it. Returns the number of bytes written.
  private static func compact(
    _ node: Int, _ bytes: UnsafePointer<UInt8>, _ tape: UnsafePointer<UInt64>,
    to output: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let start = JSONWord(bits: tape[node]).offset
    let (next, end) = (Int(tape[node + 1] >> 32), Int(tape[node + 1] & 0xFFFF_FFFF))
    // The start of the run of bytes that is not yet written, the end of what was searched, the
    // number of bytes written, and the next word.
    var (run, position, written, index) = (start, start, 0, node)
    func look(through gap: Range<Int>) {
      for place in gap where bytes[place] <= 0x20 {
        (output + written).update(from: bytes + run, count: place - run)
        written += place - run
        run = place + 1
      }
    }
    while index < next {
      let word = JSONWord(bits: tape[index])
      if word.isContainer {
        look(through: position..<word.offset)
        position = word.offset + 1
        index += 2
      } else {
        let quote = word.kind.isString ? 1 : 0
        look(through: position..<word.offset - quote)
        position = word.offset + word.length + quote
        index += 1
      }
    }
    look(through: position..<end)
    (output + written).update(from: bytes + run, count: end - run)
    return written + end - run
  }
}

/// Flawed values, which cannot be read, in a page that can.
extension JSONDocument {
  /// Which unpaired surrogates in escapes are accepted: the grammar allows them (RFC 8259 section
  /// 8.2).
  enum Surrogates {
    case none
    /// Those in values, so that only reading their text fails, as in `JSONDecoder`. Not those in
    /// names, where the member could not be found.
    case inValues
    /// All, because the bytes are passed on unchanged.
    case all
  }

  /// Returns the first flawed value in `node` for which `isIt` is true, nil if there is none.
  ///
  /// The time is linear in the node, but constant on a page without flaws.
  func flaw(
    in node: Int, ignoring surrogates: Surrogates = .none, where isIt: (Int) -> Bool = { _ in true }
  ) -> Int? {
    guard hasFlaws else { return nil }
    var index = node
    let end = next(after: node)
    while index < end {
      let kind = word(at: index).kind
      if kind.isFlawed, kind != .surrogateString || !ignores(index, surrogates), isIt(index) {
        return index
      }
      index += kind.isContainer ? 2 : 1
    }
    return nil
  }

  /// Throws the error of the first flawed value in `node`, if there is one.
  func refuseFlaws(in node: Int, ignoring surrogates: Surrogates) throws {
    if let flaw = flaw(in: node, ignoring: surrogates) { throw flawError(at: flaw) }
  }

  private func ignores(_ node: Int, _ surrogates: Surrogates) -> Bool {
    switch surrogates {
    case .none: return false
    case .inValues:
      let next = bytes[range(of: node).upperBound...].first { $0 > 0x20 }
      return next != UInt8(ascii: ":")
    case .all: return true
    }
  }

  /// Returns the error that says why the flawed value at `node` cannot be read.
  func flawError(at node: Int) -> PageError {
    let word = word(at: node)
    let place = "at byte \(range(of: node).lowerBound)"
    switch word.kind {
    case .longNumber:
      return PageError(
        .limitExceeded,
        "The number \(place) has \(word.length) characters.",
        remedies: [.raise(.init("DecodingLimits.numberLength"))])
    case .surrogateString:
      return PageError(
        .malformed, "The string \(place) escapes half a surrogate pair, which is no character.")
    default:
      return PageError(.malformed, "The string \(place) is not valid UTF-8.")
    }
  }

  /// Returns the JSON pointer from `ancestor` to the value at `node`, or, if `node` is a name, to
  /// its value.
  func pointer(to node: Int, from ancestor: Int) -> String {
    var pointer = ""
    var place = ancestor
    while place < node, let (step, child) = child(of: place, around: node) {
      pointer += PagePath.pointer(to: step)
      place = child
    }
    return pointer
  }

  /// Returns the child of `container` that is `node`, contains it, or has it as its name.
  private func child(of container: Int, around node: Int) -> (step: String, node: Int)? {
    guard word(at: container).kind == .object else {
      return elements(of: container).enumerated().first { node < next(after: $0.element) }
        .map { (String($0.offset), $0.element) }
    }
    return names(of: container).first { node < next(after: $0 + 1) }
      .map { ((try? text(at: $0)) ?? "\u{FFFD}", $0 + 1) }
  }
}
