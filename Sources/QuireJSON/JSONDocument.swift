public import QuireCore
public import QuirePagination

/// A page of JSON: checked from end to end, indexed once, and asked without loss.
///
/// The page must be one RFC 8259 value in UTF-8. A byte order mark and the guards that some servers
/// put before JSON (`)]}'` and a line end, `while(1);`, `for(;;);`) are skipped. Text that no
/// string can hold (bytes that are no UTF-8, half a surrogate pair) and numbers beyond
/// `DecodingLimits.numberLength` cost only the reader of that value, so that one bad item need
/// not cost its page. Building takes one pass without recursion and keeps the bytes plus eight
/// bytes a value; names are compared byte by byte, never normalized.
public struct JSONDocument: PageDocument {
  /// One reference, so that handing a document or an item on costs no copy and no memory.
  let index: JSONIndex

  var bytes: [UInt8] { index.bytes }
  var end: Int { index.end }
  var tape: [UInt64] { index.tape }
  var hasFlaws: Bool { index.hasFlaws }
  /// Whether this is a page as it came, whose bytes can be counted in messages; false for one that was
  /// composed of parts of another.
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

  /// As above, of a page with its padding behind it; `shift` says where bytes were taken out of the page, and
  /// how many.
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
    // Without any, the array would be the one that all empty arrays of the process share, and its
    // count written by all of them.
    let capacity = max(1, JSONScanner.wordCapacity(for: end - start, limits: limits))
    let tape = bytes.withUnsafeBufferPointer { page in
      [UInt64](unsafeUninitializedCapacity: capacity) { words, used in
        // Neither is empty: the page has its padding.
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

  /// The envelope of a page, of whose items only the last is left.
  func forgetting(_ count: Int, of items: Pagination.Items) throws -> JSONDocument {
    guard let path = items.paths.first, case .node(let list) = try find(path) else { return self }
    var document = JSONDocument(
      JSONIndex(
        bytes: bytes, end: end, tape: tape, hasFlaws: hasFlaws, limits: index.limits,
        forgotten: (list, count)))
    document.isPage = false
    return document
  }

  /// The page `null`, which stands for a value that is missing.
  static let null = JSONDocument(
    JSONIndex(
      bytes: Array("null".utf8) + repeatElement(0, count: JSONScanner.padding), end: 4,
      tape: [JSONWord(.null, at: 0, length: 4).bits], hasFlaws: false, limits: .api))

  /// The value at `path`, or nil where there is none. An explicit null is `.null`.
  ///
  /// Throws `shape` when a name on the way occurs twice in its object, `malformed` when the value
  /// holds text that is no Unicode, `limitExceeded` when it holds a number beyond the limit. A step
  /// costs time linear in the members or elements it passes.
  public func value(at path: PagePath) throws -> JSONValue? {
    guard case .node(let node) = try find(path) else { return nil }
    return try value(of: node)
  }

  /// How many elements or members the container at `path` has; 1 for a scalar, 0 for an explicit
  /// null, nil where there is nothing.
  ///
  /// Throws `shape` when a name on the way occurs twice in its object.
  public func count(at path: PagePath) throws -> Int? {
    guard case .node(let node) = try find(path) else { return nil }
    return count(of: node)
  }

  private func count(of node: Int) -> Int {
    if let forgotten = index.forgotten, forgotten.list == node { return forgotten.count }
    let word = word(at: node)
    return word.kind.isContainer ? word.length : word.kind == .null ? 0 : 1
  }

  /// The value at `path` that the page says of itself: `*` looks into no item. Throws as `value(at:)`.
  public func value(
    at path: PagePath, outsideItemsOf items: Pagination.Items
  ) throws -> JSONValue? {
    guard case .node(let node) = try find(path, outsideItemsOf: items) else { return nil }
    return try value(of: node)
  }

  /// As `count(at:)`; `*` looks into no item.
  public func count(at path: PagePath, outsideItemsOf items: Pagination.Items) throws -> Int? {
    guard case .node(let node) = try find(path, outsideItemsOf: items) else { return nil }
    return count(of: node)
  }

  /// The value at `path` below the last item of the page, or nil where there is none.
  ///
  /// Throws as `value(at:)` does, and `shape` when the items are not where `items` says.
  public func value(at path: PagePath, inLastItemOf items: Pagination.Items) throws -> JSONValue? {
    let (page, lists) = try arranged(for: items)
    guard let list = lists.last(where: { page.word(at: $0).length > 0 }),
      let item = page.element(of: list, at: page.word(at: list).length - 1),
      case .node(let node) = try page.find(path, from: item)
    else { return nil }
    return try page.value(of: node)
  }

  /// The value at `path` below each item of the page, in order; nil for an item that has none there.
  ///
  /// Throws as `value(at:inLastItemOf:)` does.
  public func values(at path: PagePath, inItemsOf items: Pagination.Items) throws -> [JSONValue?] {
    let (page, lists) = try arranged(for: items)
    return try lists.flatMap { Array(page.elements(of: $0)) }.map { item in
      guard case .node(let node) = try page.find(path, from: item) else { return nil }
      return try page.value(of: node)
    }
  }
}

/// A page and what was found in it.
final class JSONIndex: Sendable {
  /// The page as it came, and zeros behind it.
  let bytes: [UInt8]
  /// Where the page ends in `bytes`.
  let end: Int
  /// See `JSONWord`.
  let tape: [UInt64]
  /// Whether any value on the tape is flawed.
  let hasFlaws: Bool
  /// What the page may cost, and items that are composed of its parts.
  let limits: DecodingLimits

  /// The list of the items, and how many it had, where they were delivered as they arrived.
  let forgotten: (list: Int, count: Int)?

  init(
    bytes: [UInt8], end: Int, tape: [UInt64], hasFlaws: Bool, limits: DecodingLimits,
    forgotten: (list: Int, count: Int)? = nil
  ) {
    self.forgotten = forgotten
    self.limits = limits
    self.bytes = bytes
    self.end = end
    self.tape = tape
    self.hasFlaws = hasFlaws
  }

  /// The page's bytes and its tape.
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

  /// The node behind `node` and everything in it.
  func next(after node: Int) -> Int {
    word(at: node).isContainer ? Int(tape[node + 1] >> 32) : node + 1
  }

  /// Where the value stands in the page, brackets and quotes included.
  func range(of node: Int) -> Range<Int> {
    let word = word(at: node)
    if word.isContainer { return word.offset..<Int(tape[node + 1] & 0xFFFF_FFFF) }
    if word.kind.isString { return word.offset - 1..<word.offset + word.length + 1 }
    return word.content
  }

  /// The element at `index`, found by walking over those before it; nil beyond the end.
  func element(of array: Int, at index: Int) -> Int? {
    guard word(at: array).kind == .array, 0..<word(at: array).length ~= index else { return nil }
    var node = array + 2
    for _ in 0..<index { node = next(after: node) }
    return node
  }

  /// The elements of an array, in order; of anything else none.
  func elements(of array: Int) -> Children { children(of: array, .array, stride: .element) }

  /// The names of an object, in order, of anything else none; the value of the name at `n` is the node
  /// `n + 1`.
  func names(of object: Int) -> Children { children(of: object, .object, stride: .member) }

  /// A scalar's length counts its bytes: taken for a number of children, it would lead off the tape.
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

/// From the tape to values.
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

  /// A value is released by recursion: one that is deeper than a thread's stack would end the program.
  private static let deepestValue = 4096

  /// The node and everything in it; of members with the same name, all are kept, in order.
  ///
  /// Throws as `scalar(at:)` does, and `limitExceeded` for what nests deeper than any value may.
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

  /// The text of a string or a name.
  ///
  /// Throws `malformed` when no text can hold it.
  func text(at node: Int) throws -> String {
    let word = word(at: node)
    if word.kind == .surrogateString || word.kind == .invalidString { throw flawError(at: node) }
    return index.withPointers { bytes, _ in
      let text = UnsafeBufferPointer(start: bytes + word.offset, count: word.length)
      return word.isKind(.escapedString)
        ? JSONEscapes.text(of: text) : String(checkedUTF8: text, isASCII: word.isKind(.string))
    }
  }

  /// The text between quotes with its escapes resolved, as UTF-8. The scanner has checked them.
  func unescaped(_ range: Range<Int>) -> [UInt8] {
    index.withPointers { bytes, _ in
      [UInt8](unsafeUninitializedCapacity: range.count) { output, count in
        guard let start = output.baseAddress else { return }
        count = JSONEscapes.resolve(bytes + range.lowerBound, range.count, into: start).count
      }
    }
  }
}

/// Writing parts of a page again.
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

  /// Writes a container without white space between its tokens to `output`, which has room for all of it;
  /// returns how many bytes it wrote.
  private static func compact(
    _ node: Int, _ bytes: UnsafePointer<UInt8>, _ tape: UnsafePointer<UInt64>,
    to output: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let start = JSONWord(bits: tape[node]).offset
    let (next, end) = (Int(tape[node + 1] >> 32), Int(tape[node + 1] & 0xFFFF_FFFF))
    // A run of bytes without white space, up to what was looked at.
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

/// Values that cannot be read, in a page that can.
extension JSONDocument {
  /// Which halves of escaped surrogate pairs are no flaws: the grammar allows them (RFC 8259 section 8.2).
  enum Surrogates {
    case none
    /// Those in values, which cost only what reads them, as in `JSONDecoder`. Without a name, a member may be lost.
    case inValues
    /// All, in bytes that are passed on as they are.
    case all
  }

  /// The first flawed value in `node`, nil when there is none.
  ///
  /// Linear in the node, but free on a page without any flaw.
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

  private func ignores(_ node: Int, _ surrogates: Surrogates) -> Bool {
    switch surrogates {
    case .none: return false
    case .inValues:
      let next = bytes[range(of: node).upperBound...].first { $0 > 0x20 }
      return next != UInt8(ascii: ":")
    case .all: return true
    }
  }

  /// Why the flawed value at `node` cannot be read.
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

  /// The pointer that leads from `ancestor` down to the value at `node`; of a name, to its value.
  func pointer(to node: Int, from ancestor: Int) -> String {
    var pointer = ""
    var place = ancestor
    while place < node, let (step, child) = child(of: place, around: node) {
      pointer += PagePath.pointer(to: step)
      place = child
    }
    return pointer
  }

  /// The child of `container` that `node` is, lies in or names.
  private func child(of container: Int, around node: Int) -> (step: String, node: Int)? {
    guard word(at: container).kind == .object else {
      return elements(of: container).enumerated().first { node < next(after: $0.element) }
        .map { (String($0.offset), $0.element) }
    }
    return names(of: container).first { node < next(after: $0 + 1) }
      .map { ((try? text(at: $0)) ?? "\u{FFFD}", $0 + 1) }
  }
}
