import QuireCore
import QuirePagination

/// Finding the items.
extension JSONDocument {
  /// Returns the arrays that hold the page's items, in order; none for an empty page. With the
  /// `kind` `.object`, returns objects instead. Where the selector admits one item in place of a
  /// list, returns that value as well.
  ///
  /// Throws `shape` when the arrays are missing or null and not optional, or another kind of value
  /// is in their place.
  func lists(
    of selector: Pagination.Items, kind wanted: JSONWord.Kind = .array
  ) throws -> [Int] {
    var arrays: [Int] = []
    var nullPath: PagePath?
    var misfit: PageError?
    for path in selector.paths {
      switch try find(path) {
      case .node(let node):
        switch word(at: node).kind {
        case wanted: arrays.append(node)
        case .null: nullPath = nullPath ?? path
        case _ where wanted == .array && selector.admitsOne: arrays.append(node)
        default: misfit = misfit ?? self.misfit(node, at: path, wanted: wanted)
        }
      case .absent(let parent):
        if selector.absentMeansEmpty, !canLackItems(parent, path) {
          misfit = misfit ?? missing(selector)
        }
      }
    }
    if selector.takesFirst {
      if let full = arrays.first(where: { isFilled($0, wanted) }) { return [full] }
      if !arrays.isEmpty { return [] }
    }
    if let misfit { throw misfit }
    guard !arrays.isEmpty || selector.absentMeansEmpty else {
      throw nullPath.map { null(at: $0, selector) } ?? missing(selector)
    }
    return arrays
  }

  /// Whether the server may have left out an empty list below `node`: an object without the member,
  /// or an array too short for the index. Any other value means that the page does not fit the
  /// description.
  private func canLackItems(_ node: Int, _ path: PagePath) -> Bool {
    switch word(at: node).kind {
    case .object, .null: true
    case .array:
      if case .name(let name)? = path.steps.last {
        PagePath.index(name) != nil && word(at: node).length > 0
      } else {
        false
      }
    default: false
    }
  }

  /// Whether a list has elements; true for one item in place of a list.
  private func isFilled(_ node: Int, _ wanted: JSONWord.Kind) -> Bool {
    word(at: node).kind != wanted || word(at: node).length > 0
  }

  /// Returns a digest of the bytes of values, as the server wrote them, the same in every process.
  func digest(of nodes: some Sequence<Int>) -> Int {
    var digest = ContentDigest.stored
    bytes.withUnsafeBytes { bytes in
      for node in nodes { digest.add(UnsafeRawBufferPointer(rebasing: bytes[range(of: node)])) }
    }
    return digest.value
  }

  private func misfit(_ node: Int, at path: PagePath, wanted: JSONWord.Kind) -> PageError {
    let found =
      switch word(at: node).kind {
      case .object: "an object"
      case .array: "an array"
      case .true, .false: "a truth value"
      case .number, .longNumber: "a number"
      default: "a string"
      }
    let sentence =
      "The items should be the \(wanted == .array ? "array" : "object") at \(path.place), but "
      + "\(found) is there."
    if let words = outline.failureWords, words.isError {
      return PageError(.shape, "\(sentence) \(words.sentence)")
    }
    return PageError(
      .shape, "\(sentence)\(wanted == .array ? " " + foundArrays : "")",
      remedies: wanted == .array
        ? [itemsRemedy].compactMap(\.self) + remedies(forObject: node, at: path) : [Remedy(.items)])
  }

  /// Returns remedies for the two possible meanings of an object in place of a list.
  private func remedies(forObject node: Int, at path: PagePath) -> [Remedy] {
    guard word(at: node).kind == .object, !path.text.isEmpty else { return [] }
    return [
      Remedy(.items, ["members:\(path)"], condition: "if each of its members is an item"),
      Remedy(.items, ["oneOrMany:\(path)"], condition: "if it is an item without a list"),
    ]
  }

  func missing(_ selector: Pagination.Items) -> PageError {
    let paths = selector.paths.map(\.place).joined(separator: " or ")
    let sentence = "The page has no items at \(paths)."
    let words = outline.failureWords
    // The page reports an error: it did not leave out an empty list, and the arrays in it hold no
    // items.
    if let words, words.isError { return PageError(.shape, "\(sentence) \(words.sentence)") }
    let arrays = words == nil || !outline.listsNearRoot.isEmpty ? foundArrays : nil
    let said = [words?.sentence, arrays].compactMap(\.self).joined(separator: " ")
    return PageError(
      .shape, "\(sentence) \(said)",
      remedies: [itemsRemedy].compactMap(\.self) + [
        .optional(selector, condition: "for a server that leaves an empty list out")
      ])
  }

  /// Returns the error for null in place of the items, which some servers write for an empty list,
  /// and others when they could not read their data.
  func null(at path: PagePath, _ selector: Pagination.Items) -> PageError {
    let sentence = "The page has null in place of the items at \(path.place)"
    if let words = outline.failureWords, words.isError {
      return PageError(.shape, "\(sentence). \(words.sentence)")
    }
    return PageError(
      .shape, "\(sentence): that may be an empty list, or data that could not be had.",
      remedies: [.optional(selector, condition: "for a server that writes an empty list so")])
  }

  // MARK: Advice

  /// A sentence that names the arrays near the root, one of which may hold the items.
  private var foundArrays: String {
    if word(at: 0).kind == .array { return "The page itself is an array." }
    let paths = outline.listsNearRoot.map { ServerText($0.path).description }
    return paths.isEmpty
      ? "There is no array near the root."
      : "Found arrays at \(paths.joined(separator: ", "))."
  }

  private var itemsRemedy: Remedy? {
    if word(at: 0).kind == .array { return Remedy(.items, [""]) }
    // Longest first: an array beside the items, such as the headers of a table, is shorter.
    return .items(at: outline.listsNearRoot.sorted { $0.count > $1.count }.map(\.path))
  }
}

/// Items that are not elements of an array.
extension JSONDocument {
  /// Returns a document in which the items are elements of lists, and those lists: this document if
  /// they are already, otherwise a new one with copies of the items.
  ///
  /// Throws as `lists(of:)` does, and `limitExceeded` for more or larger items than the limits
  /// allow, and for columns whose names make the items many times as large as the page.
  func arranged(for selector: Pagination.Items) throws -> (document: JSONDocument, lists: [Int]) {
    var composer = ItemComposer(self)
    switch selector.arrangement {
    case .lists:
      let found = try lists(of: selector)
      guard selector.admitsOne, found.contains(where: { word(at: $0).kind != .array }) else {
        return (self, found)
      }
      for node in found { try composer.addValues(at: node) }
    case .matches: try addMatches(of: selector, to: &composer)
    case .members:
      for object in try lists(of: selector, kind: .object) { try composer.addMembers(of: object) }
    case .columns:
      for object in try lists(of: selector, kind: .object) { try composer.addRows(of: object) }
    }
    return (try composer.document(), [0])
  }

  private func addMatches(of selector: Pagination.Items, to composer: inout ItemComposer) throws {
    var isThere = selector.absentMeansEmpty
    var nullPath: PagePath?
    for path in selector.paths {
      guard let nodes = try findAll(path) else { continue }
      if !nodes.isEmpty, nodes.allSatisfy({ word(at: $0).kind == .null }) {
        nullPath = nullPath ?? path
        continue
      }
      isThere = true
      for node in nodes { try composer.addValues(at: node) }
      if selector.takesFirst, !nodes.isEmpty { break }
    }
    guard isThere else { throw nullPath.map { null(at: $0, selector) } ?? missing(selector) }
  }
}

/// A writer that copies items, one after another, into a new array.
private struct ItemComposer {
  private let source: JSONDocument
  private var output: [UInt8] = [UInt8(ascii: "[")]
  private var count = 0

  init(_ source: JSONDocument) { self.source = source }

  private var limits: DecodingLimits { source.index.limits }

  /// Returns the written items as a document.
  consuming func document() throws -> JSONDocument {
    output.append(UInt8(ascii: "]"))
    // The page kept within its depth; the new document adds an array and an object around a value.
    var limits = limits
    limits.depth = limits.depth.plus(2)
    var document = try JSONDocument(output, limits: limits)
    document.isPage = false
    return document
  }

  /// Adds the elements of a list; nothing for null; any other value as one item.
  mutating func addValues(at node: Int) throws {
    switch source.word(at: node).kind {
    case .null: break
    case .array:
      for element in source.elements(of: node) { try addItem { $0.copy(element) } }
    default: try addItem { $0.copy(node) }
    }
  }

  /// Adds each member as an item `{"name": …, "value": …}`.
  mutating func addMembers(of object: Int) throws {
    for name in source.names(of: object) {
      try addItem {
        $0.write("{\"name\":")
        $0.copy(name)
        $0.write(",\"value\":")
        $0.copy(name + 1)
        $0.write("}")
      }
    }
  }

  /// Adds each row of a table, which is an object of columns, as an object.
  ///
  /// Throws `shape` if a column is not a list, or is not as long as the first.
  mutating func addRows(of object: Int) throws {
    let names = Array(source.names(of: object))
    var columns: [JSONDocument.Children] = []
    for name in names {
      guard source.word(at: name + 1).kind == .array else {
        throw misfit("\(ServerText(try source.text(at: name), limit: 100)) is no list")
      }
      columns.append(source.elements(of: name + 1))
    }
    let rows = columns.first?.left ?? 0
    for (name, column) in zip(names, columns) where column.left != rows {
      throw misfit(
        "\(ServerText(try source.text(at: name), limit: 100)) has \(column.left) values, and the "
          + "first column \(rows)")
    }
    for _ in 0..<rows {
      try addItem { composer in
        for index in columns.indices {
          composer.write(index == 0 ? "{" : ",")
          composer.copy(names[index])
          composer.write(":")
          if let value = columns[index].next() { composer.copy(value) }
        }
        composer.write("}")
      }
    }
  }

  private func misfit(_ what: String) -> PageError {
    PageError(
      .shape,
      "The items should be the rows of a table that is written by columns, but \(what)."
    )
  }

  private mutating func addItem(_ write: (inout ItemComposer) throws -> Void) throws {
    guard count < limits.items else { throw limits.tooManyItems() }
    if count > 0 { output.append(UInt8(ascii: ",")) }
    let start = output.count
    try write(&self)
    let size = output.count - start
    guard size <= limits.itemBytes else { throw limits.tooLarge(item: count, bytes: size) }
    count += 1
    try DecodingLimits.checkGrowth(toBytes: output.count, of: source.end)
  }

  private mutating func copy(_ node: Int) { output += source.bytes[source.range(of: node)] }

  private mutating func write(_ text: String) { output += text.utf8 }
}

/// Following paths.
extension JSONDocument {
  enum Lookup {
    case node(Int)
    /// There is no value at the path; `parent` is the last node that was reached.
    case absent(parent: Int)

    /// The node of the value; nil if there is none.
    var node: Int? { if case .node(let node) = self { node } else { nil } }
  }

  /// Follows `path` from the node `start`, by default the root.
  ///
  /// Throws `shape` when a name on the path occurs twice in its object.
  func find(_ path: PagePath, from start: Int = 0) throws -> Lookup {
    try find(path.steps[...], from: start, in: path, outside: [])
  }

  /// Follows `path` from the root of the page; after a `*` step it does not enter items.
  func find(_ path: PagePath, outsideItemsOf selector: Pagination.Items) throws -> Lookup {
    guard path.steps.contains(.each) else { return try find(path) }
    return try find(path.steps[...], from: 0, in: path, outside: itemNodes(of: selector))
  }

  private func find(
    _ steps: ArraySlice<PagePath.Step>, from start: Int, in path: PagePath,
    outside items: Set<Int>
  ) throws -> Lookup {
    var node = start
    for (index, step) in zip(steps.indices, steps) {
      if step == .each {
        let rest = steps[(index + 1)...]
        for child in children(of: node) where rest.isEmpty || !items.contains(child) {
          let found = try find(rest, from: child, in: path, outside: items)
          if case .node = found { return found }
        }
        return .absent(parent: node)
      }
      guard let child = try child(of: node, at: step, in: path) else {
        return .absent(parent: node)
      }
      node = child
      if index + 1 < steps.endIndex, path.steps[..<index].contains(.each), items.contains(node) {
        return .absent(parent: node)
      }
    }
    return .node(node)
  }

  private func elementsOrItself(_ node: Int) -> [Int] {
    word(at: node).kind == .array ? Array(elements(of: node)) : [node]
  }

  /// Returns the nodes of the page's items; none if the page does not fit the selector.
  private func itemNodes(of selector: Pagination.Items) -> Set<Int> {
    switch selector.arrangement {
    case .lists: Set(((try? lists(of: selector)) ?? []).flatMap(elementsOrItself))
    case .matches:
      Set(selector.paths.flatMap { (try? findAll($0)) ?? [] }.flatMap(elementsOrItself))
    case .members, .columns:
      Set(((try? lists(of: selector, kind: .object)) ?? []).flatMap { children(of: $0) })
    }
  }

  /// Returns every node that `path` leads to, in order; nil if there is none and no `*` of the path
  /// reached a list or an object. An empty result thus means an empty container.
  func findAll(_ path: PagePath) throws -> [Int]? {
    var nodes = [0]
    var hasContainer = false
    for step in path.steps {
      if step == .each {
        hasContainer = hasContainer || nodes.contains { word(at: $0).kind.isContainer }
        nodes = nodes.flatMap { children(of: $0) }
      } else {
        nodes = try nodes.compactMap { try child(of: $0, at: step, in: path) }
      }
    }
    return hasContainer || !nodes.isEmpty ? nodes : nil
  }

  /// Returns the elements of an array or the values of an object's members; none for a scalar.
  private func children(of node: Int) -> [Int] {
    switch word(at: node).kind {
    case .array: Array(elements(of: node))
    case .object: names(of: node).map { $0 + 1 }
    default: []
    }
  }

  private func child(of node: Int, at step: PagePath.Step, in path: PagePath) throws -> Int? {
    let word = word(at: node)
    switch (step, word.kind) {
    case (.name(let name), .object): return try member(named: name, of: node)
    case (.name(let name), .array):
      return PagePath.index(name).flatMap { element(of: node, at: $0) }
    case (.last, .array): return word.length == 0 ? nil : element(of: node, at: word.length - 1)
    case (.last, .object): return try member(named: "-1", of: node)
    case (.filter(let name, let value), .array):
      return try elements(of: node).first { try matches($0, name, value) }
    default: return nil
    }
  }

  /// Returns the value of the member called `name`, nil if there is none.
  ///
  /// Throws `shape` if there are two: parsers disagree about which one counts.
  func member(named name: String, of object: Int) throws -> Int? {
    let wanted = Array(name.utf8)
    var found: Int?
    for candidate in names(of: object) where has(candidate, text: wanted) {
      guard found == nil else { throw duplicate(candidate, in: object) }
      found = candidate
    }
    return found.map { $0 + 1 }
  }

  /// Whether `node` is an object whose member `name` is `value`, or is an array that contains it.
  private func matches(_ node: Int, _ name: String, _ value: String) throws -> Bool {
    guard word(at: node).kind == .object, let member = try member(named: name, of: node) else {
      return false
    }
    let wanted = Array(value.utf8)
    let isRelation = name == "rel"
    guard word(at: member).kind == .array else {
      return has(member, text: wanted) || isRelation && hasRelation(member, wanted)
    }
    return elements(of: member).contains {
      has($0, text: wanted) || isRelation && hasRelation($0, wanted)
    }
  }

  /// Whether the node is a string that names the relation; registered ones are compared without
  /// case (RFC 8288, section 2.1.1).
  private func hasRelation(_ node: Int, _ wanted: [UInt8]) -> Bool {
    let word = word(at: node)
    guard word.kind == .string else { return false }
    func lowercased(_ byte: UInt8) -> UInt8 {
      (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
    return bytes[word.content].elementsEqual(wanted) { lowercased($0) == lowercased($1) }
  }

  /// Whether the node is a string equal to `text`, or a number or literal spelled so.
  func has(_ node: Int, text: [UInt8]) -> Bool {
    let word = word(at: node)
    switch word.kind {
    case .array, .object, .surrogateString, .invalidString: return false
    case .escapedString:
      // An escape is at least as long as the character it stands for, so the content is shorter.
      return word.length > text.count && unescaped(word.content) == text
    default: return word.length == text.count && bytes[word.content].elementsEqual(text)
    }
  }

  func duplicate(_ name: Int, in object: Int) -> PageError {
    let written = bytes[range(of: name)]
    let text = ServerText(bytes: written, limit: 128)
    return PageError(
      .shape,
      """
      The name \(text) occurs twice in the object at byte \(word(at: object).offset), again at byte \
      \(range(of: name).lowerBound); which of the two counts cannot be known.
      """)
  }
}
