package import QuireCore
public import QuirePagination

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A decoder of JSON pages into items of your types, with the settings of a `JSONDecoder`.
///
/// The page is checked and indexed once by `JSONDocument`, and items are made straight from the
/// index, with the values and errors that the `JSONDecoder` would give, but without running it. Its
/// strategies for dates, data, keys and floating-point numbers, your closures included, and its
/// `userInfo` are read for each page and apply exactly. If a name occurs twice in an item, the
/// first counts. A `JSONValue` in an item keeps the server's text. Half a surrogate pair fails an
/// item only if its type reads that text; invalid UTF-8 always fails it.
///
/// A subclass of `JSONDecoder` may do more than these settings say: with one, Foundation itself
/// decodes, at its own speed, and a `JSONValue` does not keep its text.
public struct JSONPageDecoder<Item: Decodable & Sendable>: PageDecoder {
  let decoder: JSONDecoder

  /// Creates a decoder of pages. `decoder` has the strategies for dates, data and keys, by default
  /// those of Foundation. Do not change it once pages are being decoded.
  public init(decoder: JSONDecoder = JSONDecoder()) {
    self.decoder = decoder
  }

  /// Whether a page shows where it ends: true, because a document that is not closed is an error.
  public var isSelfDelimiting: Bool { true }

  /// Decodes a body that is one value, with the same `JSONDecoder`.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try JSONBody.decode(type, from: body, context, decoder)
  }

  /// Begins to decode one page.
  public func begin(_ context: DecodingContext) -> any PageDecoding<Item> {
    let reader = JSONItemReader(decoder)
    return JSONPageDecoding(context, .init { reader.values(Item.self, of: $0) })
  }
}

extension JSONPageDecoder: FieldDecoder {
  package func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    try JSONItemReader(decoder).field(type, at: path, in: document)
  }
}

extension JSONRawPageDecoder: FieldDecoder {
  package func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    try JSONItemReader(JSONDecoder()).field(type, at: path, in: document)
  }
}

extension JSONRawPageDecoder {
  /// Decodes a body that is one value, with a default `JSONDecoder`.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try JSONBody.decode(type, from: body, context, JSONDecoder())
  }
}

/// A body of JSON that is one value.
enum JSONBody {
  static func decode<Value: Decodable>(
    _ type: Value.Type, from body: [UInt8], _ context: DecodingContext, _ decoder: JSONDecoder
  ) throws -> Value {
    try JSONMediaType.check(body, contentType: context.contentType)
    _ = try JSONDocument(body, limits: context.limits)
    return try SingleValue.decode(type, from: body, by: decoder)
  }
}

/// A decoder of JSON pages into items as the server wrote them, for export and for items that fit
/// no type.
public struct JSONRawPageDecoder: PageDecoder {
  /// Creates a decoder of pages, which has no settings.
  public init() {}

  /// Whether a page shows where it ends: true, because a document that is not closed is an error.
  public var isSelfDelimiting: Bool { true }

  /// Begins to decode one page.
  public func begin(_ context: DecodingContext) -> any PageDecoding<RawItem> {
    JSONPageDecoding(
      context,
      .init(surrogates: .all) { document in { RawItem(document, node: $0) } })
  }
}

extension ClosurePageDecoder {
  /// Creates a decoder of JSON pages that makes each item with `decode`.
  public init(_ decode: @escaping @Sendable (RawItem) throws -> Item) {
    self.init(JSONRawPageDecoder(), decode)
  }
}

extension RawItem {
  /// Creates an item from a JSON text of your own.
  ///
  /// Throws as `JSONDocument.init` does.
  public init(_ bytes: [UInt8], limits: DecodingLimits = .api) throws {
    self.init(try JSONDocument(bytes, limits: limits), node: 0)
  }
}

extension JSONDocument: RawItemStorage {
  package func bytes(of node: Int) -> ArraySlice<UInt8> { bytes[range(of: node)] }

  package func value(at path: PagePath, of node: Int) throws -> JSONValue? {
    try find(path, from: node).node.map { try value(of: $0) }
  }

  package func compact(at path: PagePath, of node: Int) throws -> [UInt8]? {
    guard let found = try find(path, from: node).node else { return nil }
    var text: [UInt8] = []
    appendCompact(found, to: &text)
    return text
  }

  package func members(of node: Int) -> [(name: String, node: Int)]? {
    guard word(at: node).kind == .object else { return nil }
    return names(of: node).map { name -> (name: String, node: Int) in
      let written = bytes[word(at: name).content]
      return ((try? text(at: name)) ?? String(decoding: written, as: UTF8.self), name + 1)
    }
  }

  package var indexesMembers: Bool { true }

  package func visitMembers(
    of node: Int, _ visit: (RawMember) throws -> Void, finish: () throws -> Void
  ) throws -> Bool {
    guard word(at: node).kind == .object else { return false }
    try bytes.withUnsafeBufferPointer { bytes in
      var name = node + 2
      for _ in 0..<word(at: node).length {
        let value = word(at: name + 1)
        let range = value.kind.isContainer ? self.range(of: name + 1) : value.content
        try visit(
          RawMember(
            name: .init(rebasing: bytes[word(at: name).content]), kind: value.kind.memberKind,
            text: .init(rebasing: bytes[range]), node: name + 1))
        name = next(after: name + 1)
      }
      try finish()
    }
    return true
  }

  package func value(at path: String, of node: Int) -> JSONValue? {
    self.node(at: path, from: node).flatMap { try? value(of: $0) }
  }

  package func integer(at path: String, of node: Int) -> Int? {
    guard let node = self.node(at: path, from: node) else { return nil }
    let word = word(at: node)
    guard word.isKind(.number) else { return try? value(of: node).integer }
    return index.withPointers { bytes, _ in
      JSONNumber.integer(Int.self, bytes + word.offset, word.length)
    }
  }

  /// Returns the node at a path of names with `/` between them, nil if there is none. In an array,
  /// a name is an index.
  private func node(at path: String, from node: Int) -> Int? {
    var path = path
    return path.withUTF8 { path in
      var found = node
      var start = 0
      while true {
        var end = start
        while end < path.count, path[end] != UInt8(ascii: "/") { end += 1 }
        let step = UnsafeBufferPointer(rebasing: path[start..<end])
        guard let child = child(of: found, step) else { return nil }
        if end == path.count { return child }
        (found, start) = (child, end + 1)
      }
    }
  }

  private func child(of node: Int, _ step: UnsafeBufferPointer<UInt8>) -> Int? {
    if word(at: node).isKind(.array) {
      return PagePath.index(String(decoding: step, as: UTF8.self)).flatMap {
        element(of: node, at: $0)
      }
    }
    if step.contains(UInt8(ascii: "~")) {
      let text = String(decoding: step, as: UTF8.self)
      let name = Array(text.replacing("~1", with: "/").replacing("~0", with: "~").utf8)
      return name.withUnsafeBufferPointer { member(of: node, named: $0) }
    }
    return member(of: node, named: step)
  }

  /// Returns the value of the first member called `name`, nil if there is none.
  private func member(of node: Int, named name: UnsafeBufferPointer<UInt8>) -> Int? {
    index.withPointers { bytes, tape in
      guard JSONWord(bits: tape[node]).isKind(.object) else { return nil }
      var progress = JSONNameProgress(from: node + 2)
      let found = progress.find(
        name.baseAddress ?? bytes, name.count, from: node + 2, to: Int(tape[node + 1] >> 32),
        in: bytes, tape,
        byBytes: true)
      guard found.needsTextComparison else { return found.name < 0 ? nil : found.name + 1 }
      return member(ofObject: node, withText: name)
    }
  }

  /// Returns the value of the first member called `name`. Compares the text of all names, because one
  /// may be written with escapes.
  @inline(never)
  func member(ofObject node: Int, withText name: UnsafeBufferPointer<UInt8>) -> Int? {
    let wanted = Array(name)
    return names(of: node).first { has($0, text: wanted) }.map { $0 + 1 }
  }

  package func decode<Value: Decodable>(
    _ type: Value.Type, of node: Int, with decoder: JSONDecoder
  ) throws -> Value {
    try refuseFlaws(in: node, ignoring: .inValues)
    return try JSONItemReader(decoder).value(type, at: node, in: self)
  }
}

extension JSONWord.Kind {
  fileprivate var memberKind: RawMember.Kind {
    switch self {
    case .null: .null
    case .false: .false
    case .true: .true
    case .number, .longNumber: .number
    case .string, .unicodeString: .string
    case .escapedString: .escapedString
    case .surrogateString, .invalidString: .invalidUnicodeString
    case .array, .object: .container
    }
  }
}
