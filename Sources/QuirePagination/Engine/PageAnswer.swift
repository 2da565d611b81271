package import HTTPTypes
package import QuireCore

/// What a pagination description gets to see of one answer.
package struct PageAnswer {
  /// The request as the description made it.
  package var request: PageRequest
  /// Where the answer came from after redirects: relative links start here.
  package var url: String
  package var status: Int
  package let headerFields: HTTPFields
  /// The links in `headerFields`, read once.
  package let links: LinkHeader
  /// The decoded body; an `EmptyDocument` when it could not be decoded.
  package var document: any PageDocument
  /// What the request was made of; nil for the plain first page.
  package let sent: Bookmark?
  /// How the page was reached; nil for the first one.
  let bookmark: Bookmark?
  /// The indexes that the page may be in the middle of, by their addresses.
  package var indexes: [String: [String]] = [:]

  package init(
    request: PageRequest, url: String, status: Int, headerFields: HTTPFields,
    document: any PageDocument, sent: Bookmark?
  ) {
    self.request = request
    self.url = url
    self.status = status
    self.headerFields = headerFields
    links = LinkHeader(headerFields)
    self.document = document
    self.sent = sent
    bookmark = sent.flatMap { $0.target == .start ? nil : $0 }
  }
}

/// What an answer is, before its items are looked at.
package enum Screening {
  /// A page whose items can be decoded.
  case page
  /// A page without items, whatever the body says.
  case emptyPage
  /// The news that the listing ended before this position.
  case end
  /// A failure, inside whatever status.
  case failure(PageFailure)
}

/// A failure that a description recognised.
package struct PageFailure: Hashable, Sendable {
  /// Anything but `empty`, which is a page.
  package var kind: Pagination.FailureRule.Class
  /// The server's own words, where the description says where they are.
  package var message: String?
  /// How long to wait before the next attempt.
  package var delay: Duration?
  /// How long to wait where nothing in the answer says so.
  package var standardDelay: Duration?
  /// The cursor that the server gives in place of the one it no longer knows.
  package var cursor: JSONValue?
}

/// Where a page leads.
package struct Continuation {
  package var next: Position?
  /// What is wrong with the continuation; raised after the page was delivered.
  package var nextFailure: PageError?
  package var previous: Position?
  /// What has to be closed if the walk goes no further.
  package var closing: Position?
  package var total: Total?
  /// Where a later walk for changes starts.
  package var resume: Position?
  /// What speaks against what was taken from the page.
  package var warnings: [WalkReport.Warning] = []
  /// What is raised after the page if it is the last one and the server declared more items than came.
  package var endDoubt: PageError?

  package init() {}
}

extension PageAnswer {
  /// The answer to the request for the page at `position`.
  package init(
    request: PageRequest, url: String, status: Int, headerFields: HTTPFields,
    document: any PageDocument, position: Position
  ) {
    self.init(
      request: request, url: url, status: status, headerFields: headerFields, document: document,
      sent: position.value == nil ? nil : try? Bookmark(position))
  }

  /// The position that was asked for.
  package var position: Position { sent?.position ?? .start }

  /// Whether the request sent something that can expire.
  var sentCursor: Bool {
    guard let sent else { return false }
    return sent.target != .start || sent.carried.contains { $0.name == RequestBuilder.resumption }
  }

  /// Whether this answers a request that sent no continuation.
  var isFirst: Bool { bookmark == nil }

  /// The value of a header field; nil when there is none.
  func field(_ name: String) -> JSONValue? {
    HTTPField.Name(name).flatMap { headerFields[$0] }.map(JSONValue.string)
  }

  /// The answer's Content-Range; nil when there is none or it cannot be read.
  var contentRange: ItemRange? { headerFields[.contentRange].flatMap(ItemRange.init) }

  /// The value at a source; nil where there is nothing. Throws `shape` where the page is ambiguous.
  package func value(at source: Pagination.ValueSource, items: Pagination.Items) throws
    -> JSONValue?
  {
    switch source {
    case .body(let path): try document.value(at: path, outsideItemsOf: items)
    case .header(let name): field(name)
    case .lastItem(let path): try document.value(at: path, inLastItemOf: items)
    case .count(let path):
      try document.count(at: path, outsideItemsOf: items).map { .number(String($0)) }
    case .linkParameter(let name, let rel):
      links.first(relation: rel)?[name].map(JSONValue.string)
    case .linkQueryItem(let name, let rel):
      links.first(relation: rel).flatMap { Self.queryItem(name, of: $0.target) }
    case .contentRangeTotal: contentRange?.total.map { .number(String($0)) }
    case .firstOf(let sources): try first(of: sources, items: items)
    }
  }

  private func first(of sources: [Pagination.ValueSource], items: Pagination.Items) throws
    -> JSONValue?
  {
    for source in sources {
      if let value = try value(at: source, items: items) { return value }
    }
    return nil
  }

  /// Whether the answer is as the condition demands.
  func matches(_ condition: Pagination.Condition, items: Pagination.Items) throws -> Bool {
    guard condition.statuses.isEmpty || condition.statuses.contains(status) else { return false }
    guard let source = condition.value else { return true }
    let value = try value(at: source, items: items)
    if case .isLess(let other) = condition.test {
      guard let number = value?.integer,
        let limit = try self.value(at: other, items: items)?.integer
      else { return false }
      return number < limit
    }
    return condition.test.passes(value)
  }

  /// The decoded value of a link's query parameter.
  static func queryItem(_ name: String, of link: String) -> JSONValue? {
    let raw = link.prefix { $0 != "#" }
    guard let mark = raw.firstIndex(of: "?") else { return nil }
    return QueryString(String(raw[raw.index(after: mark)...]))[name].map(JSONValue.string)
  }
}

/// A range of items in a Range or Content-Range field, such as `items 0-24/3573458`.
///
/// Source: RFC 9110, §14.1 and §14.4; the unit is left out by PostgREST and ignored here.
package struct ItemRange {
  /// The items, both ends included; nil for `*`.
  package var range: ClosedRange<Int>?
  /// The complete length; nil for `*` and in a request.
  var total: Int?

  package init?(_ text: String) {
    let value = text.split(whereSeparator: { $0 == " " || $0 == "=" }).last ?? ""
    let parts = value.split(separator: "/", maxSplits: 1)
    guard let span = parts.first else { return nil }
    total = parts.count > 1 ? Int(parts[1]) : nil
    if span == "*" { return }
    let ends = span.split(separator: "-").map { Int($0) }
    guard ends.count == 2, let from = ends[0], let to = ends[1], from <= to, to < Int.max else {
      return nil
    }
    range = from...to
  }
}
