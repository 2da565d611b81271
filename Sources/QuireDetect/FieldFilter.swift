import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

extension WalkReport.Warning.Code {
  /// The request asks for some members of the answer only, and not for that of the continuation,
  /// which the only page does not have.
  public static let filteredContinuation = Self("filteredContinuation")
}

/// A part of a request that names the members that the answer is to have, and leaves the
/// continuation out, such as Google's `fields=items(id)` or a query of GraphQL without its
/// `pageInfo`.
///
/// Most parameters of this kind are about the members of an item, and do not name the list: OData's
/// `$select`, JSON:API's `fields[articles]`, the `fields` of Jira. They leave nothing else out.
struct FieldFilter: Sendable {
  /// The name of the parameter, the header field or the member of the body.
  private let name: String
  /// The place of the continuation.
  private let missing: PagePath

  /// Finds the filter in the request of a page; nil if it has none, or if the page says whether
  /// another one follows.
  init?(of page: HTTPPageInfo, _ pagination: Pagination) {
    let ends = Self.ends(of: pagination)
    guard let missing = ends.first else { return nil }
    let isSaid = ends.contains {
      (try? page.document.count(at: $0, outsideItemsOf: pagination.items)) != nil
    }
    guard !isSaid else { return nil }
    let lists = pagination.items.paths.map { Self.names(in: $0.text) }
    let filters = Self.filters(of: page.answer.request)
    for (name, _) in filters {
      let parts = filters.filter { $0.name == name }.flatMap { $0.value.split(separator: ",") }
        .filter { !$0.hasPrefix("-") }
      let named = Set(parts.flatMap { Self.names(in: $0) })
      let namesList = lists.contains { $0.last.map(named.contains) ?? false }
      let namesEnd = ends.contains { path in
        let own = Set(Self.names(in: path.text)).subtracting(lists.joined())
        return own.isEmpty || !own.isDisjoint(with: named)
      }
      if namesList, !namesEnd, !parts.contains("*") {
        (self.name, self.missing) = (name, missing)
        return
      }
    }
    return nil
  }

  /// The warning about a listing of one page.
  var warning: WalkReport.Warning {
    let member = Self.names(in: missing.text).last ?? missing.text
    return .init(
      .filteredContinuation,
      "\(ServerText(name)) in the request says what the answer is to have and leaves out what is at "
        + "\(missing.place), so nothing says whether another page follows: the listing may be longer. "
        + "Add \(ServerText(member)) to it.")
  }

  /// The paths that say whether another page follows: those of the continuation or, where pages are
  /// counted, those of flags that end the listing by their absence.
  private static func ends(of pagination: Pagination) -> [PagePath] {
    let paths = pagination.next.bodyPaths
    guard paths.isEmpty else { return paths }
    return pagination.end.compactMap { rule in
      guard case .flag(let flag) = rule, flag.ifAbsent == .end, case .body(let path) = flag.source
      else { return nil }
      return path
    }
  }

  /// Returns the parts of a request that look like filters.
  private static func filters(of request: PageRequest) -> [(name: String, value: String)] {
    let query = QueryString((try? URLReference(request.url))?.query)
    var parts: [(name: String, value: String)] = query.pairs.map {
      ($0.name, PercentEncoding.decode($0.encoded, plusIsSpace: true))
    }
    parts += request.headerFields.map { ($0.name.rawName, $0.value) }
    if case .json(.object(let members)) = request.body {
      parts += members.map { ($0.name, $0.value.string ?? $0.value.description) }
    }
    return parts.filter { isFilter($0.name, $0.value) }
  }

  private static func isFilter(_ name: String, _ value: String) -> Bool {
    let name = name.lowercased()
    return ["field", "select", "filter_path", "mask"].contains(where: name.contains)
      || name == "query" && value.contains("{")
  }

  /// Returns the names in a path or a filter, whatever separates them.
  private static func names(in text: some StringProtocol) -> [String] {
    text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
  }
}
