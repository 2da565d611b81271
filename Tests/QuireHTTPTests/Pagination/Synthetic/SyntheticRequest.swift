import HTTPTypes
import QuireCore

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// A request as the synthetic server reads it.
struct SyntheticRequest {
  typealias Unexpected = SyntheticServer.Unexpected

  private let listing: SyntheticListing
  private let head: HTTPRequest
  private let url: URLReference
  private let query: QueryString
  private let body: JSONValue?
  private let text: String

  init(_ request: TransportRequest, for listing: SyntheticListing) throws {
    self.listing = listing
    head = request.head
    url = try URLReference(request.url)
    query = QueryString(url.query)
    text = String(decoding: request.body, as: UTF8.self)
    body =
      request.body.isEmpty || listing.cargo != .json
      ? nil : try JSONDocument(request.body).value(at: "")
  }

  private var pagination: Pagination { listing.pagination }

  /// Whether the request goes to a link, which brings everything with it.
  private var isLink: Bool { url.path == "/next" }

  /// The page that is asked for.
  func page() throws -> Int {
    if isLink {
      guard listing.route.send.followsLinks, let page = query["at"].flatMap(Int.init),
        head.path.map({ "https://api.test" + $0 }) == listing.link(to: page)
      else { throw Unexpected("the link \(head.path ?? "")") }
      return page
    }
    guard let value = try value(at: listing.route.send) else {
      throw Unexpected("no continuation in \(head.path ?? "")")
    }
    let pages = 0...listing.sizes.count + 1
    guard let page = try pages.first(where: { value.isSame(as: try listing.sent(to: $0)) }) else {
      throw Unexpected("the continuation \(value)")
    }
    return page
  }

  private var mergedName: String {
    guard case .all(let sources) = listing.route.next else { return SyntheticListing.mergedName }
    return sources.keys.min() ?? ""
  }

  private func value(at placement: Pagination.Placement, isSize: Bool = false) throws -> JSONValue?
  {
    switch placement {
    case .form(let name): QueryString(text)[name].map(JSONValue.string)
    case .xmlBody(let path): try XMLTemplate(text).value(at: path).map(JSONValue.string)
    case .placeholder: query[isSize ? "size" : "from"].map(JSONValue.string)
    case .bodyMerge: body?.value(at: PagePath(stringLiteral: mergedName))
    case .query(let name, _): query[name].map(JSONValue.string)
    case .header(let name):
      HTTPField.Name(name).flatMap { head.headerFields[$0] }.map(JSONValue.string)
    case .jsonBody(let path): body?.value(at: path)
    case .path: .string(PercentEncoding.decode(url.path.dropFirst("/list/".count)[...]))
    case .queryMerge: query[mergedName].map(JSONValue.string)
    case .itemRange:
      head.headerFields[.range].flatMap(ItemRange.init)?.range.map {
        .number(String($0.lowerBound))
      }
    case .url, .request, .firstOf: throw Unexpected("a link in the place of \(listing.route.send)")
    }
  }
}

// MARK: - What every request must have

extension SyntheticRequest {
  /// Throws for a request that leaves out, or adds, what the description says otherwise.
  func check(isFirst: Bool, last: Int) throws {
    let isBare = isLink || (!isFirst && pagination.request.method == .get)
    try checkMethod(isFirst: isFirst)
    if !isLink { try checkQuery(isFirst: isFirst) }
    // A page size that was asked for may go where a constant stands.
    for (name, value) in pagination.request.always.header
    where isLink || ![listing.route.send, pagination.size?.send].contains(.header(name)) {
      try expect(HTTPField.Name(name).flatMap { head.headerFields[$0] }, value, name)
    }
    if !isBare {
      for (path, value) in pagination.request.always.body {
        try expect(body?.value(at: path)?.plainText, value.plainText, path.text)
      }
    }
    if isFirst { try checkFirst() }
    if !isLink, !isFirst || pagination.policy.open != nil {
      for (name, carried) in pagination.request.carry {
        let value = listing.carried(name, after: last)
        try expect(try self.value(at: carried.send)?.plainText, value.plainText, name)
      }
    }
    if !isLink, !isFirst { try checkChange() }
  }

  /// What requests after the first have in place of what it had.
  private func checkChange() throws {
    guard let change = pagination.request.then else { return }
    if let reference = change.url {
      let target = try URLReference(reference).resolved(against: URLReference(listing.url))
      try expect(url.path, target.path, "path")
    }
    for (name, value) in change.set.query { try expect(query[name], value, name) }
    for (path, value) in change.set.body {
      try expect(body?.value(at: path)?.plainText, value.plainText, path.text)
    }
  }

  private func checkMethod(isFirst: Bool) throws {
    let goesOnAsGet = !isFirst && pagination.request.method == .get
    let method = listing.cargo != .nothing && !goesOnAsGet ? "POST" : "GET"
    try expect(head.method.rawValue, method, "method")
    let own: String?
    switch listing.cargo {
    case .nothing: return
    case .json: own = body?["own"]?.plainText
    case .form: own = QueryString(text)["own"]
    case .xml: own = try text.isEmpty ? nil : XMLTemplate(text).value(at: "/request/own")
    }
    let isKept = isFirst || isLink || pagination.request.keep.keeps("own")
    try expect(own, goesOnAsGet || !isKept ? nil : "x", "own member of the body")
  }

  private func checkQuery(isFirst: Bool) throws {
    let isKept = isFirst || pagination.request.keep.keeps("own")
    try expect(query["own"], isKept ? "a+b" : nil, "own parameter")
    for (name, value) in pagination.request.always.query
    where pagination.size?.send != .query(name)
      && (isFirst || !sendsContinuation(by: .query(name)))
    {
      try expect(query[name], value, name)
    }
    guard let size = pagination.size, let place = size.send, let pageSize = listing.pageSize,
      isFirst || pagination.request.keep == .all, place != listing.route.send
    else { return }
    let asked = pageSize + pagination.policy.overlap
    let text = size.format.replacing("{n}", with: String(asked))
    if case .itemRange = place {
      let range = head.headerFields[.range].flatMap(ItemRange.init)?.range
      try expect(range?.count, pageSize, "page size")
    } else {
      try expect(try value(at: place, isSize: true)?.plainText, text, "page size")
    }
  }

  /// Whether one of the description's ways on sends its continuation there.
  private func sendsContinuation(by placement: Pagination.Placement) -> Bool {
    if case .firstOf(let routes) = pagination.next {
      return routes.contains { $0.send == placement }
    }
    return pagination.send == placement
  }

  private func checkFirst() throws {
    guard let first = pagination.request.first else { return }
    try expect(try value(at: pagination.send)?.plainText, first.plainText, "first value")
  }

  private func expect<Value: Equatable>(
    _ value: Value?, _ wanted: Value?, _ what: String
  ) throws {
    guard value != wanted else { return }
    throw Unexpected("\(what): \(value.map { "\($0)" } ?? "none") at \(head.path ?? "")")
  }
}
