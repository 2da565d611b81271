import HTTPTypes
import QuireCore

extension PageAnswer {
  /// How the page was reached; nil for the first one.
  var bookmark: Bookmark? { sent.flatMap { $0.target == .start ? nil : $0 } }

  /// Whether the request sent something that can expire.
  var sentCursor: Bool {
    guard let sent else { return false }
    return sent.target != .start || sent.carried.contains { $0.name == PaginationEngine.resumption }
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
  func value(at source: ValueSource, items: ItemSelector) throws -> JSONValue? {
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

  private func first(of sources: [ValueSource], items: ItemSelector) throws -> JSONValue? {
    for source in sources {
      if let value = try value(at: source, items: items) { return value }
    }
    return nil
  }

  /// Whether the answer is as the condition demands.
  func matches(_ condition: AnswerCondition, items: ItemSelector) throws -> Bool {
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
