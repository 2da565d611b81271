package import HTTPTypes
package import QuireCore

/// An answer, as far as a description can read it.
package struct PageAnswer {
  /// The request as the engine built it.
  package var request: PageRequest
  /// The answer's URL after redirects, from which relative links start.
  package var url: String
  package var status: Int
  package let headerFields: HTTPFields
  /// The links in `headerFields`, parsed once.
  package let links: LinkHeader
  /// The decoded body; an `EmptyDocument` if it could not be decoded.
  package var document: any PageDocument
  /// The decoded position that was requested; nil for the plain first page.
  package let requestedBookmark: Bookmark?
  /// The decoded position that leads to the page; nil for every first page.
  let pageBookmark: Bookmark?
  /// Whether the request sent no continuation.
  let isFirst: Bool
  /// The pages that the indexes around the page list, by the indexes' URLs.
  package var indexes: [String: [String]] = [:]

  package init(
    request: PageRequest, url: String, status: Int, headerFields: HTTPFields,
    document: any PageDocument, requestedBookmark: Bookmark?
  ) {
    self.request = request
    self.url = url
    self.status = status
    self.headerFields = headerFields
    links = LinkHeader(headerFields, of: url)
    self.document = document
    self.requestedBookmark = requestedBookmark
    if let requestedBookmark, requestedBookmark.target != .start {
      (pageBookmark, isFirst) = (requestedBookmark, false)
    } else {
      (pageBookmark, isFirst) = (nil, true)
    }
  }
}

/// The classification of an answer, before its items are decoded.
package enum Classification {
  /// A page whose items can be decoded.
  case page
  /// A page without items, regardless of its body.
  case emptyPage
  /// The listing ended before this position.
  case end
  /// A failure, under any status.
  case failure(PageFailure)
}

/// A failure that the description recognised.
package struct PageFailure: Hashable, Sendable {
  /// The kind; never `empty`, which is classified as an empty page.
  package var kind: Pagination.FailureRule.Class
  /// The server's message, by the description's source, or else the value that shows the failure.
  package var message: String?
  /// The description's advice to the caller.
  package var advice: String?
  /// The time to wait before the next attempt, as the answer says; nil if it does not.
  package var delay: Duration?
  /// The time to wait if the answer does not say it.
  package var standardDelay: Duration?
  /// The cursor that the server gives in place of the expired one.
  package var cursor: JSONValue?
}

/// What follows a page, with the page's total.
package struct Continuation {
  package var next: Position?
  /// The error about the next page, to be thrown after the page was delivered.
  package var nextFailure: PageError?
  package var previous: Position?
  /// The position to close if the walk goes no further.
  package var closing: Position?
  package var total: Total?
  /// The position where a later walk for changes starts.
  package var resume: Position?
  /// Signs of a problem with the end or the total.
  package var warnings: [WalkReport.Warning] = []
  /// The error to throw after the last page if the server declared more items than came.
  package var endDoubt: PageError?

  package init() {}
}

extension PageAnswer {
  /// Creates the answer to the request for the page at `position`.
  package init(
    request: PageRequest, url: String, status: Int, headerFields: HTTPFields,
    document: any PageDocument, position: Position
  ) {
    self.init(
      request: request, url: url, status: status, headerFields: headerFields, document: document,
      requestedBookmark: position.value == nil ? nil : try? Bookmark(position))
  }

  /// The position that was requested.
  package var position: Position { requestedBookmark?.position ?? .start }

  /// Whether the request sent a cursor, which can expire.
  var sentCursor: Bool {
    guard let requestedBookmark else { return false }
    return requestedBookmark.target != .start
      || requestedBookmark.carried.contains { $0.name == RequestBuilder.resumption }
  }

  /// Returns the value of a header field; nil if there is none.
  func field(_ name: String) -> JSONValue? {
    HTTPField.Name(name).flatMap { headerFields[$0] }.map(JSONValue.string)
  }

  /// The answer's Content-Range; nil if there is none or it cannot be read.
  var contentRange: ItemRange? { headerFields[.contentRange].flatMap(ItemRange.init) }

  /// Returns the value of a source; nil if there is none. Throws `shape` if a path is ambiguous.
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

  /// Returns whether the answer meets the condition.
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

  /// Returns the decoded value of a link's query parameter; nil if the link lacks it.
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
