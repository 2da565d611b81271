import HTTPTypes
import QuireCore

/// Walks whose next page a closure decides.
extension PaginationEngine {
  /// Where the closure leads after an answer; nil for the end.
  func bookmark(
    _ next: (AnsweredPage) throws -> NextPage?, after answer: PageAnswer, itemCount: Int
  ) throws -> Bookmark? {
    let page = AnsweredPage(
      request: answer.request, url: answer.url, status: answer.status,
      headerFields: answer.headerFields, document: answer.document, itemCount: itemCount,
      state: answer.sent?.state ?? .null)
    guard let step = try next(page) else { return nil }
    let link = try URLReference(step.request.url).resolved(against: try URLReference(answer.url))
    var bookmark = Bookmark(.request(try Self.description(of: step.request, href: link.text)))
    bookmark.state = step.state == .null ? nil : step.state
    return bookmark
  }

  /// A request as positions hold it.
  private static func description(
    of request: PageRequest, href: String
  ) throws(PageError) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("href", .string(href)), .init("method", .string(request.method.rawValue)),
    ]
    let headers = request.headerFields.map {
      JSONValue.Member($0.name.rawName, .string($0.value))
    }
    if !headers.isEmpty { members.append(.init("headers", .object(headers))) }
    switch request.body {
    case .none: break
    case .json(let body): members.append(.init("body", body))
    case .form(let text): members.append(.init("form", .string(text)))
    case .xml(let text): members.append(.init("xml", .string(text)))
    case .bytes:
      throw PageError(
        .invalidArgument,
        "A closure's next request has a body of bytes, which a position cannot hold. Give it JSON, a "
          + "form or XML.")
    }
    return .object(members)
  }
}
