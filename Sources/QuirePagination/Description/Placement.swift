import QuireCore

/// Where a value goes in a request: the answer to "send".
///
/// Encodes as `"url"`, `"request"`, `"queryMerge"`, `"bodyMerge"`, `"itemRange"` or one of
/// `{"query": name}`, `{"header": name}`, `{"jsonBody": pointer}`, `{"form": name}`, `{"xmlBody":
/// path}`, `{"path": placeholder}`, `{"placeholder": text}` and `{"firstOf": [placements]}`; `query`,
/// `path` and `placeholder` take `"encoding"` as well.
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
  /// The first of these that fits the walk's own request, for servers that take the same by GET and by
  /// POST: a form fits a body that is one, `jsonBody` and `bodyMerge` one of JSON, both a POST without a
  /// body, `xmlBody` a body of XML, a placeholder where it stands, everything else always. Where none
  /// fits, the last.
  case firstOf([Placement])
}

extension Placement {
  /// A parameter of the body where that is a form, else of the query.
  static func parameter(_ name: String) -> Placement { .firstOf([.form(name), .query(name)]) }

  /// A member of the JSON body where there is one, else a parameter of the query.
  static func member(_ pointer: PagePath, or name: String) -> Placement {
    .firstOf([.jsonBody(pointer), .query(name)])
  }

  /// The placement that a request has room for, of those that it may be.
  func fitted(to request: PageRequest) -> Placement {
    guard case .firstOf(let placements) = self else { return self }
    let first = placements.first { $0.fits(request) } ?? placements.last
    return first?.fitted(to: request) ?? .url
  }

  private func fits(_ request: PageRequest) -> Bool {
    let takesAny = request.body == .none && !request.method.isSafe
    switch (self, request.body) {
    case (.jsonBody, .json), (.bodyMerge, .json), (.form, .form), (.xmlBody, .xml): return true
    case (.jsonBody, _), (.bodyMerge, _), (.form, _): return takesAny
    case (.xmlBody, _): return false
    case (.path(let text, _), _):
      return (try? URLReference(request.url))?.path.contains(text) ?? false
    case (.placeholder(let text, _), _): return RequestEditor(request).has(placeholder: text)
    case (.firstOf(let placements), _): return placements.contains { $0.fits(request) }
    case (.url, _), (.query, _), (.header, _), (.queryMerge, _), (.request, _), (.itemRange, _):
      return true
    }
  }
}

extension Pagination {
  /// The same description for one request: each value goes where that has room for it.
  package func fitted(to request: PageRequest) -> Pagination {
    func fit(_ route: Route) -> Route {
      Route(fit(route.next), send: route.send.fitted(to: request))
    }
    func fit(_ source: NextSource) -> NextSource {
      guard case .firstOf(let routes) = source else { return source }
      return .firstOf(routes.map(fit))
    }
    var fitted = self
    fitted.next = fit(next)
    fitted.send = send.fitted(to: request)
    fitted.size?.send = size?.send?.fitted(to: request)
    fitted.resume = resume.map(fit)
    if let rule = previous {
      fitted.previous?.from = fit(rule.from)
      fitted.previous?.send = rule.send.fitted(to: request)
      fitted.previous?.size = rule.size?.fitted(to: request)
    }
    for (name, carried) in self.request.carry {
      fitted.request.carry[name]?.send = carried.send.fitted(to: request)
    }
    if case .reanchor(let placement, let path) = policy.expiry {
      fitted.policy.expiry = .reanchor(placement.fitted(to: request), from: path)
    }
    return fitted
  }
}

extension Placement: Codable {
  private static let kinds = [
    "query", "header", "jsonBody", "form", "xmlBody", "path", "placeholder", "firstOf",
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
            + " or an object such as {\"query\": \"cursor\"}.\(Self.hint(text))")
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
    case "firstOf":
      let placements = try object(kind, as: [Placement].self)
      guard !placements.isEmpty else { throw object.error("\"firstOf\" has no placements.") }
      self = .firstOf(placements)
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
    case .firstOf(let placements): try fields.encode(placements, forKey: "firstOf")
    }
  }

  private static func hint(_ text: String) -> String {
    NearestName.hint(text, in: names.keys.sorted() + kinds, words: NearestName.placements)
  }

  private static func write(
    _ text: String, _ kind: String, _ encoding: ValueEncoding,
    in fields: inout KeyedEncodingContainer<DescriptionObject.Name>
  ) throws {
    try fields.encode(text, forKey: .init(stringValue: kind))
    if encoding != .strict { try fields.encode(encoding, forKey: "encoding") }
  }
}

/// One way to the next page: a source, and where its value goes.
public struct Route: Hashable, Sendable {
  /// Where the continuation comes from.
  public var next: NextSource
  /// Where it goes.
  public var send: Placement

  /// A way to the next page.
  public init(_ next: NextSource, send: Placement) {
    self.next = next
    self.send = send
  }
}

extension Route {
  /// What the route sends for a continuation: a counter's number is changed on its way out, so that
  /// positions count in numbers.
  func value(of continuation: JSONValue, pageSize: Int?) throws(PageError) -> JSONValue {
    guard next.firstCount != nil else { return continuation }
    var value = continuation
    for transform in next.transforms {
      value = try transform.apply(to: value, pageSize: pageSize) ?? value
    }
    return value
  }
}

extension Route: Codable {
  /// Reads `{"next": source, "send": placement}`.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(decoder, "A route", names: ["next", "send"])
    self.init(try object("next"), send: try object("send"))
  }

  /// Writes `{"next": source, "send": placement}`.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(next, forKey: "next")
    try fields.encode(send, forKey: "send")
  }
}
