import QuireCore
public import QuirePagination

/// A decoder of XML pages into items of your types.
///
/// ```swift
/// struct Object: Decodable, Sendable { let key: String; let size: Int; let lastModified: Date }
/// let decoder = XMLPageDecoder<Object>(options: XMLDecodingOptions(keys: .capitalized))
/// ```
/// Items are the elements at the description's selector. The error for an item that does not fit
/// has its line, column and path.
public struct XMLPageDecoder<Item: Decodable & Sendable>: PageDecoder {
  let options: XMLDecodingOptions
  private let limits: XMLLimits
  private let leniency: XMLLeniency

  /// Creates a decoder of pages, by default strict and with the limits for APIs.
  public init(
    options: XMLDecodingOptions = XMLDecodingOptions(), limits: XMLLimits = .api,
    leniency: XMLLeniency = []
  ) {
    self.options = options
    self.limits = limits
    self.leniency = leniency
  }

  /// Whether a page shows where it ends: true, because it is complete with its root element.
  public var isSelfDelimiting: Bool { true }

  /// Decodes a body that is one value, its root element, with the same options. JSON, in which
  /// servers of XML may explain an error, is decoded by a default `JSONDecoder`.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try XMLBody.decode(type, from: body, context, options, limits, leniency)
  }

  /// Begins to decode one page.
  public func begin(_ context: DecodingContext) throws -> any PageDecoding<Item> {
    let options = options
    return try XMLPageDecoding(context, limits: limits, leniency: leniency) { index, nodes in
      let shared = XMLItemContext(index, options)
      return { number in
        let node = nodes[number]
        shared.item = node
        shared.failedNode = nil
        do {
          return try shared.decode(Item.self, XMLValue(node: node, role: .whole))
        } catch let error as CancellationError {
          throw error
        } catch {
          throw XMLItemFailure(error, at: shared.failedNode ?? node)
        }
      }
    }
  }
}

extension XMLPageDecoder: FieldDecoder {
  /// Decodes the value at `path` as a member of an item is decoded. Of several matches, the first
  /// of those nearest the root counts; as an array, it includes the siblings of its name.
  package func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    guard let document = document as? XMLDocument else { return nil }
    try document.index.checkPrefix(of: path)
    guard let value = path.xml.flatMap({ document.index.place(of: $0) }) else { return .some(nil) }
    let context = XMLItemContext(document.index, options)
    context.item = value.node
    guard !context.isNil(value) else { return .some(nil) }
    do {
      return try context.decode(type, value)
    } catch let error as DecodingError {
      let node = context.failedNode ?? value.node
      var places = XMLPlaceFinder(document.index)
      throw PageError.field(
        at: path, place: document.index.path(to: node, below: value.node),
        "\(XMLItemFailure.words(of: error)) It stands at \(places.place(of: node)).",
        underlying: error)
    }
  }
}

extension XMLIndex {
  /// Returns the value at a path, for a decoder; nil if there is none.
  fileprivate func place(of path: XMLPath) -> XMLValue? {
    guard let node = place(for: path, from: .document) else { return nil }
    switch matches(of: path, from: .document).tail {
    case .attribute(let name)?:
      return attributes(of: node).first { matches(name, $0) }
        .map { XMLValue(node: $0, role: .attribute) }
    case .text?: return XMLValue(node: node, role: .text)
    case .element?, nil: return XMLValue(node: node, role: .member)
    }
  }
}

/// A decoder of XML pages into items as the server wrote them.
public struct XMLItemPageDecoder: PageDecoder {
  private let limits: XMLLimits
  private let leniency: XMLLeniency

  /// Creates a decoder of pages, by default strict and with the limits for APIs.
  public init(limits: XMLLimits = .api, leniency: XMLLeniency = []) {
    self.limits = limits
    self.leniency = leniency
  }

  /// Whether a page shows where it ends: true, because it is complete with its root element.
  public var isSelfDelimiting: Bool { true }

  /// Decodes a body that is one value, its root element. JSON, in which servers of XML may explain
  /// an error, is decoded by a default `JSONDecoder`.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try XMLBody.decode(type, from: body, context, XMLDecodingOptions(), limits, leniency)
  }

  /// Begins to decode one page.
  public func begin(_ context: DecodingContext) throws -> any PageDecoding<XMLItem> {
    try XMLPageDecoding(context, limits: limits, leniency: leniency) { index, nodes in
      { number in XMLItem(index: index, node: nodes[number]) }
    }
  }
}

/// A decoder of XML pages into raw items of JSON, as `XMLItem.value` maps them, for export and for
/// other code that takes items of either format.
public struct XMLRawPageDecoder: PageDecoder {
  private let limits: XMLLimits
  private let leniency: XMLLeniency

  /// Creates a decoder of pages, by default strict and with the limits for APIs.
  public init(limits: XMLLimits = .api, leniency: XMLLeniency = []) {
    self.limits = limits
    self.leniency = leniency
  }

  /// Whether a page shows where it ends: true, because it is complete with its root element.
  public var isSelfDelimiting: Bool { true }

  /// Decodes a body that is one value, its root element. JSON, in which servers of XML may explain
  /// an error, is decoded by a default `JSONDecoder`.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try XMLBody.decode(type, from: body, context, XMLDecodingOptions(), limits, leniency)
  }

  /// Begins to decode one page.
  public func begin(_ context: DecodingContext) throws -> any PageDecoding<RawItem> {
    try XMLPageDecoding(context, limits: limits, leniency: leniency) { index, nodes in
      let mapping = XMLMapping(index)
      var text: [UInt8] = []
      var ends: [Int] = []
      for node in nodes {
        mapping.append(node, to: &text)
        ends.append(text.count)
      }
      let items = MappedItems(text: text, ends: ends, index: index, nodes: nodes)
      return { number in RawItem(items, node: number) }
    }
  }
}

/// The items of a page as JSON, one after another.
private struct MappedItems: RawItemStorage {
  let text: [UInt8]
  /// The end of each item in `text`.
  let ends: [Int]
  let index: XMLIndex
  /// The element of each item.
  let nodes: [Int]

  func bytes(of item: Int) -> ArraySlice<UInt8> {
    text[(item == 0 ? 0 : ends[item - 1])..<ends[item]]
  }

  /// Returns the value at a path in the JSON; where it has none, that of the elements at the path.
  /// In the JSON, elements that stand apart are within `#content`, and names have their prefixes.
  func value(at path: PagePath, of item: Int) throws -> JSONValue? {
    try value(of: item).value(at: path) ?? index.mapped(at: path, below: nodes[item])
  }
}

/// A body that is one value.
enum XMLBody {
  static func decode<Value: Decodable>(
    _ type: Value.Type, from body: [UInt8], _ context: DecodingContext,
    _ options: XMLDecodingOptions, _ limits: XMLLimits, _ leniency: XMLLeniency
  ) throws -> Value {
    let first = body.first { !$0.isWhiteSpace }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      return try SingleValue.decode(type, from: body)
    }
    let parser = try XMLPushParser(
      limits: limits, decoding: context.limits, leniency: leniency,
      charset: MediaType(context.contentType).charset)
    let index = try parser.index(of: body)
    let shared = XMLItemContext(index, options)
    shared.item = 0
    do {
      return try shared.decode(type, XMLValue(node: 0, role: .whole))
    } catch {
      throw PageError(
        .itemDecoding, "The answer's body is no \(type): \(XMLItemFailure.words(of: error))",
        underlying: error)
    }
  }
}
