import QuireCore

extension Pagination {
  /// The place of a value in a request: the member "send" of a description.
  public enum Placement: Hashable, Sendable {
    /// The value is a link, followed byte for byte.
    case url
    /// A query parameter.
    case query(String, encoding: ValueEncoding = .strict)
    /// A header field, with the value as it is.
    case header(String)
    /// A member of the JSON body, lossless: a number stays a number. A path such as
    /// `/variables/after` reaches inside; missing objects are created.
    case jsonBody(PagePath)
    /// A parameter of a form body (`application/x-www-form-urlencoded`), strictly encoded.
    case form(String)
    /// An element's text or an attribute in an XML body, at a path of names such as
    /// `//IndexedPageItemView/@Offset`. The request's body has to have the element; a missing
    /// attribute is created.
    case xmlBody(PagePath)
    /// In place of this text in the path of the URL, such as `{page}`. The first request gets the
    /// source's first value.
    case path(String, encoding: ValueEncoding = .strict)
    /// In place of this text anywhere in the URL and the body, such as `{{offset}}` in a query
    /// language. The first request gets the source's first value.
    case placeholder(String, encoding: ValueEncoding = .strict)
    /// Several query parameters: the members of `Pagination.Next.all` or of an object, or a value
    /// that is itself a query string (`?page=2&limit=50`).
    case queryMerge
    /// Several members of the JSON body: those of `Pagination.Next.all`, whose names are pointers.
    case bodyMerge
    /// The value describes a request: a link, or an object with `href` and optionally `method`,
    /// `headers`, `body` and `merge`, as in STAC. Without `merge`, fields and body replace those of
    /// the first request. Credentials are never taken from it.
    case request
    /// The Range field, from an offset for the length of a page: `Range: 50-149`.
    case itemRange
    /// The first of these that fits the walk's own request, for servers that accept the same by GET
    /// and POST. `form` fits a form body, `jsonBody` and `bodyMerge` a JSON body, and all three a
    /// POST without a body; `xmlBody` fits an XML body, a placeholder a request that contains it,
    /// and everything else any request. If none fits, the last one is used.
    case firstOf([Placement])
  }
}

extension Pagination.Placement {
  /// Returns the alternative that fits a request.
  func fitted(to request: PageRequest) -> Pagination.Placement {
    guard case .firstOf(let placements) = self else { return self }
    let first = placements.first { $0.fits(request) } ?? placements.last
    return first?.fitted(to: request) ?? .url
  }

  private func fits(_ request: PageRequest) -> Bool {
    if let kind = bodyKind {
      let canCreate = kind != .xml && request.body == .none && !request.method.isSafe
      return request.body.kind == kind || canCreate
    }
    return switch self {
    case .path(let text, _): (try? URLReference(request.url))?.path.contains(text) ?? false
    case .placeholder(let text, _): RequestEditor(request).has(placeholder: text)
    case .firstOf(let placements): placements.contains { $0.fits(request) }
    default: true
    }
  }

  /// The kind of body that the value goes into; nil for a place elsewhere.
  var bodyKind: PageRequest.Body.Kind? {
    switch self {
    case .jsonBody, .bodyMerge: .json
    case .form: .form
    case .xmlBody: .xml
    case .url, .request, .query, .header, .path, .placeholder, .queryMerge, .itemRange, .firstOf:
      nil
    }
  }
}

extension Pagination {
  /// Returns the description for one request, with the alternative placements that fit it.
  package func fitted(to request: PageRequest) -> Pagination {
    func fit(_ route: Pagination.Route) -> Pagination.Route {
      Pagination.Route(fit(route.next), send: route.send.fitted(to: request))
    }
    func fit(_ source: Pagination.Next) -> Pagination.Next {
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

extension Pagination.Placement: Block {
  package static let name = "placement"

  package static let grammar = Form<Pagination.Placement>.oneOf(
    "A placement",
    [
      .word("url", .url, also: ["link": ""], "the value is a link, followed byte for byte"),
      .word(
        "request", .request,
        "the value describes a request: `href`, `method`, `headers`, `body`, `merge`"),
      encoded(
        "query", "\"cursor\"", Pagination.Placement.query,
        { if case .query(let name, let encoding) = $0 { (name, encoding) } else { nil } },
        "a query parameter; the encoding is `\"strict\"`, `\"verbatim\"` or `{\"allowing\": \"=\"}`"
      ),
      .key(
        "header", example: "\"X-Token\"", Pagination.Placement.header,
        { if case .header(let name) = $0 { name } else { nil } }, "a header field"),
      .key(
        "jsonBody", example: "\"/after\"", also: ["body": "", "json": ""],
        Pagination.Placement.jsonBody,
        { if case .jsonBody(let path) = $0 { path } else { nil } }, "a member of a JSON body"),
      .key(
        "form", example: "\"cursor\"", Pagination.Placement.form,
        { if case .form(let name) = $0 { name } else { nil } }, "a parameter of a form"),
      .key(
        "xmlBody", example: "\"//Page/@Offset\"", also: ["xml": ""], Pagination.Placement.xmlBody,
        { if case .xmlBody(let path) = $0 { path } else { nil } },
        "an element or attribute of an XML body"),
      encoded(
        "path", "\"{page}\"", Pagination.Placement.path,
        { if case .path(let text, let encoding) = $0 { (text, encoding) } else { nil } },
        "replaces a text in the URL's path"),
      encoded(
        "placeholder", "\"{{at}}\"", Pagination.Placement.placeholder,
        { if case .placeholder(let text, let encoding) = $0 { (text, encoding) } else { nil } },
        "replaces a text in URL and body"),
      .word(
        "queryMerge", .queryMerge, "the members of `all` by name, or a whole query string"),
      .word(
        "bodyMerge", .bodyMerge,
        "the members of `all`, whose names are pointers into the JSON body: `{\"all\": {\"/page/after\": "
          + "source}}`"),
      .word("itemRange", .itemRange, "the Range field"),
      .key(
        "firstOf", Pagination.Placement.firstOf,
        { if case .firstOf(let placements) = $0 { placements } else { nil } },
        "the first of these that fits the walk's request"),
    ],
    check: { $0 == .firstOf([]) ? "\"firstOf\" has no placements." : nil })

  /// Returns the form of a placement with a percent-encoded value.
  private static func encoded(
    _ name: String, _ example: String,
    _ embed: @escaping @Sendable (String, Pagination.ValueEncoding) -> Pagination.Placement,
    _ extract:
      @escaping @Sendable (Pagination.Placement) -> (
        name: String, encoding: Pagination.ValueEncoding
      )?,
    _ note: String
  ) -> FormCase<Pagination.Placement> {
    .keys(
      (name: "", encoding: Pagination.ValueEncoding.strict),
      [.required(name, \.name, example: example), .optional("encoding", \.encoding)],
      { embed($0.name, $0.encoding) }, extract, note)
  }
}

extension Pagination {
  /// A source of the continuation and its placement.
  public struct Route: Hashable, Sendable {
    /// The source of the continuation.
    public var next: Next
    /// The placement of the continuation.
    public var send: Placement

    /// Creates a route.
    public init(_ next: Next, send: Placement) {
      self.next = next
      self.send = send
    }
  }
}

extension Pagination.Next {
  /// Returns the alternatives, each with its placement, or else the source itself with `send`.
  package func routes(by send: Pagination.Placement) -> [Pagination.Route] {
    if case .firstOf(let routes) = self { routes } else { [Pagination.Route(self, send: send)] }
  }
}

extension Pagination.Route {
  /// Returns the value to send for a continuation. A counter is transformed only here, so that
  /// positions hold plain numbers.
  func value(of continuation: JSONValue, pageSize: Int?) throws(PageError) -> JSONValue {
    guard next.firstCount != nil else { return continuation }
    var value = continuation
    for transform in next.transforms {
      value = try transform.apply(to: value, pageSize: pageSize) ?? value
    }
    return value
  }

  /// Returns the counter that a request sends at the route's placement, before transformation; nil
  /// if it sends none or one that cannot be read back.
  func count(sentBy request: RequestEditor) -> Int? {
    guard let sent = request.value(at: send) else { return nil }
    guard next.firstCount != nil else { return sent.integer }
    return next.transforms.reversed().reduce(Optional(sent)) { $0.flatMap($1.undo) }?.integer
  }
}

extension Pagination.Route: Block {
  package static let name = "route"

  package static let grammar = Form<Pagination.Route>.object(
    "A route", Pagination.Route(.linkHeader, send: .url),
    [
      .required("next", \.next, "the source of the continuation"),
      .required("send", \.send, "its placement"),
    ])
}

extension Pagination {
  /// How a value is encoded in a URL.
  public enum ValueEncoding: Hashable, Sendable {
    /// Percent-encodes every character but RFC 3986's unreserved ones, exactly once. The default.
    case strict
    /// Leaves the value as it is, because it is already encoded.
    case verbatim
    /// Strict except for these ASCII characters, for servers that refuse `%3D` where they sent `=`.
    case allowing(String)

    /// Returns the encoded text.
    func encode(_ text: String) -> String {
      switch self {
      case .strict: PercentEncoding.encode(text)
      case .verbatim: text
      case .allowing(let characters): PercentEncoding.encode(text, allowing: characters)
      }
    }
  }
}

extension Pagination.ValueEncoding: Block {
  package static let name = "encoding"

  package static let grammar = Form<Pagination.ValueEncoding>.oneOf(
    "An encoding",
    [
      .word("strict", .strict, "everything but unreserved characters is percent-encoded"),
      .word("verbatim", .verbatim, "the value is already encoded"),
      .key(
        "allowing", example: "\"=\"", Pagination.ValueEncoding.allowing,
        { if case .allowing(let characters) = $0 { characters } else { nil } },
        "strict except for these characters"),
    ])
}
