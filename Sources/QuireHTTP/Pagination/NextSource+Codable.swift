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
