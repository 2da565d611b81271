extension NextSource: Codable {
  private static let kinds = [
    "linkHeader", "header", "body", "lastItem", "offset", "pageNumber", "contentRange", "queryItem",
    "all", "firstOf",
  ]

  /// Reads an object with the name of a case, or that name alone where everything is the default.
  public init(from decoder: any Decoder) throws {
    if let text = DescriptionObject.text(decoder) {
      self = try Self.named(text, decoder)
      return
    }
    let (kind, object) = try DescriptionObject.oneOf(decoder, "A next source", kinds: Self.kinds)
    switch kind {
    case "linkHeader": self = try object(kind, as: LinkForm.self).source
    case "header": self = .header(try object(kind))
    case "body": self = .body(try object(kind))
    case "lastItem": self = .lastItem(try object(kind))
    case "offset": self = try object(kind, as: OffsetForm.self).source
    case "pageNumber": self = try object(kind, as: PageNumberForm.self).source
    case "contentRange": self = try object(kind, as: ContentRangeForm.self).source
    case "queryItem": self = try object(kind, as: QueryItemForm.self).source
    case "all": self = .all(try object(kind))
    default: self = .firstOf(try object(kind))
    }
  }

  private static func named(_ text: String, _ decoder: any Decoder) throws -> NextSource {
    switch text {
    case "linkHeader": return .linkHeader
    case "offset": return .offset
    case "pageNumber": return .pageNumber
    case "contentRange": return .contentRange()
    default:
      throw DescriptionObject.error(
        decoder.codingPath,
        "\"\(text)\" is no next source; expected \"linkHeader\", \"offset\", \"pageNumber\", "
          + "\"contentRange\" or an object such as {\"body\": \"/next_cursor\"}.")
    }
  }

  /// Writes an object with the name of the case.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    switch self {
    case .linkHeader(let rel, let conditions):
      try fields.encode(LinkForm(rel: rel, conditions: conditions), forKey: "linkHeader")
    case .header(let name): try fields.encode(name, forKey: "header")
    case .body(let path): try fields.encode(path, forKey: "body")
    case .lastItem(let path): try fields.encode(path, forKey: "lastItem")
    case .offset(let first, let step):
      try fields.encode(OffsetForm(first: first, step: step), forKey: "offset")
    case .pageNumber(let first, let path):
      try fields.encode(PageNumberForm(first: first, path: path), forKey: "pageNumber")
    case .contentRange(let first):
      try fields.encode(ContentRangeForm(first: first), forKey: "contentRange")
    case .queryItem(let name, let source):
      try fields.encode(QueryItemForm(name: name, of: source), forKey: "queryItem")
    case .all(let sources): try fields.encode(sources, forKey: "all")
    case .firstOf(let routes): try fields.encode(routes, forKey: "firstOf")
    }
  }
}

/// `"next"` or `{"rel": "next", "where": {"results": "true"}}`.
private struct LinkForm: Codable {
  var rel: String
  var conditions: [String: String]
  var source: NextSource { .linkHeader(rel: rel, where: conditions) }

  init(rel: String, conditions: [String: String]) {
    self.rel = rel
    self.conditions = conditions
  }

  init(from decoder: any Decoder) throws {
    if let rel = DescriptionObject.text(decoder) {
      self.init(rel: rel, conditions: [:])
      return
    }
    let object = try DescriptionObject(decoder, "A link header source", names: ["rel", "where"])
    self.init(
      rel: try object.optional("rel") ?? "next", conditions: try object.optional("where") ?? [:])
  }

  func encode(to encoder: any Encoder) throws {
    if conditions.isEmpty {
      var single = encoder.singleValueContainer()
      return try single.encode(rel)
    }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(rel, forKey: "rel")
    try fields.encode(conditions, forKey: "where")
  }
}

/// `{"first": 0, "step": "itemsReturned"}`.
private struct OffsetForm: Codable {
  var first: Int
  var step: OffsetStep
  var source: NextSource { .offset(first: first, step: step) }

  init(first: Int, step: OffsetStep) {
    self.first = first
    self.step = step
  }

  init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(decoder, "An offset source", names: ["first", "step"])
    self.init(
      first: try object.optional("first") ?? 0,
      step: try object.optional("step") ?? .itemsReturned)
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(first, forKey: "first")
    if step != .itemsReturned { try fields.encode(step, forKey: "step") }
  }
}

/// `{"first": 1, "from": "/page"}`.
private struct PageNumberForm: Codable {
  var first: Int
  var path: PagePath?
  var source: NextSource { .pageNumber(first: first, from: path) }

  init(first: Int, path: PagePath?) {
    self.first = first
    self.path = path
  }

  init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(decoder, "A page number source", names: ["first", "from"])
    self.init(first: try object.optional("first") ?? 1, path: try object.optional("from"))
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(first, forKey: "first")
    try fields.encodeIfPresent(path, forKey: "from")
  }
}

/// `{"first": 0}`.
private struct ContentRangeForm: Codable {
  var first: Int
  var source: NextSource { .contentRange(first: first) }

  init(first: Int) { self.first = first }

  init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(decoder, "A content range source", names: ["first"])
    first = try object.optional("first") ?? 0
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(first, forKey: "first")
  }
}

/// `{"name": "page_info", "of": source}`.
private struct QueryItemForm: Codable {
  var name: String
  var of: NextSource
  var source: NextSource { .queryItem(name, of: of) }

  init(name: String, of: NextSource) {
    self.name = name
    self.of = of
  }

  init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(decoder, "A query item source", names: ["name", "of"])
    self.init(name: try object("name"), of: try object("of"))
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(name, forKey: "name")
    try fields.encode(of, forKey: "of")
  }
}
