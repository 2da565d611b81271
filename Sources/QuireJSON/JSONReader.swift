import QuireCore
public import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A type that reads its members straight from the index of a page, without `Decodable`.
///
/// ```swift
/// struct Issue: JSONReadable {
///   let number: Int
///   let title: String
///   let body: String?
///
///   init(from json: inout JSONReader) throws {
///     number = try json.integer("number")
///     title = try json.string("title")
///     body = try json.stringIfPresent("body")
///   }
/// }
///
/// let issues = client.cursor(
///   at: address, pagination: .github, decoder: JSONReadablePageDecoder<Issue>())
/// ```
/// A `Decodable` type pays for looking up its decoder at run time for each member; this type does
/// not. Reading members in the page's order is fastest.
public protocol JSONReadable: Sendable {
  /// Reads a value.
  ///
  /// Throws what the reader throws, and errors of your own.
  init(from json: inout JSONReader) throws
}

/// A reader of one value of a page, and of its members if it is an object.
///
/// Names are compared byte by byte; if a name occurs twice, the first counts. A value that does not
/// fit throws the `DecodingError` that `JSONDecoder` would throw.
public struct JSONReader: ~Copyable {
  private let document: JSONDocument
  // SAFETY: lent by `document` for the call that reads the item. A reader cannot be copied and is
  // passed to a type only as `inout`, so that none is left when the call ends.
  private let bytes: UnsafePointer<UInt8>
  private let tape: UnsafePointer<UInt64>
  /// The node of the item, where coding paths start.
  private let item: Int
  private let node: Int
  /// The number of `JSONReadable` values around this one.
  private let depth: Int
  /// The progress through the names, and the node after the last.
  private var progress: JSONNameProgress
  private let end: Int

  private let notes: JSONReaderNotes

  fileprivate init(
    _ document: JSONDocument, _ bytes: UnsafePointer<UInt8>, _ tape: UnsafePointer<UInt64>,
    item: Int, node: Int, depth: Int = 0, _ notes: JSONReaderNotes
  ) {
    (self.bytes, self.tape) = (bytes, tape)
    self.depth = depth
    self.notes = notes
    self.document = document
    self.item = item
    self.node = node
    let isObject = JSONWord(bits: tape[node]).isKind(.object)
    progress = JSONNameProgress(from: node + 2)
    end = isObject ? Int(tape[node + 1] >> 32) : node
  }

  // MARK: Finding

  @inline(__always)
  private func word(at node: Int) -> JSONWord { JSONWord(bits: tape[node]) }

  /// Returns the value of a member, nil if there is none.
  private mutating func find(_ name: StaticString) -> Int? {
    let found = progress.find(
      name.utf8Start, name.utf8CodeUnitCount, from: node + 2, to: end, in: bytes, tape,
      byBytes: true)
    if found.needsTextComparison {
      let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
      return document.member(ofObject: node, withText: wanted)
    }
    return found.name < 0 ? nil : found.name + 1
  }

  @inline(__always)
  private mutating func member(_ name: StaticString) throws -> Int {
    guard let found = find(name) else { throw missing(name) }
    return found
  }

  /// Returns the value of a member, nil if there is none or it is null.
  @inline(__always)
  private mutating func present(_ name: StaticString) -> Int? {
    guard let found = find(name), !word(at: found).isKind(.null) else { return nil }
    return found
  }

  /// Whether there is a member of that name, even if it is null.
  public mutating func has(_ name: StaticString) -> Bool { find(name) != nil }

  // MARK: Values

  @inline(__always)
  private func string(at node: Int) throws -> String {
    let word = word(at: node)
    let text = UnsafeBufferPointer(start: bytes + word.offset, count: word.length)
    if word.isKind(.string) { return String(checkedUTF8: text, isASCII: true) }
    if word.isKind(.unicodeString) { return String(checkedUTF8: text, isASCII: false) }
    guard word.isKind(.escapedString) else { throw noText(node) }
    return JSONText.string(text)
  }

  @inline(__always)
  private func integer(at node: Int) throws -> Int {
    let word = word(at: node)
    if word.isKind(.number),
      let value = JSONNumber.integer(Int.self, bytes + word.offset, word.length)
    {
      return value
    }
    return try decoded(Int.self, at: node)
  }

  @inline(__always)
  private func double(at node: Int) throws -> Double {
    let word = word(at: node)
    if word.isKind(.number),
      let value = JSONNumber.float(Double.self, bytes + word.offset, word.length)
    {
      return value
    }
    return try decoded(Double.self, at: node)
  }

  @inline(__always)
  private func bool(at node: Int) throws -> Bool {
    let word = word(at: node)
    if word.isKind(.true) { return true }
    if word.isKind(.false) { return false }
    throw mismatch(Bool.self, node)
  }

  /// Reads the text of a member, which must be there and not null.
  public mutating func string(_ name: StaticString) throws -> String {
    try string(at: member(name))
  }

  /// Reads the text of a member; nil if there is none, and for null.
  public mutating func stringIfPresent(_ name: StaticString) throws -> String? {
    guard let node = present(name) else { return nil }
    return try string(at: node)
  }

  /// Reads the whole number of a member, which must be there and not null.
  public mutating func integer(_ name: StaticString) throws -> Int { try integer(at: member(name)) }

  /// Reads the whole number of a member; nil if there is none, and for null.
  public mutating func integerIfPresent(_ name: StaticString) throws -> Int? {
    guard let node = present(name) else { return nil }
    return try integer(at: node)
  }

  /// Reads the number of a member, which must be there and not null.
  public mutating func double(_ name: StaticString) throws -> Double {
    try double(at: member(name))
  }

  /// Reads the number of a member; nil if there is none, and for null.
  public mutating func doubleIfPresent(_ name: StaticString) throws -> Double? {
    guard let node = present(name) else { return nil }
    return try double(at: node)
  }

  /// Reads the truth value of a member, which must be there and not null.
  public mutating func bool(_ name: StaticString) throws -> Bool { try bool(at: member(name)) }

  /// Reads the truth value of a member; nil if there is none, and for null.
  public mutating func boolIfPresent(_ name: StaticString) throws -> Bool? {
    guard let node = present(name) else { return nil }
    return try bool(at: node)
  }

  // MARK: Types of yours

  /// Reads a member of a `JSONReadable` type, which must be there.
  public mutating func value<Value: JSONReadable>(
    _ name: StaticString, as type: Value.Type = Value.self
  ) throws -> Value {
    try read(type, at: member(name))
  }

  /// Reads a member of a `JSONReadable` type; nil if there is none, and for null.
  public mutating func valueIfPresent<Value: JSONReadable>(
    _ name: StaticString, as type: Value.Type = Value.self
  ) throws -> Value? {
    guard let node = present(name) else { return nil }
    return try read(type, at: node)
  }

  /// Reads a list of a `JSONReadable` type, which must be there and not null.
  public mutating func list<Value: JSONReadable>(
    _ name: StaticString, of type: Value.Type = Value.self
  ) throws -> [Value] {
    let list = try member(name)
    let word = word(at: list)
    guard word.isKind(.array) else { throw mismatch([Any].self, list) }
    // In place: this code is not specialized, and each `append` would look up the array's type.
    return try [Value](unsafeUninitializedCapacity: word.length) { values, count in
      var element = list + 2
      while count < word.length {
        values.initializeElement(at: count, to: try read(type, at: element))
        count += 1
        element = JSONWord.next(after: element, on: tape)
      }
    }
  }

  /// Reads a member of a `Decodable` type, such as a date, with the defaults of `JSONDecoder`.
  public mutating func decoded<Value: Decodable>(
    _ name: StaticString, as type: Value.Type = Value.self
  ) throws -> Value {
    try decoded(type, at: member(name))
  }

  private func read<Value: JSONReadable>(_ type: Value.Type, at node: Int) throws -> Value {
    guard depth < JSONItemContext.deepest else { throw DecodingError.tooDeep }
    var reader = JSONReader(
      document, bytes, tape, item: item, node: node, depth: depth + 1, notes)
    return try Value(from: &reader)
  }

  /// Reads the value itself, a scalar or of a `Decodable` type, with the defaults of `JSONDecoder`.
  public func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try decoded(type, at: node)
  }

  /// The settings of a `JSONDecoder` by default.
  private static let options = JSONDecodingOptions(JSONDecoder())

  @inline(never)
  private func decoded<Value: Decodable>(_ type: Value.Type, at node: Int) throws -> Value {
    guard let options = Self.options else {
      return try JSONDecoder().decode(type, at: node, in: document)
    }
    let (page, root, shared) = (document, item, notes)
    var context = JSONItemContext(page, options, item: root) {
      shared.keys(to: node, from: root, in: page)
    }
    do {
      defer { JSONItemContext.detachIfKept(&context) }
      return try context.decode(type, at: node)
    } catch {
      notes.unfitNumber = context.unfitNumber
      throw error
    }
  }

  // MARK: What does not fit

  @inline(never)
  private func missing(_ name: StaticString) -> DecodingError {
    guard word(at: node).isKind(.object) else { return mismatch([String: Any].self, node) }
    return .keyNotFound(
      JSONKey(name.description),
      .init(
        codingPath: notes.keys(to: node, from: item, in: document),
        debugDescription: "No value associated with key \(name)."))
  }

  /// Returns the error for a value that is not a string, or for text that no `String` can hold.
  @inline(never)
  private func noText(_ node: Int) -> any Error {
    if word(at: node).kind.isString { return document.flawError(at: node) }
    return mismatch(String.self, node)
  }

  @inline(never)
  private func mismatch(_ type: Any.Type, _ node: Int) -> DecodingError {
    let path = notes.keys(to: node, from: item, in: document)
    let kind = word(at: node).kind
    return kind == .null && type != Bool.self
      ? .null("value of type \(type)", type, at: path) : .mismatch(type, found: kind, at: path)
  }
}

/// The state that the readers of one page share. Used by one task at a time.
final class JSONReaderNotes {
  /// The node of the number that did not fit its type: its error has no path to it.
  var unfitNumber: Int?
  /// The steps to the last value that had an error. A type may catch errors and read on, so the
  /// search for the next value starts there.
  private var way: [JSONDocument.Step] = []

  func keys(to node: Int, from item: Int, in document: JSONDocument) -> [any CodingKey] {
    document.keys(to: node, from: item, along: &way)
  }
}

/// A decoder of JSON pages into items that read themselves from the index.
public struct JSONReadablePageDecoder<Item: JSONReadable>: PageDecoder {
  /// Creates a decoder of pages, which has no settings.
  public init() {}

  /// Whether a page shows where it ends: true, because a document that is not closed is an error.
  public var isSelfDelimiting: Bool { true }

  /// Decodes a body that is one value, with a default `JSONDecoder`.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try JSONBody.decode(type, from: body, context, JSONDecoder())
  }

  /// Begins to decode one page.
  public func begin(_ context: DecodingContext) -> any PageDecoding<Item> {
    JSONPageDecoding(
      context,
      .init { document in
        let notes = JSONReaderNotes()
        return { node in
          notes.unfitNumber = nil
          do {
            return try document.index.withPointers { bytes, tape in
              var reader = JSONReader(document, bytes, tape, item: node, node: node, notes)
              return try Item(from: &reader)
            }
          } catch let error as DecodingError {
            throw error.located(
              in: document, node, by: .useDefaultKeys, unfitNumber: notes.unfitNumber)
          }
        }
      })
  }
}

extension JSONReadablePageDecoder: FieldDecoder {
  package func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    try JSONItemReader(JSONDecoder()).field(type, at: path, in: document)
  }
}
