import HTTPTypes
import QuireCore

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// One answer of the synthetic server, put together value by value where the description looks for
/// them.
struct SyntheticPage {
  private let listing: SyntheticListing
  private let page: Int
  private var items: [[(PagePath, JSONValue)]]
  private var body: SyntheticBody
  private var fields: HTTPFields = [:]
  private var links: [String] = []

  /// The page of that number, empty behind the last one; a bare one only says how much there is.
  init(_ listing: SyntheticListing, _ page: Int, isBare: Bool = false) {
    self.listing = listing
    self.page = page
    body = SyntheticBody(listing.format, root: listing.pagination.xmlRoot)
    items = (isBare ? [] : listing.numbers(onPage: page)).map { number in
      [("/number", .number(String(number)))]
        + listing.route.next.itemPaths.map { ($0, listing.key(ofItem: number)) }
    }
    if !isBare {
      plantFlags()
      plantItems()
      plantContinuation()
      plantEnd()
    }
    plantTotals()
    for (name, carried) in pagination.request.carry {
      plant(listing.carried(name, after: page), at: carried.from)
    }
  }

  /// The index of all pages; nil where the listing has none.
  init?(indexOf listing: SyntheticListing) {
    guard case .index(let list, let link, _) = listing.pagination.next else { return nil }
    self.listing = listing
    page = -1
    items = []
    body = SyntheticBody(listing.format, root: list.xmlRoot ?? "index")
    body.plant(
      listing.sizes.indices.map { [(link, .string(listing.link(to: $0)))] }, at: list)
    let selector = listing.pagination.items
    if !selector.absentMeansEmpty {
      body.plant([], at: selector.paths[0], as: selector.arrangement)
    }
  }

  /// The answer as the transport hands it over.
  func answer() -> TransportResponse {
    var head = HTTPResponse(status: .ok, headerFields: fields)
    if !links.isEmpty { head.headerFields.append(field("Link", links.joined(separator: ", "))) }
    return TransportResponse(head: head, body: .bytes(body.bytes))
  }

  private var pagination: Pagination { listing.pagination }

  private func field(_ name: String, _ value: String) -> HTTPField {
    HTTPField(name: HTTPField.Name(name) ?? .location, value: value)
  }

  /// Puts a value where a source reads it.
  mutating func plant(_ value: JSONValue, at source: Pagination.ValueSource) {
    switch source {
    case .body(let path): body.plant(value, at: path)
    case .header(let name): fields.append(field(name, value.plainText))
    case .lastItem(let path): if !items.isEmpty { items[items.count - 1].append((path, value)) }
    case .linkQueryItem(let name, let rel):
      links.append("<https://api.test/list?\(name)=\(value.plainText)>; rel=\"\(rel)\"")
    // A parameter of the next link, or the end of Content-Range: written with those.
    case .linkParameter, .contentRangeTotal: break
    case .count(let path):
      body.plant(.array(Array(repeating: "x", count: value.integer ?? 0)), at: path)
    case .firstOf(let sources): if let first = sources.first { plant(value, at: first) }
    }
  }
}

// MARK: - The parts of a page

extension SyntheticPage {
  private mutating func plantItems() {
    var lists = [items]
    if case .all(let paths) = pagination.items {
      // One item here, the rest at the end, nothing between.
      lists = [Array(items.prefix(1))] + Array(repeating: [], count: paths.count - 2)
      lists.append(Array(items.dropFirst()))
    }
    if pagination.items.absentMeansEmpty && items.isEmpty { return }
    for (path, list) in zip(pagination.items.paths, lists) {
      body.plant(list, at: path, as: pagination.items.arrangement)
    }
  }

  private mutating func plantFlags() {
    for case .flag(let flag) in pagination.end {
      guard listing.ending == .flag || flag.ifAbsent == .end else { continue }
      if listing.isLast(page) && listing.ending == .noNext { continue }
      let saysMore = !listing.isLast(page) || listing.ending != .flag
      plant(.bool(saysMore == flag.continuesWhile), at: flag.source)
    }
  }

  private mutating func plantTotals() {
    if case .lastPage(let condition) = listing.ending, condition.test == .isMissing,
      condition.value == pagination.total?.source, listing.isLast(page)
    {
      return
    }
    let inEnd = pagination.endTotals
    var totals = listing.tellsTotal ? inEnd : []
    if let total = pagination.total, listing.tellsTotal || !inEnd.contains(total) {
      totals.append(total)
    }
    for total in Set(totals) where total.scope == .everyPage || page == 0 {
      plant(.number(String(number(total))), at: total.source)
    }
    if let echo = pagination.size?.echo, let pageSize = listing.pageSize {
      body.plant(.number(String(pageSize)), at: echo)
    }
  }

  private func number(_ total: Pagination.TotalSource) -> Int {
    switch total.kind {
    case .pages: listing.sizes.count
    case .remaining: listing.itemCount - listing.items(onPage: page).upperBound
    case .items, .estimate, .lowerBound: listing.itemCount
    }
  }

  private mutating func plantContinuation() {
    switch listing.ending {
    case .noNext where listing.isLast(page): return
    case .sentinel(let text) where listing.isLast(page):
      plant(.string(text), by: listing.route.next)
    case .sameCursor where page >= listing.sizes.count:
      plantToken(to: page, by: listing.route.next)
    default: plantToken(to: page + 1, by: listing.route.next)
    }
  }

  /// What makes a page the last one by its looks, or another one by something missing.
  private mutating func plantEnd() {
    for case .requires(let paths) in pagination.end
    where listing.ending == .noNext && listing.isLast(page) {
      if let path = paths.first { body.plant(.null, at: path) }
    }
    for case .lastPage(let condition) in pagination.end {
      guard let source = condition.value, source != pagination.total?.source else { continue }
      if condition.test == .isMissing,
        !listing.isLast(page) || listing.ending != .lastPage(condition)
      {
        plant("x", at: source)
      } else if listing.ending == .lastPage(condition), listing.isLast(page),
        let example = condition.test.example
      {
        plant(example, at: source)
      }
    }
  }

  private mutating func plantToken(to next: Int, by source: Pagination.Next) {
    if listing.route.send.followsLinks {
      return plant(.string(listing.link(to: next)), by: source)
    }
    plant(listing.token(to: next), by: source)
  }

  private mutating func plant(_ token: JSONValue, by source: Pagination.Next) {
    switch source {
    case .linkHeader(let rel, let conditions):
      let hasMore = !(listing.isLast(page) && listing.ending == .noNext)
      let parameters = conditions.sorted { $0.key < $1.key }.map { name, value in
        "; \(name)=\"\(hasMore ? value : "not " + value)\""
      }
      links.append("<\(token.plainText)>; rel=\"\(rel)\"\(parameters.joined())")
    case .header(let name): fields.append(field(name, token.plainText))
    case .body(let path) where source.isFromItems && items.isEmpty && path.xml != nil: break
    case .body(let path) where listing.route.send == .request:
      for (name, value) in [("href", token), ("method", "POST"), ("merge", true)] {
        body.plant(value, at: PagePath(stringLiteral: "\(path.text)/\(name)"))
      }
    case .body(let path):
      let isQuery = listing.route.send == .queryMerge && !listing.route.next.isAll
      let name = SyntheticListing.mergedName
      if isQuery, listing.format == .xml, path.text.hasSuffix("@*") {
        let attribute = path.text.dropLast() + name
        return body.plant(token, at: PagePath(stringLiteral: String(attribute)))
      }
      let query = JSONValue.string("?\(name)=\(PercentEncoding.encode(token.plainText))&")
      body.plant(isQuery ? query : token, at: path)
    case .transformed(let source, .formDecoded(when: let condition?)):
      if let said = condition.value, let example = condition.test.example {
        plant(example, at: said)
      }
      plant(Pagination.ValueTransform.formDecoded.undone(token), by: source)
    case .transformed(let source, let transform):
      plant(transform.undone(token), by: source)
    case .offset(_, .body(let path)): body.plant(.number(String(items.count)), at: path)
    case .contentRange: plantContentRange()
    case .all(let sources):
      for (_, source) in sources.sorted(by: { $0.key < $1.key }) { plant(token, by: source) }
    default: break
    }
  }

  private mutating func plantContentRange() {
    let numbers = listing.items(onPage: page)
    let total = listing.ending == .total ? String(listing.itemCount) : "*"
    let range = numbers.isEmpty ? "*" : "\(numbers.lowerBound)-\(numbers.upperBound - 1)"
    fields.append(field("Content-Range", "\(range)/\(total)"))
  }
}

extension Pagination.Condition.Test {
  /// A value that passes; nil where there must be none.
  var example: JSONValue? {
    switch self {
    case .exists: "x"
    case .equals(let value): value
    case .isOneOf(let values): values.first
    case .contains(let text): .string(text)
    case .notEquals(let value): .string("not " + value.plainText)
    case .isMissing, .isLess: nil
    }
  }
}
