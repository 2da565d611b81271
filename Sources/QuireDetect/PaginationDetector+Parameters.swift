import QuirePagination
import QuireCore

/// Parameters of the request: `from=0` shows how its author expects the listing to be paged.
extension PaginationDetector {
  /// A parameter in the request's query, form, JSON or XML.
  struct Parameter {
    var placement: Pagination.Placement
    /// The name, by `PaginationVocabulary.normalized`.
    var name: String
    var spelled: String
    var value: JSONValue

    init(_ placement: Pagination.Placement, _ spelled: String, _ value: JSONValue) {
      self.placement = placement
      name = PaginationVocabulary.normalized(spelled)
      self.spelled = spelled
      self.value = value
    }
  }

  /// Returns the parameters of a request: at most 30 each of its query and form, and at most 60 of
  /// its JSON or XML.
  static func parameters(of sent: RequestEditor) -> [Parameter] {
    var parameters = sent.query.pairs.prefix(30).map { name, _ in
      Parameter(.query(name), name, .string(sent.query[name] ?? ""))
    }
    parameters += sent.form.pairs.prefix(30).map { name, _ in
      Parameter(.form(name), name, .string(sent.form[name] ?? ""))
    }
    if case .json(let body) = sent.base.body {
      add(body, at: "", named: "", depth: 0, to: &parameters)
    }
    if case .xml(let text) = sent.base.body {
      parameters += XMLTemplate(text).leaves(most: 60).map { path, name, value in
        Parameter(.xmlBody(path), name, .string(value.trimmingBlanks))
      }
    }
    return parameters
  }

  private static func add(
    _ value: JSONValue, at pointer: String, named name: String, depth: Int,
    to parameters: inout [Parameter]
  ) {
    guard parameters.count < 60, depth <= 3 else { return }
    guard case .object(let members) = value else {
      guard depth > 0, let path = try? PagePath(pointer) else { return }
      if case .array(let elements) = value {
        // Some servers take a list of searches: `{"filters": [{"pageNumber": 1}]}`.
        for (index, element) in elements.prefix(3).enumerated() {
          guard case .object = element else { break }
          add(element, at: "\(pointer)/\(index)", named: name, depth: depth + 1, to: &parameters)
        }
        return
      }
      parameters.append(Parameter(.jsonBody(path), name, value))
      return
    }
    for member in members where PageOutline.keeps(name: member.name) {
      add(
        member.value, at: pointer + PagePath.pointer(to: member.name), named: member.name,
        depth: depth + 1, to: &parameters)
    }
  }

  // MARK: Descriptions

  /// Normalized names of parameters that may take the key of the last item.
  private static let keyNames: Set<String> = [
    "after", "afterid", "anchor", "from", "fromid", "idabove", "lastid", "lastkey", "lastseen",
    "marker",
    "minid", "since", "sinceid", "start", "startafter",
  ]

  /// Returns descriptions that continue by the request's own parameters: numbers, keys and
  /// placeholders.
  func byOwnParameters(_ items: Pagination.Items) -> [Pagination] {
    var found: [Pagination] = []
    for parameter in parameters {
      let number = Int(parameter.value.plainText)
      if let number, number >= 0 {
        if vocabulary.pageNames.contains(parameter.name) {
          found.append(numbered(items, first: number == 0 ? 0 : 1, parameter.placement))
        } else if vocabulary.isOffset(parameter.name),
          !Self.isSize(number, named: parameter.name)
        {
          found.append(counted(items, first: number == 1 ? 1 : 0, parameter.placement))
        }
      }
      guard number != nil || parameter.value.isBlank, Self.keyNames.contains(parameter.name),
        let key = lastKey(of: items, isNumber: number != nil)
      else { continue }
      found.append(
        Pagination(
          next: .lastItem(key), send: parameter.placement,
          request: Pagination.RequestRule(isQuery: isPost), end: [.emptyPage], items: items))
    }
    for placeholder in placeholders { found += byOwnParameters(items, by: placeholder) }
    return found
  }

  private func byOwnParameters(_ items: Pagination.Items, by placeholder: RequestPlaceholder)
    -> [Pagination]
  {
    let place = Pagination.Placement.placeholder(placeholder.text)
    switch placeholder.kind {
    case .page: return [numbered(items, first: 1, place)]
    case .offset: return [counted(items, first: placeholder.first.integer ?? 0, place)]
    case .token:
      return signs.filter { $0.kind == .token && !$0.isLink }.compactMap { sign in
        (try? PagePath(sign.place)).map { path in
          Pagination(
            next: .body(path), send: place,
            request: Pagination.RequestRule(first: placeholder.first, isQuery: isPost), items: items
          )
        }
      }
    }
  }

  /// Whether a number is a page size rather than a start: some servers start a list at `first=0`,
  /// for others `first=20` is a size.
  static func isSize(_ number: Int, named name: String) -> Bool { name == "first" && number > 0 }

  /// Returns the path of an item's identifier, relative to the item; nil if no member is named like
  /// one.
  private func lastKey(of items: Pagination.Items, isNumber: Bool) -> PagePath? {
    guard case .path(let list) = items else { return nil }
    let names = ["id", "key", "seq", "cursor"]
    return itemMember(in: list) { node in
      names.contains(PaginationVocabulary.normalized(node.name))
        && (!isNumber || node.value?.integer != nil)
    }
  }

  /// Returns the path of the first member that `isMeant` accepts in an item of JSON, relative to
  /// the item.
  func itemMember(in list: PagePath, where isMeant: (PageOutline.Node) -> Bool) -> PagePath? {
    guard !answer.document.isXML else { return nil }
    let start = list.text + "/0/"
    let member = outline.nodes.first { node in
      node.isInList && node.path.hasPrefix(start)
        && !node.path.dropFirst(start.count).contains("/") && isMeant(node)
    }
    return member.flatMap { try? PagePath(String($0.path.dropFirst(start.count - 1))) }
  }

  /// The placements of counters that go with the request's page size, as `first` goes with `max`;
  /// none if the answer has a continuation or repeats its start.
  var parametersBesideSize: [Pagination.Placement] {
    let says = signs.contains { $0.kind == .flag || $0.isContinuation && $0.value != nil }
    guard !says, !repeatsItsStart else { return [] }
    let places = parameters.flatMap { parameter -> [Pagination.Placement] in
      guard case .query = parameter.placement, parameter.value.count ?? 0 > 0 else { return [] }
      return vocabulary.counters(besideSize: parameter.spelled)
    }
    return Array(places.prefix(3))
  }

  /// Returns the name of a value that the answer repeats, spelled like the request's page size:
  /// `$skip` for `"skip": 0` beside `$limit`, `filter[skip]` beside `filter[limit]`.
  func relative(of kind: Count) -> Pagination.Placement? {
    guard let echo = echoes(of: kind).first, !echo.name.hasPrefix("@") else { return nil }
    return parameters.lazy.compactMap { parameter -> Pagination.Placement? in
      guard case .query = parameter.placement else { return nil }
      return PaginationVocabulary.relative(ofSize: parameter.spelled, named: echo.name)
        .map { .query($0) }
    }.first
  }

  /// Returns the member of the request's JSON for a value that the answer repeats within what is
  /// called like pages: `/page/current` for `{"meta": {"page": {"current": 1}}}`.
  static func nestedMember(_ echo: PageOutline.Node) -> Pagination.Placement? {
    let names = echo.path.split(separator: "/").suffix(2)
    guard names.count == 2, let around = names.first,
      PaginationVocabulary.normalized(String(around)).hasPrefix("pag")
    else { return nil }
    return (try? PagePath("/" + names.joined(separator: "/"))).map { .jsonBody($0) }
  }

  /// Returns these names, spelled like the request's page size, if that has a prefix.
  func relatives(named names: [String]) -> [Pagination.Placement] {
    parameters.flatMap { parameter -> [Pagination.Placement] in
      guard case .query = parameter.placement else { return [] }
      return names.compactMap {
        PaginationVocabulary.relative(ofSize: parameter.spelled, named: $0)
      }
      .map { .query($0) }
    }
  }

  /// The usual names of page sizes.
  static let sizes: Set<String> = [
    "count", "first", "limit", "max", "maxresults", "pagesize", "perpage", "rows", "size", "take",
    "top",
  ]

  /// Returns the placement of a new parameter: the query, or the request's JSON, beside the page size
  /// there and capitalized like it.
  func placement(_ name: String) -> Pagination.Placement {
    guard case .json = answer.request.body else { return .query(name) }
    let size = parameters.first { parameter in
      if case .jsonBody = parameter.placement { Self.sizes.contains(parameter.name) } else { false }
    }
    let isCapitalized = size?.spelled.first?.isUppercase == true
    let own = isCapitalized ? name.capitalizedFirst : name
    guard case .jsonBody(let path)? = size?.placement,
      let beside = try? PagePath(PageOutline.container(of: path.text) + own)
    else { return (try? PagePath("/" + own)).map { .jsonBody($0) } ?? .query(name) }
    return .jsonBody(beside)
  }

  /// The total of the first page that ends a description; nil if it has none, or if a flag tells the
  /// end.
  func declaredEnd(of pagination: Pagination) -> (kind: Total.Kind, count: Int)? {
    func value(_ source: Pagination.ValueSource) -> JSONValue? {
      lookups.value(at: source, items: pagination.items)
    }
    var total: (kind: Total.Kind, count: Int)?
    for rule in pagination.end {
      switch rule {
      case .flag(let flag): if value(flag.source)?.boolean != nil { return nil }
      case .total(let end): total = total ?? value(end.source)?.count.map { (end.kind, $0) }
      default: break
      }
    }
    return total
  }

  /// Whether a total is the number of pages: it is less than the number of items in the page, and
  /// beside the number of the page, as in `"paging": {"current": 1, "total": 4}`.
  func countsPages(_ sign: DetectorSign) -> Bool {
    guard sign.kind == .total, let total = sign.value?.count,
      let count = outline.countedList(vocabulary)?.count, total < count
    else { return false }
    return isBesidePageNumber(sign)
  }

  /// Whether a plain "total" is as many as the page has items, and beside the page's number and no
  /// page size: as many pages may be there.
  var mayCountPages: Bool {
    let count = outline.countedList(vocabulary)?.count
    return exactTotals.contains { total in
      let container = PageOutline.container(of: total.sign.place)
      let hasSize = outline.nodes.contains { node in
        Self.sizes.contains(PaginationVocabulary.normalized(node.name))
          && PageOutline.container(of: node.path) == container
      }
      return total.sign.name == "total" && total.count == count && !hasSize
        && isBesidePageNumber(total.sign)
    }
  }

  private func isBesidePageNumber(_ sign: DetectorSign) -> Bool {
    let container = PageOutline.container(of: sign.place)
    return echoes(of: .page).contains { $0.path.dropLast($0.name.count) == container }
  }

  /// Whether the page may be a full one: it has as many items as the request asks for, by a parameter
  /// with a usual name of a page size, or a round number of them, as page sizes are.
  var mayBeFull: Bool {
    guard let count = outline.countedList(vocabulary)?.count else { return false }
    let isRound = count.isMultiple(of: 5) || count.isMultiple(of: 8) || count == 12
    return count >= 10 && isRound || Self.pageSizes(in: parameters).contains(count)
  }

  /// The page sizes that the request asks for.
  static func pageSizes(in parameters: [Parameter]) -> Set<Int> {
    Set(parameters.filter { sizes.contains($0.name) }.compactMap { Int($0.value.plainText) })
  }

  /// Whether a description continues by a parameter of the request, and the answer has no
  /// continuation.
  func usesOwnParameter(_ pagination: Pagination) -> Bool {
    guard pagination.routes.count == 1 else { return false }
    if case .placeholder(let text, _) = pagination.send {
      return placeholders.contains { $0.text == text }
    }
    // A numeric continuation may be the number of the next page, for the request's own parameter.
    guard pagination.next.isCounter || pagination.next.itemPath != nil,
      !signs.contains(where: { sign in
        sign.isContinuation && sign.value.map { Int($0.plainText) == nil } ?? false
      })
    else { return false }
    return parameters.contains { $0.placement == pagination.send }
  }

  /// Whether a request still contains a placeholder.
  func hasPlaceholder(_ request: PageRequest) -> Bool {
    let editor = RequestEditor(request)
    return placeholders.contains { editor.has(placeholder: $0.text) }
  }

  /// Returns the parameters of the request that may take a token, first the parameters with its
  /// name.
  func ownPlacements(for name: String, base: String) -> [Pagination.Placement] {
    let own = parameters.filter { $0.name == name || $0.name == base }
    let known = parameters.filter { parameter in
      guard vocabulary.tokenParameters.contains(parameter.name) else { return false }
      return parameter.value.isBlank || Int(parameter.value.plainText) == 0
    }
    return (own + known).map(\.placement)
  }
}

extension Pagination.Placement {
  /// The query parameter with a capitalized name: `Marker` for `marker`. Nil if it is capitalized
  /// already, or is no plain name.
  var capitalized: Pagination.Placement? {
    guard case .query(let name, let encoding) = self else { return nil }
    let words = name.split { $0 == "_" || $0 == "-" }
    guard words.joined().allSatisfy({ $0.isLetter || $0.isNumber }) else { return nil }
    let capitalized = words.map { String($0).capitalizedFirst }.joined()
    return capitalized == name ? nil : .query(capitalized, encoding: encoding)
  }
}
