/// Where the continuation of the next page comes from: the answer to "next".
///
/// A source that finds nothing, null or blank text ends the walk. Encodes as an object with the
/// case's name, such as `{"body": "/next_cursor"}`, `{"linkHeader": "next"}`, `{"offset": {"first":
/// 1}}` or `{"firstOf": [{"next": …, "send": …}]}`.
public indirect enum NextSource: Hashable, Sendable {
  /// The target of the first link with this relation in the Link header fields, whose parameters
  /// are all as `where` says (RFC 8288).
  case linkHeader(rel: String = "next", where: [String: String] = [:])
  /// The value of a header field.
  case header(String)
  /// The value at a path of the page. Sent as a URL, an object gives its `href`, `url`, `@id` or `id`.
  case body(PagePath)
  /// The value at a path below the page's last item.
  case lastItem(PagePath)
  /// The value at a path below the page's first item.
  case firstItem(PagePath)
  /// The greatest value at a path below the page's items: for servers that do not sort. Whole
  /// numbers are compared as such, anything else by its bytes.
  case maxItem(PagePath)
  /// A number of items, from `first`, that grows by `step` with each page.
  case offset(first: Int = 0, step: OffsetStep = .itemsReturned)
  /// A number of pages, from `first`; with `from`, one more than what the page says it is.
  case pageNumber(first: Int = 1, from: PagePath? = nil)
  /// Where the server's Content-Range ends, plus one; the page begins at `first` (RFC 9110, §14.4).
  case contentRange(first: Int = 0)
  /// The pages that a document lists, one after the other: the list at a path, and below each of its
  /// elements the link. The first page is the index, and what it lists may be indexes in turn, if
  /// `nested`. A link to a part of the page it stands in is no page.
  case index(PagePath, link: PagePath, nested: Bool = true)
  /// The value of another source, changed on its way; see `ValueTransform`.
  case transformed(NextSource, ValueTransform)
  /// Several values under names of their own, sent together by `Placement.queryMerge` or
  /// `.bodyMerge`; those that are missing are left out, and none at all is the end.
  case all([String: NextSource])
  /// The first of these routes whose source finds something, each with a placement of its own.
  case firstOf([Route])

  /// The link header with the relation `next`.
  public static let linkHeader = NextSource.linkHeader()
  /// Items counted from 0, by what each page returned.
  public static let offset = NextSource.offset()
  /// Pages counted from 1.
  public static let pageNumber = NextSource.pageNumber()
}

extension NextSource {
  /// One query parameter out of a link.
  public static func queryItem(_ name: String, of source: NextSource) -> NextSource {
    .transformed(source, .queryItem(name))
  }

  /// A value that came form-encoded, decoded; see `ValueTransform.formDecoded`.
  public static func formDecoded(
    _ source: NextSource, when condition: AnswerCondition? = nil
  ) -> NextSource {
    .transformed(source, .formDecoded(when: condition))
  }

  /// A whole number plus another one; see `ValueTransform.adding`.
  public static func adding(_ number: Int, to source: NextSource) -> NextSource {
    .transformed(source, .adding(number))
  }

  /// A text around a value; see `ValueTransform.template`.
  public static func template(_ text: String, of source: NextSource) -> NextSource {
    .transformed(source, .template(text))
  }

  /// A text that is JSON, read; see `ValueTransform.json`.
  public static func json(_ source: NextSource) -> NextSource { .transformed(source, .json) }

  /// A value as JSON text; see `ValueTransform.jsonText`.
  public static func jsonText(_ source: NextSource) -> NextSource {
    .transformed(source, .jsonText)
  }
}

extension NextSource {
  /// The source below all transforms.
  package var root: NextSource {
    if case .transformed(let source, _) = self { source.root } else { self }
  }

  /// The transforms around the root, in the order they are applied.
  package var transforms: [ValueTransform] {
    if case .transformed(let source, let transform) = self {
      source.transforms + [transform]
    } else {
      []
    }
  }

  /// Whether the source is found among all items of a page, not only the last.
  var looksAtAllItems: Bool {
    switch root {
    case .firstItem, .maxItem: true
    case .all(let sources): sources.values.contains(where: \.looksAtAllItems)
    default: false
    }
  }

  /// Whether the source counts by itself, so that it never finds nothing.
  package var isCounter: Bool {
    switch root {
    case .offset, .pageNumber: true
    default: false
    }
  }

  /// The number that the first page has, where pages have numbers.
  package var firstCount: Int? {
    switch root {
    case .offset(let first, _), .pageNumber(let first, _), .contentRange(let first): first
    default: nil
    }
  }
}

extension NextSource: Codable {
  private static let kinds = [
    "linkHeader", "header", "body", "lastItem", "firstItem", "maxItem", "offset", "pageNumber",
    "contentRange", "index", "queryItem", "formDecoded", "adding", "template", "json", "jsonText",
    "all",
    "firstOf",
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
    case "firstItem": self = .firstItem(try object(kind))
    case "maxItem": self = .maxItem(try object(kind))
    case "offset": self = try object(kind, as: OffsetForm.self).source
    case "pageNumber": self = try object(kind, as: PageNumberForm.self).source
    case "contentRange": self = try object(kind, as: ContentRangeForm.self).source
    case "index":
      let form = try object.object(kind, "The source \"index\"", names: ["list", "link", "nested"])
      self = .index(
        try form("list"), link: try form("link"), nested: try form.optional("nested") ?? true)
    case "all": self = .all(try object(kind))
    case "firstOf": self = .firstOf(try object(kind))
    default: self = try Self.transformed(kind, object)
    }
  }

  private static func transformed(
    _ kind: String, _ object: DescriptionObject
  ) throws -> NextSource {
    switch kind {
    case "formDecoded": return try object(kind, as: FormDecodedForm.self).next
    case "json": return .json(try object(kind))
    case "jsonText": return .jsonText(try object(kind))
    case "adding":
      let (number, source): (Int, NextSource) = try TransformForm.adding.decode(kind, in: object)
      return .adding(number, to: source)
    case "template":
      let (text, source): (String, NextSource) = try TransformForm.template.decode(kind, in: object)
      return .template(text, of: source)
    default:
      let (name, source): (String, NextSource) =
        try TransformForm.queryItem.decode(kind, in: object)
      return .queryItem(name, of: source)
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
          + "\"contentRange\" or an object such as {\"body\": \"/next_cursor\"}."
          + NearestName.hint(text, in: kinds, words: NearestName.sources))
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
    case .firstItem(let path): try fields.encode(path, forKey: "firstItem")
    case .maxItem(let path): try fields.encode(path, forKey: "maxItem")
    case .index(let list, let link, let nested):
      var form = fields.nestedContainer(
        keyedBy: DescriptionObject.Name.self, forKey: "index")
      try form.encode(list, forKey: "list")
      try form.encode(link, forKey: "link")
      if !nested { try form.encode(nested, forKey: "nested") }
    case .transformed(let source, let transform):
      try Self.encode(transform, of: source, in: &fields)
    case .all(let sources): try fields.encode(sources, forKey: "all")
    case .firstOf(let routes): try fields.encode(routes, forKey: "firstOf")
    }
  }

  private static func encode(
    _ transform: ValueTransform, of source: NextSource,
    in fields: inout KeyedEncodingContainer<DescriptionObject.Name>
  ) throws {
    switch transform {
    case .formDecoded(let condition):
      try fields.encode(
        FormDecodedForm(source: source, condition: condition), forKey: "formDecoded")
    case .json: try fields.encode(source, forKey: "json")
    case .jsonText: try fields.encode(source, forKey: "jsonText")
    case .queryItem(let name):
      try TransformForm.queryItem.encode("queryItem", name, source, in: &fields)
    case .adding(let number):
      try TransformForm.adding.encode("adding", number, source, in: &fields)
    case .template(let text):
      try TransformForm.template.encode("template", text, source, in: &fields)
    }
  }
}

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
