import HTTPTypes
import QuireCore

/// Requests that a page describes, as STAC's next links do.
extension PaginationEngine {
  /// A description with its link as seen from the page it was found in; a plain link describes a
  /// request, too.
  func description(_ value: JSONValue, href: String) -> JSONValue {
    guard case .object(var members) = value else { return ["href": .string(href)] }
    let known = ["method", "headers", "body", "merge"]
    members = members.filter { known.contains($0.name) && $0.value != .null }
    return .object([.init("href", .string(href))] + members)
  }

  /// The request that a description asks for, with our credentials and nobody else's.
  func request(
    describedBy description: JSONValue, _ bookmark: Bookmark
  ) throws(PageError) -> PageRequest {
    try CursorCheck.checkCharacters(description)
    let name = description["method"]?.string?.uppercased() ?? "GET"
    // A page must not make the caller's credentials delete or change something.
    guard let method = HTTPRequest.Method(rawValue: name), method.isSafe || method == .post,
      let href = description["href"]?.string
    else {
      throw PageError(
        .refusedLink,
        "The next link asks for the method \"\(ServerText(name, limit: 64))\", or has no address. Links are followed by "
          + "POST and by methods that only read.")
    }
    let merges = description["merge"]?.boolean ?? false
    var request = base
    request.method = method
    request.url = try target(of: href)
    if !merges {
      request.headerFields = request.headerFields.filtered { Self.ours.contains($0.name) }
    }
    try setHeaders(description["headers"], in: &request)
    request.body = body(description["body"], merges: merges)
    if let form = description["form"]?.string { request.body = .form(form) }
    if let xml = description["xml"]?.string { request.body = .xml(xml) }
    if method == .get || method == .head { request.body = .none }
    if request.body == .none { request.headerFields[.contentType] = nil }
    var editor = RequestEditor(request)
    try send(bookmark.carried, in: &editor)
    request = try editor.request()
    try keepBodyHome(request)
    return request
  }

  /// What is ours to say, whatever a page describes.
  private static let ours: Set<HTTPField.Name> = [
    .authorization, .proxyAuthorization, .cookie, .accept, .acceptLanguage, .userAgent,
  ]

  private func setHeaders(
    _ headers: JSONValue?, in request: inout PageRequest
  ) throws(PageError) {
    guard case .object(let members)? = headers else { return }
    let forbidden = ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te"]
    for member in members {
      let field = try RequestEditor.field(member.name)
      guard !Self.ours.contains(field), !forbidden.contains(field.canonicalName) else { continue }
      request.headerFields[field] = member.value.plainText
    }
  }

  private func body(_ body: JSONValue?, merges: Bool) -> PageRequest.Body {
    guard merges, case .json(.object(var members)) = base.body else {
      return body.map(PageRequest.Body.json) ?? (merges ? base.body : .none)
    }
    guard case .object(let new)? = body else { return base.body }
    for member in new {
      if let index = members.firstIndex(where: { $0.name == member.name }) {
        members[index].value = member.value
      } else {
        members.append(member)
      }
    }
    return .json(.object(members))
  }
}
