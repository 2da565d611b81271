import HTTPTypes
public import QuireCore
import QuireHTTP
import QuirePagination

extension WalkReport.Warning.Code {
  /// The request asks for some members of the answer only, and not for that of the continuation,
  /// which the only page does not have.
  public static let filteredContinuation = Self("filteredContinuation")
}

/// A part of a request that names the members that the answer is to have, and leaves the
/// continuation out, such as Google's `fields=items(id)`, eBay's `<OutputSelector>` or a query of
/// GraphQL without its `pageInfo`.
///
/// Most parameters of this kind are about the members of an item, and do not name the list: OData's
/// `$select`, JSON:API's `fields[articles]`, the `fields` of Jira. They leave nothing else out.
struct FieldFilter: Sendable {
  /// The name of the parameter, the header field or the member of the body.
  private let name: String
  /// The names of the members that say whether another page follows, any of which is enough.
  private let missing: [String]

  /// Finds the filter in the request of a page; nil if it has none, or if the page says whether
  /// another one follows.
  init?(of page: HTTPPageInfo, _ pagination: Pagination) {
    let ends = Self.ends(of: pagination)
    guard !ends.isEmpty else { return nil }
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
        (self.name, missing) = (name, ends.compactMap { Self.names(in: $0.text).last })
        return
      }
    }
    return nil
  }

  /// The warning about a listing of one page.
  var warning: WalkReport.Warning {
    .init(
      .filteredContinuation,
      "\(ServerText(name)) in the request says what the answer is to have and leaves out what says "
        + "whether another page follows: the listing may be longer. Add "
        + "\(missing.map { ServerText($0).description }.joined(separator: " or ")) to it.")
  }

  /// The paths that say whether another page follows: those of the continuation or, where pages are
  /// counted, those of flags that end the listing by their absence.
  private static func ends(of pagination: Pagination) -> [PagePath] {
    let paths = pagination.next.bodyPaths
    guard paths.isEmpty else { return paths }
    return pagination.end.flatMap { rule -> [PagePath] in
      guard case .flag(let flag) = rule, flag.ifAbsent == .end else { return [] }
      return flag.source.parts.compactMap { part -> PagePath? in
        if case .body(let path) = part { path } else { nil }
      }
    }
  }

  /// Returns the parts of a request that look like filters.
  private static func filters(of request: PageRequest) -> [(name: String, value: String)] {
    var parts = decoded(QueryString((try? URLReference(request.url))?.query))
    parts += request.headerFields.map { (name: $0.name.rawName, value: $0.value) }
    switch request.body {
    case .json(.object(let members)):
      parts += members.map { (name: $0.name, value: $0.value.string ?? $0.value.description) }
    case .form(let text): parts += decoded(QueryString(text))
    // The element may occur several times, and no other name of the body is that of a list.
    case .xml(let text) where text.contains("<OutputSelector>"):
      parts.append((name: "OutputSelector", value: text))
    case .json, .xml, .bytes, .none: break
    }
    return parts.filter { isFilter($0.name, $0.value) }
  }

  private static func decoded(_ query: QueryString) -> [(name: String, value: String)] {
    query.pairs.map {
      (name: $0.name, value: PercentEncoding.decode($0.encoded, plusIsSpace: true))
    }
  }

  private static func isFilter(_ name: String, _ value: String) -> Bool {
    let name = name.lowercased()
    return ["field", "select", "filter_path", "mask"].contains(where: name.contains)
      || name == "query" && value.contains("{")
  }

  /// Returns the names in a path or a filter, whatever separates them.
  private static func names(in text: some StringProtocol) -> [String] {
    text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map { String($0) }
  }
}
