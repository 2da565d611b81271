import QuireCore

/// Items that are no elements of an array.
extension JSONDocument {
  /// A document in which the items are the elements of lists, and those lists: this one where that
  /// is what they are.
  ///
  /// Throws as `lists(of:)` does, and `limitExceeded` for columns whose names make the items many
  /// times as large as the page. Copies the items where it makes a document of its own.
  func arranged(
    for selector: ItemSelector, limits: DecodingLimits = .api
  ) throws -> (document: JSONDocument, lists: [Int]) {
    var composer = ItemComposer(self, limits)
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

  private func addMatches(of selector: ItemSelector, to composer: inout ItemComposer) throws {
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

/// Writes items one behind the other, as an array of its own.
private struct ItemComposer {
  /// Names are repeated with each row: no honest table grows by more.
  private static let growth = 64

  private let source: JSONDocument
  private let limits: DecodingLimits
  private var output: [UInt8] = [UInt8(ascii: "[")]
  private var count = 0

  init(_ source: JSONDocument, _ limits: DecodingLimits) {
    self.source = source
    self.limits = limits
  }

  /// What was written, read.
  consuming func document() throws -> JSONDocument {
    output.append(UInt8(ascii: "]"))
    // The page was within its depth, and an item is within an array and an object more.
    var limits = limits
    limits.depth = limits.depth.plus(2)
    return try JSONDocument(output, limits: limits)
  }

  /// A list's elements; nothing for null; anything else as one item.
  mutating func addValues(at node: Int) throws {
    switch source.word(at: node).kind {
    case .null: break
    case .array:
      for element in source.elements(of: node) { try addItem { $0.copy(element) } }
    default: try addItem { $0.copy(node) }
    }
  }

  /// Each member as `{"name": …, "value": …}`.
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

  /// A table that is an object of columns: each row as an object.
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
    if count > 0 { output.append(UInt8(ascii: ",")) }
    count += 1
    try write(&self)
    guard output.count / Self.growth <= source.end + (1 << 10) else {
      throw PageError(
        .limitExceeded,
        "The rows of the table are more than \(Self.growth) times as large as the page of "
          + "\(source.end) bytes: the names of its columns are too long.")
    }
  }

  private mutating func copy(_ node: Int) { output += source.bytes[source.range(of: node)] }

  private mutating func write(_ text: String) { output += text.utf8 }
}
