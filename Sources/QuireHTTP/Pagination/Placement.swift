/// Where a value goes in a request: the answer to "send".
///
/// Encodes as `"url"`, `"request"`, `"queryMerge"`, `"bodyMerge"`, `"itemRange"` or one of
/// `{"query": name}`, `{"header": name}`, `{"jsonBody": pointer}`, `{"form": name}`, `{"xmlBody":
/// path}`, `{"path": placeholder}` and `{"placeholder": text}`; `query`, `path` and `placeholder`
/// take `"encoding"` as well.
public enum Placement: Hashable, Sendable {
  /// The value is a link that replaces the whole request target, byte for byte.
  case url
  /// A query parameter.
  case query(String, encoding: ValueEncoding = .strict)
  /// A header field, sent as it is.
  case header(String)
  /// A member of the JSON body, lossless: a number stays a number. `/variables/after` reaches
  /// inside; objects on the way are made.
  case jsonBody(PagePath)
  /// A parameter of a body that is a form (`application/x-www-form-urlencoded`), strictly encoded.
  case form(String)
  /// An element's text or an attribute in a body of XML, at a path of names such as
  /// `//IndexedPageItemView/@Offset`. The request's body has the element; the attribute is made.
  case xmlBody(PagePath)
  /// In place of this text in the URL's path, such as `{page}`; the first page gets the source's
  /// first value.
  case path(String, encoding: ValueEncoding = .strict)
  /// In place of this text wherever it stands in the URL and the body, such as `{{offset}}` in a
  /// query language; the first page gets the source's first value.
  case placeholder(String, encoding: ValueEncoding = .strict)
  /// Several query parameters: the members of `NextSource.all` or of an object, or a value that is
  /// a query string itself (`?page=2&limit=50`).
  case queryMerge
  /// Several members of the JSON body: those of `NextSource.all`, whose names are pointers.
  case bodyMerge
  /// The value describes the request: a link, or an object with `href` and perhaps `method`,
  /// `headers`, `body` and `merge`, as STAC has them. Without `merge`, fields and body replace those
  /// of the first request; credentials are never taken from it.
  case request
  /// The Range field, from an offset and a page long: `Range: 50-149`.
  case itemRange
}

extension Placement: Codable {
  private static let kinds = [
    "query", "header", "jsonBody", "form", "xmlBody", "path", "placeholder",
  ]
  private static let names: [String: Placement] = [
    "url": .url, "request": .request, "queryMerge": .queryMerge, "bodyMerge": .bodyMerge,
    "itemRange": .itemRange,
  ]

  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    if let text = DescriptionObject.text(decoder) {
      guard let placement = Self.names[text] else {
        throw DescriptionObject.error(
          decoder.codingPath,
          "\"\(text)\" is no placement; expected \(DescriptionObject.list(Self.names.keys.sorted()))"
            + " or an object such as {\"query\": \"cursor\"}.")
      }
      self = placement
      return
    }
    let (kind, object) = try DescriptionObject.oneOf(
      decoder, "A placement", kinds: Self.kinds, options: ["encoding"])
    let encoding = try object.optional("encoding", as: ValueEncoding.self)
    switch kind {
    case "query": self = .query(try object(kind), encoding: encoding ?? .strict)
    case "path": self = .path(try object(kind), encoding: encoding ?? .strict)
    case "placeholder": self = .placeholder(try object(kind), encoding: encoding ?? .strict)
    case "header": self = .header(try object(kind))
    case "form": self = .form(try object(kind))
    case "xmlBody": self = .xmlBody(try object(kind))
    default: self = .jsonBody(try object(kind))
    }
    if encoding != nil, !["query", "path", "placeholder"].contains(kind) {
      throw DescriptionObject.error(
        decoder.codingPath, "A placement in \"\(kind)\" has one encoding; leave out \"encoding\".")
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    if let name = Self.names.first(where: { $0.value == self })?.key {
      var single = encoder.singleValueContainer()
      return try single.encode(name)
    }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    switch self {
    case .url, .request, .queryMerge, .bodyMerge, .itemRange: break
    case .query(let name, let encoding): try Self.write(name, "query", encoding, in: &fields)
    case .path(let text, let encoding): try Self.write(text, "path", encoding, in: &fields)
    case .placeholder(let text, let encoding):
      try Self.write(text, "placeholder", encoding, in: &fields)
    case .header(let name): try fields.encode(name, forKey: "header")
    case .form(let name): try fields.encode(name, forKey: "form")
    case .jsonBody(let path): try fields.encode(path, forKey: "jsonBody")
    case .xmlBody(let path): try fields.encode(path, forKey: "xmlBody")
    }
  }

  private static func write(
    _ text: String, _ kind: String, _ encoding: ValueEncoding,
    in fields: inout KeyedEncodingContainer<DescriptionObject.Name>
  ) throws {
    try fields.encode(text, forKey: .init(stringValue: kind))
    if encoding != .strict { try fields.encode(encoding, forKey: "encoding") }
  }
}
