public import QuireCore

/// What a protocol needs in every request, unless the caller's request says otherwise.
///
/// Encodes as `{"query": {name: value}, "header": {name: value}, "body": {pointer: value}}`, with
/// only the parts that hold something.
public struct RequestConstants: Hashable, Sendable {
  /// Query parameters, strictly encoded.
  public var query: [String: String]
  /// Header fields.
  public var header: [String: String]
  /// Members of the JSON body, by pointer.
  public var body: [PagePath: JSONValue]

  /// Constants; none by default.
  public init(
    query: [String: String] = [:], header: [String: String] = [:],
    body: [PagePath: JSONValue] = [:]
  ) {
    self.query = query
    self.header = header
    self.body = body
  }
}

extension RequestConstants: Codable {
  static let names = ["query", "header", "body"]

  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    try self.init(DescriptionObject(decoder, "The constants", names: Self.names))
  }

  /// Reads the three parts out of an object that may have others.
  init(_ object: DescriptionObject) throws {
    var body: [PagePath: JSONValue] = [:]
    for (text, value) in try object.optional("body", as: [String: JSONValue].self) ?? [:] {
      do {
        body[try PagePath(text)] = value
      } catch let error as PageError {
        throw object.error(error.message)
      }
    }
    self.init(
      query: try object.optional("query") ?? [:], header: try object.optional("header") ?? [:],
      body: body)
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try encode(in: &fields)
  }

  func encode(in fields: inout KeyedEncodingContainer<DescriptionObject.Name>) throws {
    if !query.isEmpty { try fields.encode(query, forKey: "query") }
    if !header.isEmpty { try fields.encode(header, forKey: "header") }
    if !body.isEmpty {
      let texts = body.map { ($0.key.text, $0.value) }
      try fields.encode(Dictionary(uniqueKeysWithValues: texts), forKey: "body")
    }
  }
}
