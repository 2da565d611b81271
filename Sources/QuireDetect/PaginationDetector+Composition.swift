import HTTPTypes
import QuireCore
import QuirePagination

/// Descriptions composed from the answer, for listings that no preset fits.
extension PaginationDetector {
  /// Returns the composed descriptions, few enough to be tried one by one.
  func compositions() -> [Pagination] {
    let places: [PagePath?] = answer.document is EmptyDocument ? [nil] : lists.prefix(2).map { $0 }
    return places.flatMap { place -> [Pagination] in
      let items = place.map(items(at:)) ?? .root
      let ways = tokens(items)
      return byOwnParameters(items) + (ways.isEmpty ? counters(items) : ways)
    }
  }

  /// Returns the items at a path: the elements of a list, or the members of an object.
  func items(at place: PagePath) -> Pagination.Items {
    place.text == itemMap ? .members(.path(place)) : .path(place)
  }

  // MARK: Tokens and links

  private func tokens(_ items: Pagination.Items) -> [Pagination] {
    var routes: [Pagination.Route] = []
    for sign in signs(beside: items) {
      switch sign.kind {
      case .link: routes.append(Pagination.Route(.linkHeader, send: .url))
      case .token: routes += self.routes(for: sign)
      case .field where sign.isLink:
        routes.append(Pagination.Route(.header(sign.place), send: .url))
      case .field:
        var places = vocabulary.nextFields[sign.name]?.ranked ?? []
        if let name = vocabulary.continuationName(inField: sign.name) {
          let spelled = Self.withoutNext(Self.words(of: name, inField: sign.place))
          places += ownPlacements(for: name, base: Self.base(of: name))
          places += [.query(spelled)] + (vocabulary.next[name]?.ranked ?? [])
          places.insert(.query(Self.camel(spelled.words)), at: min(2, places.count))
          // A server that tells the cursor in `X-Cursor-Next` may read it from `X-Cursor`.
          let words = sign.place.split(separator: "-").filter { $0.lowercased() != "next" }
          if words.joined(separator: "-") != sign.place {
            places.insert(.header(words.joined(separator: "-")), at: min(3, places.count))
          }
        }
        routes += Self.unique(places).prefix(4).map {
          Pagination.Route(.header(sign.place), send: $0)
        }
      case .flag, .total, .pages: continue
      }
    }
    let (flags, total) = (flags(beside: items), itemTotal)
    return routes.prefix(12).map { route in
      Pagination(
        next: route.next, send: route.send, request: Pagination.RequestRule(isQuery: isPost),
        end: flags + sentinels(of: route.next),
        items: items, total: total)
    }
  }

  /// Returns the end rules of a numeric continuation, because some servers end with 0, -1 or the
  /// number that was just sent instead of null; empty for other continuations.
  func sentinels(of next: Pagination.Next) -> [Pagination.End] {
    guard case .body(let path) = next,
      case .number? = try? answer.document.value(at: path)
    else { return [] }
    return [.noNext(sentinels: ["0", "-1"]), .sameCursor]
  }

  private func routes(for sign: DetectorSign) -> [Pagination.Route] {
    guard let path = try? PagePath(sign.place) else { return [] }
    if case .object? = sign.value {
      return isPost ? [] : [Pagination.Route(.body(path), send: .queryMerge)]
    }
    if let link = sign.value?.link, sign.isLink {
      return [Pagination.Route(.body(path), send: link.hasPrefix("?") ? .queryMerge : .url)]
    }
    return placements(for: sign).prefix(5).map { Pagination.Route(.body(path), send: $0) }
  }

  var isPost: Bool { answer.request.method == .post }

  /// Returns the placements for a token, the likeliest first: parameters that the request has
  /// already, parameters to which presets send a token of this name, and parameters with the
  /// token's own name, with or without its "next".
  private func placements(for sign: DetectorSign) -> [Pagination.Placement] {
    let name = sign.name
    let spelled = Self.spelling(at: sign.place)
    // A server that writes `page_token` in a page most likely reads `page_token` in a request.
    let plain = Self.withoutNext(spelled)
    // `next_page_offset` mostly goes to `offset`.
    let last = plain.lowercased().hasPrefix("page") ? Self.without("page", plain) : plain
    let isKnown = !(vocabulary.spelled[spelled]?.ranked ?? []).isEmpty
    let known = Self.unique(
      (vocabulary.spelled[spelled]?.ranked ?? []) + (vocabulary.next[name]?.ranked ?? []))
    let there = ownPlacements(for: name, base: Self.base(of: name))
    let placements: [Pagination.Placement]
    switch answer.request.body {
    case .json(let body):
      let own = known.filter { if case .jsonBody = $0 { true } else { false } }
      let alike = Self.jsonBody(plain).map { [$0] } ?? []
      let guessed = known.compactMap(\.parameter).compactMap(Self.jsonBody)
      let filled = own.filter {
        if case .jsonBody(let path) = $0 { body.value(at: path) != nil } else { false }
      }
      placements =
        filled + variables(for: sign, plain, body) + bodyMembers(for: sign, plain, body)
        + Self.startParameters(for: plain).compactMap(Self.jsonBody)
        + (isKnown ? own + guessed + alike : own + alike + guessed)
        + [Self.jsonBody(last)].compactMap(\.self) + [.jsonBody("/cursor")]
    case .form:
      let guessed = known.compactMap(\.parameter).map { Pagination.Placement.form($0) }
      placements =
        (isKnown ? guessed + [.form(plain)] : [.form(plain)] + guessed) + [.form("cursor")]
    case .none, .xml, .bytes:
      placements =
        counters(at: sign.value) + jsonAPIParameters(plain) + besidePrefixedSize(plain)
        + containerParameter(for: sign, plain)
        + Self.startParameters(for: plain).map { .query($0) } + (isKnown ? [] : [.query(plain)])
        + queryPlacements(known, spelled: spelled).prefix(2) + parametersSpelledAlike(spelled)
        + [.query(plain), .query(last)]
        // `vid-offset` goes to `vidOffset`.
        + (plain.contains("-") ? [.query(Self.camel(plain.words))] : [])
        // A "next page" that is no number and no link is mostly taken as a cursor.
        + (name.hasSuffix("page") && sign.value?.integer == nil
          ? [.query("cursor"), .query("page_cursor")] : [])
        + (name.hasPrefix("next") ? [.query("next")] : []) + [.query(spelled)]
        + queryPlacements(known, spelled: spelled)
    }
    return Self.unique(there + placements)
  }

  /// Returns the parameters of JSON:API's family `page`, such as `page[after]`, if the answer is
  /// JSON:API or the request uses the family; empty otherwise.
  private func jsonAPIParameters(_ plain: String) -> [Pagination.Placement] {
    guard isJSONAPI || parameters.contains(where: { $0.spelled.hasPrefix("page[") }) else {
      return []
    }
    return Self.unique(["page[\(plain)]", "page[cursor]", "page[after]"].map { .query($0) })
  }

  /// Returns the name of a token, spelled like the request's page size if that has a prefix:
  /// `page.token` beside `page.size`.
  private func besidePrefixedSize(_ plain: String) -> [Pagination.Placement] {
    let name = plain.lowercased() == "next" ? "cursor" : plain
    return relatives(named: [name])
  }

  /// Returns the name of a token, prefixed with its container's name if that is `pagination`:
  /// `pagination.key` for `{"pagination": {"next_key": …}}`.
  private func containerParameter(for sign: DetectorSign, _ plain: String) -> [Pagination.Placement]
  {
    guard let around = sign.place.split(separator: "/").dropLast().last,
      PaginationVocabulary.normalized(String(around)) == "pagination"
    else { return [] }
    let name = plain == "next" ? "cursor" : plain
    return parameters.contains { $0.spelled.hasPrefix("\(around).") }
      || vocabulary.next[sign.name] == nil
      ? [.query("\(around).\(name)")] : []
  }

  /// Returns the variables of a GraphQL query that are named like a token, whether the request gives
  /// them a value or not: `/variables/nextToken` for `query($nextToken: String)`.
  private func variables(for sign: DetectorSign, _ plain: String, _ body: JSONValue)
    -> [Pagination.Placement]
  {
    guard let query = body["query"]?.string else { return [] }
    let declared = query.split(separator: "$").dropFirst().compactMap { part -> String? in
      let name = part.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      return part.dropFirst(name.count).drop(while: \.isWhitespace).first == ":"
        ? String(name) : nil
    }
    let alike = [sign.name, PaginationVocabulary.normalized(plain)]
    let named = declared.filter { alike.contains(PaginationVocabulary.normalized($0)) }
    let usual = declared.filter {
      vocabulary.tokenParameters.contains(PaginationVocabulary.normalized($0))
    }
    return (named + usual).compactMap { try? PagePath("/variables/" + $0) }.map { .jsonBody($0) }
  }

  /// Returns the member of the request's JSON at the place where the page has its token:
  /// `/page/after` for `{"page": {"endCursor": …}}`.
  private func bodyMembers(for sign: DetectorSign, _ plain: String, _ body: JSONValue)
    -> [Pagination.Placement]
  {
    let steps = sign.place.split(separator: "/").dropLast()
    guard !steps.isEmpty, let path = try? PagePath("/" + steps.joined(separator: "/")),
      case .object? = body.value(at: path)
    else { return [] }
    let names = sign.name == "endcursor" ? ["after", plain] : [plain]
    return names.compactMap { try? PagePath(path.text + PagePath.pointer(to: $0)) }.map {
      .jsonBody($0)
    }
  }

  /// Returns the name of a token, spelled like the request's own parameters: `group_next_token` for
  /// `groupNextToken` beside `group_limit`.
  private func parametersSpelledAlike(_ spelled: String) -> [Pagination.Placement] {
    let words = spelled.words
    guard words.count > 1 else { return [] }
    for parameter in parameters where parameter.spelled.words.count > 1 {
      let own = parameter.spelled
      let written =
        own.contains("_")
        ? words.joined(separator: "_")
        : own.contains("-")
          ? words.joined(separator: "-") : Self.camel(words)
      return written == spelled ? [] : [.query(written)]
    }
    return []
  }

  private static func camel(_ words: [String]) -> String {
    words.prefix(1).joined()
      + words.dropFirst().map(\.capitalizedFirst).joined()
  }

  /// The parameters that start a listing at a name: `startFileName` for `nextFileName`, and `start` for
  /// `nextStartWith`.
  private static func startParameters(for plain: String) -> [String] {
    let words = plain.words
    if words.count == 2, words[0] == "start", words[1] == "with" { return ["start"] }
    guard words.count > 1, words.last == "name" else { return [] }
    return [plain.contains("_") ? "start_" + plain : "start" + plain.capitalizedFirst]
  }

  private static func jsonBody(_ name: String) -> Pagination.Placement? {
    (try? PagePath(PagePath.pointer(to: name))).map { .jsonBody($0) }
  }

  /// Returns the query parameters among the known placements of a token whose name is `spelled` in
  /// the page.
  private func queryPlacements(
    _ known: [Pagination.Placement], spelled: String
  ) -> [Pagination.Placement] {
    // A token that presets send in a body may go to the query here, by the same name.
    let elsewhere = known.compactMap { placement -> Pagination.Placement? in
      guard case .jsonBody = placement else { return nil }
      return placement.parameter.map { .query($0) }
    }
    let own = known.filter { if case .query = $0 { true } else { false } } + elsewhere
    // A server that writes `NextMarker` or `MaxItems` most likely reads `Marker`.
    let isCapitalized = spelled.first?.isUppercase == true && spelled.contains(where: \.isLowercase)
    let writesCapitals = parameters.contains { $0.spelled.first?.isUppercase == true }
    let capitalized = isCapitalized ? own.prefix(2).compactMap(\.capitalized) : []
    let usual = Array(own.prefix(2))
    return (writesCapitals ? capitalized + usual : usual + capitalized) + own.dropFirst(2)
  }

  /// Returns a normalized name without its "next": `cursor` for `nextcursor`.
  private static func base(of name: String) -> String {
    name.hasPrefix("next") && name.count > 4 ? String(name.dropFirst(4)) : name
  }

  /// Returns the last name of a path, as it is spelled there.
  private static func spelling(at place: String) -> String {
    let step = place.split(separator: "/").last ?? ""
    return String(step.drop { $0 == "@" }.prefix { $0 != "[" })
  }

  /// Returns the name of a header field in the spelling of parameters: `next_page_token` for
  /// `nextpagetoken` in `X-Next-Page-Token`.
  private static func words(of name: String, inField field: String) -> String {
    var words = field.split(separator: "-")
    while words.count > 1, PaginationVocabulary.normalized(words.joined()) != name {
      words.removeFirst()
    }
    let spelled = words.joined(separator: "_").lowercased()
    return PaginationVocabulary.normalized(spelled) == name ? spelled : name
  }

  /// Returns a spelled name without its "next": `page_token` for `next_page_token`.
  private static func withoutNext(_ spelled: String) -> String {
    spelled.lowercased().hasPrefix("next") ? without("next", spelled) : spelled
  }

  /// Returns a spelled name without the word that it begins with.
  private static func without(_ beginning: String, _ spelled: String) -> String {
    let rest = spelled.dropFirst(beginning.count)
    let word = rest.drop { $0 == "_" || $0 == "-" || $0 == "." }
    guard let first = word.first else { return spelled }
    // `nextCursor` becomes `cursor`, and `NextMarker` becomes `Marker`.
    let isCamel = word.count == rest.count && spelled.first?.isLowercase == true
    return isCamel ? first.lowercased() + word.dropFirst() : String(word)
  }

  private static func unique(_ placements: [Pagination.Placement]) -> [Pagination.Placement] {
    var seen: Set<Pagination.Placement> = []
    return placements.filter { seen.insert($0).inserted }
  }

  // MARK: Ends and totals

  /// Returns the signs without those of other lists, such as a second connection of GraphQL: of
  /// paths that are alike, as `/data/a/pageInfo/endCursor` and `/data/b/pageInfo/endCursor` are,
  /// those that share most with the path of the items.
  private func signs(beside items: Pagination.Items) -> [DetectorSign] {
    let list = (items.paths.first?.text ?? "").split(separator: "/")
    let places = signs.map { sign in
      let steps = sign.place.split(separator: "/")
      return (
        sign: sign, form: [Substring(String(steps.count))] + steps.suffix(2),
        closeness: zip(list, steps).prefix { $0 == $1 }.count
      )
    }
    let closest = Dictionary(places.map { ($0.form, $0.closeness) }, uniquingKeysWith: max)
    return places.filter { $0.closeness == closest[$0.form] }.map(\.sign)
  }

  /// Returns the end rule of the answer's flag; none if it has no flag.
  func flags(beside items: Pagination.Items) -> [Pagination.End] {
    signs(beside: items).filter { $0.kind == .flag }.prefix(1).compactMap { sign in
      guard let path = try? PagePath(sign.place) else { return nil }
      return .flag(.body(path), continuesWhile: vocabulary.flags[sign.name] ?? true)
    }
  }

  private func totals() -> [Pagination.TotalSource] {
    signs.filter { $0.kind == .total || $0.kind == .pages }.compactMap(total)
  }

  private func total(_ sign: DetectorSign) -> Pagination.TotalSource? {
    let kind = countsPages(sign) ? .pages : vocabulary.totals[sign.name] ?? .items
    return (try? PagePath(sign.place)).map { .init(.body($0), kind) }
  }

  // MARK: Counters

  /// Returns descriptions that number pages or count items, for an answer without a continuation:
  /// the likeliest of each kind, then the others.
  private func counters(_ items: Pagination.Items) -> [Pagination] {
    let beside = parametersBesideSize
    let pages =
      [pageParameter] + repeatedParameters(of: .page) + numbersBesideSize
      + beside.filter(numbersPages)
    let offsets =
      [offsetParameter] + repeatedParameters(of: .offset) + beside.filter { !numbersPages($0) }
    let further = furtherParameters
    let numbered = Self.unique(pages).map { self.numbered(items, first: firstPage, $0) }
    let counted = Self.unique(offsets + further.offsets).map {
      self.counted(items, first: firstOffset, $0)
    }
    let others = Self.unique(further.pages).filter { !pages.contains($0) }
    return [numbered[0], counted[0]] + numbered.dropFirst() + counted.dropFirst()
      + others.map { self.numbered(items, first: firstPage, $0) }
  }

  /// Parameters that many servers count by, to be tried last: a name from the answer in another
  /// spelling, and common names. Empty unless the page indicates a further page and the request has
  /// no counter.
  private var furtherParameters: (pages: [Pagination.Placement], offsets: [Pagination.Placement]) {
    let isCounted = parameters.contains { parameter in
      vocabulary.pageNames.contains(parameter.name) || vocabulary.isOffset(parameter.name)
    }
    guard answer.request.body == .none, !isCounted,
      declaredItems != nil || signs.contains(where: { $0.saysMore(vocabulary) })
    else { return ([], []) }
    let written = echoes(of: .page).prefix(1).flatMap { echo -> [String] in
      let words = echo.name.words
      return words.count > 1 ? [words.joined(separator: "-"), "page[number]"] : []
    }
    let pages =
      (writesCapitals ? ["Page"] : []) + written + (echoes(of: .offset).isEmpty ? ["p"] : [])
    let offsets =
      repeatsItsStart ? [] : isJSONAPI ? ["page[offset]"] : ["start", "skip", "startIndex"]
    return (pages.map { .query($0) }, offsets.map { .query($0) })
  }

  /// The parameter `pageNumber`, if the page has its size as `pageSize` and its number under
  /// another name.
  private var numbersBesideSize: [Pagination.Placement] {
    guard answer.request.body == .none, !echoes(of: .page).isEmpty else { return [] }
    return outline.nodes.filter { node in
      node.kind == .scalar && !node.isInList && node.value?.integer != nil
        && PaginationVocabulary.normalized(node.name) == "pagesize" && !node.name.hasPrefix("@")
    }.prefix(1).map { .query(PaginationVocabulary.number(besideSize: $0.name)) }
      .filter { sent.value(at: $0) == nil }
  }

  /// Whether the names of the answer's members are capitalized: `TotalCount`.
  var writesCapitals: Bool {
    let names = outline.nodes.filter { $0.depth == 1 && !$0.name.hasPrefix("@") }.map(\.name)
    return !names.isEmpty
      && names.allSatisfy { $0.first?.isUppercase == true && $0.contains(where: \.isLowercase) }
  }

  private func numbersPages(_ placement: Pagination.Placement) -> Bool {
    guard let name = placement.parameter.map(PaginationVocabulary.normalized) else { return false }
    // A prefixed name is not among the known ones: `paging.pageNumber`.
    return vocabulary.pageNames.contains(name) || name.hasSuffix("pagenumber")
  }

  /// Returns the placements for a number that is the page's own number plus one, or its own offset
  /// plus its length: Ghost has `"next": 2` beside `"page": 1`, and takes `page`.
  private func counters(at value: JSONValue?) -> [Pagination.Placement] {
    guard let number = value?.integer else { return [] }
    let pages = echoes(of: .page).compactMap { $0.value?.integer }
    if pages.contains(number &- 1) || pages.isEmpty && number == 2 { return [pageParameter] }
    let count = outline.countedList(vocabulary)?.count ?? 0
    let starts = echoes(of: .offset).compactMap { $0.value?.integer }
    return starts.contains(number &- count) ? [offsetParameter] : []
  }

  /// Returns a description that numbers pages from `first`, with the ends that the answer offers.
  func numbered(_ items: Pagination.Items, first: Int, _ send: Pagination.Placement) -> Pagination {
    let pages = totals().first { $0.kind == .pages }
    let total = itemTotal
    return Pagination(
      next: .pageNumber(first: first), send: send, request: Pagination.RequestRule(isQuery: isPost),
      end: end(pages ?? total, items), items: items, total: total ?? pages)
  }

  /// Returns a description that counts items from `first`, with the ends that the answer offers.
  func counted(_ items: Pagination.Items, first: Int, _ send: Pagination.Placement) -> Pagination {
    Pagination(
      next: .offset(first: first), send: send, request: request(countedAt: send),
      end: end(itemTotal, items), items: items, total: itemTotal)
  }

  /// Returns the request rule for an offset. json-server's `_end` would have to grow with `_start`,
  /// so it is replaced by `_limit`.
  private func request(countedAt send: Pagination.Placement) -> Pagination.RequestRule {
    var rule = Pagination.RequestRule(isQuery: isPost)
    guard send == .query("_start"), let end = sent.query["_end"].flatMap({ Int($0) }) else {
      return rule
    }
    let size = end.minus(sent.query["_start"].flatMap { Int($0) } ?? 0)
    guard size > 0 else { return rule }
    rule.keep = .except(["_end"])
    rule.then = Pagination.RequestChange(
      set: Pagination.RequestConstants(query: ["_limit": String(size)]))
    return rule
  }

  /// The total of items. Of several numbers it is the smallest that exceeds the length of the page,
  /// because greater ones may include items that a filter excludes. A number that equals the length
  /// of the page counts the page, unless its name has "total" or "found" in it.
  var itemTotal: Pagination.TotalSource? {
    let count = outline.countedList(vocabulary)?.count ?? 0
    let exact = exactTotals
    let found = signs.filter { sign in
      sign.kind == .total && !countsPages(sign)
        && (vocabulary.totals[sign.name] == .items
          ? exact.contains { $0.sign == sign } : vocabulary.totals[sign.name] != .lowerBound)
    }
    let greater = exact.filter { $0.count > count }.min { $0.count < $1.count }?.sign
    let own = Set(exact.filter { $0.count == count }.map(\.sign)).filter { sign in
      !["total", "found"].contains { sign.name.contains($0) }
    }
    return (greater ?? found.first { !own.contains($0) }).flatMap(total)
  }

  private func end(
    _ total: Pagination.TotalSource?, _ items: Pagination.Items
  ) -> [Pagination.End] {
    flags(beside: items) + (total.map { [.total($0)] } ?? []) + [.emptyPage]
  }
}

extension String {
  /// The name with its first letter in upper case.
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

  /// The words of a name in lowercase, split at capitals, underscores and hyphens: the same for
  /// `nextToken`, `next_token` and `next-token`.
  fileprivate var words: [String] {
    var words: [String] = [""]
    for character in self {
      if character.isUppercase, words[words.count - 1].isEmpty == false { words.append("") }
      if character == "_" || character == "-" {
        words.append("")
      } else {
        words[words.count - 1] += character.lowercased()
      }
    }
    return words.filter { !$0.isEmpty }
  }
}

extension Pagination.Placement {
  /// The name of the parameter in the query, a form or a JSON body; nil for other placements.
  var parameter: String? {
    switch self {
    case .query(let name, _), .form(let name): name
    case .jsonBody(let path): path.text.split(separator: "/").last.map(String.init)
    default: nil
    }
  }
}
