// What stands behind the name of a next source in a file.

/// `"next"` or `{"rel": "next", "where": {"results": "true"}}`.
struct LinkForm: Codable {
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
struct OffsetForm: Codable {
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
struct PageNumberForm: Codable {
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
struct ContentRangeForm: Codable {
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

/// A source, or `{"of": source, "when": condition}`.
struct FormDecodedForm: Codable {
  var source: NextSource
  var condition: AnswerCondition?
  var next: NextSource { .formDecoded(source, when: condition) }

  init(source: NextSource, condition: AnswerCondition?) {
    self.source = source
    self.condition = condition
  }

  init(from decoder: any Decoder) throws {
    let names = try? decoder.container(keyedBy: DescriptionObject.Name.self).allKeys
    guard let names, names.contains(where: { ["of", "when"].contains($0.stringValue) }) else {
      self.init(source: try NextSource(from: decoder), condition: nil)
      return
    }
    let object = try DescriptionObject(
      decoder, "The source \"formDecoded\"", names: ["of", "when"])
    self.init(source: try object("of"), condition: try object.optional("when"))
  }

  func encode(to encoder: any Encoder) throws {
    guard let condition else { return try source.encode(to: encoder) }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(source, forKey: "of")
    try fields.encode(condition, forKey: "when")
  }
}

/// `{"name": "page_info", "of": source}`, and the like for other transforms with a parameter.
struct TransformForm {
  /// What the parameter and the source are called.
  let names: (parameter: String, source: String)

  static let queryItem = TransformForm(names: ("name", "of"))
  static let adding = TransformForm(names: ("number", "to"))
  static let template = TransformForm(names: ("text", "of"))

  func decode<Parameter: Decodable>(
    _ kind: String, in object: DescriptionObject
  ) throws -> (Parameter, NextSource) {
    let object = try object.object(
      kind, "The source \"\(kind)\"", names: [names.parameter, names.source])
    return (try object(names.parameter), try object(names.source))
  }

  func encode(
    _ kind: String, _ parameter: some Encodable, _ source: NextSource,
    in fields: inout KeyedEncodingContainer<DescriptionObject.Name>
  ) throws {
    var inner = fields.nestedContainer(
      keyedBy: DescriptionObject.Name.self, forKey: .init(stringValue: kind))
    try inner.encode(parameter, forKey: .init(stringValue: names.parameter))
    try inner.encode(source, forKey: .init(stringValue: names.source))
  }
}
