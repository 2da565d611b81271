import QuireCore

extension Pagination {
  /// Where a value goes in a request: the answer to "send".
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
    /// Several query parameters: the members of `Pagination.Next.all` or of an object, or a value that is
    /// a query string itself (`?page=2&limit=50`).
    case queryMerge
    /// Several members of the JSON body: those of `Pagination.Next.all`, whose names are pointers.
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
}

extension Pagination.Placement {
  /// A parameter of the body where that is a form, else of the query.
  static func parameter(_ name: String) -> Pagination.Placement {
    .firstOf([.form(name), .query(name)])
  }

  /// A member of the JSON body where there is one, else a parameter of the query.
  static func member(_ pointer: PagePath, or name: String) -> Pagination.Placement {
    .firstOf([.jsonBody(pointer), .query(name)])
  }

  /// The placement that a request has room for, of those that it may be.
  func fitted(to request: PageRequest) -> Pagination.Placement {
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
      .word("url", .url, also: ["link": ""], "a link: the whole address, byte for byte"),
      .word(
        "request", .request,
        "a whole request that the page describes: `href`, `method`, `headers`, `body`, `merge`"),
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
        "text or attribute of a body of XML"),
      encoded(
        "path", "\"{page}\"", Pagination.Placement.path,
        { if case .path(let text, let encoding) = $0 { (text, encoding) } else { nil } },
        "in place of a text in the URL's path"),
      encoded(
        "placeholder", "\"{{at}}\"", Pagination.Placement.placeholder,
        { if case .placeholder(let text, let encoding) = $0 { (text, encoding) } else { nil } },
        "in place of a text in URL and body"),
      .word(
        "queryMerge", .queryMerge, "the members of `all`, by their names, or a whole query"),
      .word(
        "bodyMerge", .bodyMerge,
        "the members of `all`, whose names are pointers into the JSON body: `{\"all\": {\"/page/after\": "
          + "source}}`"),
      .word("itemRange", .itemRange, "the Range field"),
      .key(
        "firstOf", Pagination.Placement.firstOf,
        { if case .firstOf(let placements) = $0 { placements } else { nil } },
        "to the first of these that the walk's request has room for"),
    ],
    check: { $0 == .firstOf([]) ? "\"firstOf\" has no placements." : nil })

  /// A placement that percent-encodes its value.
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
  /// One way to the next page: a source, and where its value goes.
  public struct Route: Hashable, Sendable {
    /// Where the continuation comes from.
    public var next: Next
    /// Where it goes.
    public var send: Placement

    /// A way to the next page.
    public init(_ next: Next, send: Placement) {
      self.next = next
      self.send = send
    }
  }
}

extension Pagination.Route {
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

  /// The number that a request says at the route's placement, as it was before it was changed on its way
  /// out; nil where it says none, or one that cannot be read back.
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
      .required("next", \.next, "where the continuation comes from"),
      .required("send", \.send, "where it goes"),
    ])
}
