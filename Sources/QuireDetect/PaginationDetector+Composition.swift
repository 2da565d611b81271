import HTTPTypes
import QuireCore
import QuirePagination

/// Descriptions put together from what is in the answer, for listings that no preset fits.
extension PaginationDetector {
  /// Few enough to be tried one by one.
  func compositions() -> [Pagination] {
    let places: [PagePath?] = answer.document is EmptyDocument ? [nil] : lists.prefix(2).map { $0 }
    return places.flatMap { place -> [Pagination] in
      let items = place.map(Pagination.Items.path) ?? .root
      let ways = tokens(items)
      return asked(items) + (ways.isEmpty ? counters(items) : ways)
    }
  }

  // MARK: Tokens and links

  private func tokens(_ items: Pagination.Items) -> [Pagination] {
    var routes: [Pagination.Route] = []
    for sign in signs {
      switch sign.kind {
      case .link: routes.append(Pagination.Route(.linkHeader, send: .url))
      case .token: routes += self.routes(for: sign)
      case .field:
        var places = vocabulary.nextFields[sign.name]?.ranked ?? []
        if let name = vocabulary.meaning(ofField: sign.name) {
          let spelled = Self.withoutNext(Self.words(of: name, inField: sign.place))
          places += ownPlacements(for: name, base: Self.base(of: name))
          places += [.query(spelled)] + (vocabulary.next[name]?.ranked ?? [])
        }
        routes += Self.unique(places).prefix(2).map {
          Pagination.Route(.header(sign.place), send: $0)
        }
      case .flag, .total, .pages: continue
      }
    }
    let flags = flags()
    return routes.prefix(8).map { route in
      let total = totals().first { $0.kind != .pages }
      return Pagination(
        next: route.next, send: route.send, request: Pagination.RequestRule(isQuery: isPost),
        end: flags,
        items: items, total: total)
    }
  }

  private func routes(for sign: DetectorSign) -> [Pagination.Route] {
    guard let path = try? PagePath(sign.place) else { return [] }
    if let link = sign.value?.link, sign.isLink {
      return [Pagination.Route(.body(path), send: link.hasPrefix("?") ? .queryMerge : .url)]
    }
    return placements(for: sign).prefix(3).map { Pagination.Route(.body(path), send: $0) }
  }

  var isPost: Bool { answer.request.method == .post }

  /// Where a token may go: to a parameter that the request has already, else to those that presets
  /// send it to, else to one of its own name, without its "next" or with it.
  private func placements(for sign: DetectorSign) -> [Pagination.Placement] {
    let name = sign.name
    let spelled = Self.spelling(at: sign.place)
    // Who writes `page_token` on a page most likely reads `page_token`, too.
    let plain = Self.withoutNext(spelled)
    let isKnown = !(vocabulary.spelled[spelled]?.ranked ?? []).isEmpty
    let known = Self.unique(
      (vocabulary.spelled[spelled]?.ranked ?? []) + (vocabulary.next[name]?.ranked ?? []))
    switch answer.request.body {
    case .json(let body):
      let own = known.filter { if case .jsonBody = $0 { true } else { false } }
      let there =
        ownPlacements(for: name, base: Self.base(of: name))
        + own.filter {
          if case .jsonBody(let path) = $0 { body.value(at: path) != nil } else { false }
        }
      let guessed = known.compactMap(\.parameter)
        .compactMap { try? PagePath(PagePath.pointer(to: $0)) }.map {
          Pagination.Placement.jsonBody($0)
        }
      let alike =
        (try? PagePath(PagePath.pointer(to: plain))).map { [Pagination.Placement.jsonBody($0)] }
        ?? []
      let others = isKnown ? own + guessed + alike : own + alike + guessed
      return Self.unique(there + others + [.jsonBody("/cursor")])
    case .form:
      let guessed = known.compactMap { $0.parameter }.map { Pagination.Placement.form($0) }
      let others = isKnown ? guessed + [.form(plain)] : [.form(plain)] + guessed
      return Self.unique(
        ownPlacements(for: name, base: Self.base(of: name)) + others + [.form("cursor")])
    case .none, .xml, .bytes:
      // A server that reads a token in a body elsewhere may read it in the query here, by its name.
      let elsewhere = known.compactMap { placement -> Pagination.Placement? in
        guard case .jsonBody = placement else { return nil }
        return placement.parameter.map { .query($0) }
      }
      let own = known.filter { if case .query = $0 { true } else { false } } + elsewhere
      let there = ownPlacements(for: name, base: Self.base(of: name))
      // Who writes `NextMarker` or `MaxItems` most likely reads `Marker`.
      let isCapitalized =
        spelled.first?.isUppercase == true && spelled.contains(where: \.isLowercase)
      let writesCapitals = parameters.contains { $0.spelled.first?.isUppercase == true }
      let capitalized = isCapitalized ? own.prefix(2).compactMap(\.capitalized) : []
      let alike = isKnown ? [] : [Pagination.Placement.query(plain)]
      let usual = Array(own.prefix(2))
      let others = writesCapitals ? capitalized + usual : usual + capitalized
      return Self.unique(
        there + counters(at: sign.value) + alike + others + own.dropFirst(2)
          + [.query(plain), .query(spelled)])
    }
  }

  /// `cursor` for `nextcursor`.
  private static func base(of name: String) -> String {
    name.hasPrefix("next") && name.count > 4 ? String(name.dropFirst(4)) : name
  }

  /// The name that a place ends in, as it is spelled there.
  private static func spelling(at place: String) -> String {
    let step = place.split(separator: "/").last ?? ""
    return String(step.drop { $0 == "@" }.prefix { $0 != "[" })
  }

  /// What `name` says in a field, in words as parameters have them: `next_page_token` for
  /// `nextpagetoken` in `X-Next-Page-Token`.
  private static func words(of name: String, inField field: String) -> String {
    var words = field.split(separator: "-")
    while words.count > 1, PaginationVocabulary.normal(words.joined()) != name {
      words.removeFirst()
    }
    let spelled = words.joined(separator: "_").lowercased()
    return PaginationVocabulary.normal(spelled) == name ? spelled : name
  }

  /// The same for a name as it is spelled: `page_token` for `next_page_token`.
  private static func withoutNext(_ spelled: String) -> String {
    guard spelled.lowercased().hasPrefix("next") else { return spelled }
    let rest = spelled.dropFirst(4)
    let word = rest.drop { $0 == "_" || $0 == "-" || $0 == "." }
    guard let first = word.first else { return spelled }
    // `nextCursor` is a small `cursor`, and `NextMarker` a great `Marker`.
    let isCamel = word.count == rest.count && spelled.first?.isLowercase == true
    return isCamel ? first.lowercased() + word.dropFirst() : String(word)
  }

  private static func unique(_ placements: [Pagination.Placement]) -> [Pagination.Placement] {
    var seen: Set<Pagination.Placement> = []
    return placements.filter { seen.insert($0).inserted }
  }

  // MARK: Ends and totals

  private func flags() -> [Pagination.End] {
    signs.filter { $0.kind == .flag }.prefix(1).compactMap { sign in
      guard let path = try? PagePath(sign.place) else { return nil }
      return .flag(.body(path), continuesWhile: vocabulary.flags[sign.name] ?? true)
    }
  }

  private func totals() -> [Pagination.TotalSource] {
    signs.filter { $0.kind == .total || $0.kind == .pages }.compactMap(total)
  }

  private func total(_ sign: DetectorSign) -> Pagination.TotalSource? {
    (try? PagePath(sign.place)).map { .init(.body($0), vocabulary.totals[sign.name] ?? .items) }
  }

  // MARK: Counters

  /// Numbered pages and offsets, where the answer has no continuation: the likeliest of each, then others.
  private func counters(_ items: Pagination.Items) -> [Pagination] {
    let beside = parametersBesideSize
    let pages = [pageParameter] + repeatedParameters(of: .page) + beside.filter(numbersPages)
    let offsets =
      [offsetParameter] + repeatedParameters(of: .offset) + beside.filter { !numbersPages($0) }
    let numbered = Self.unique(pages).map { self.numbered(items, first: firstPage, $0) }
    let counted = Self.unique(offsets).map { self.counted(items, first: firstOffset, $0) }
    return [numbered[0], counted[0]] + numbered.dropFirst() + counted.dropFirst()
  }

  private func numbersPages(_ placement: Pagination.Placement) -> Bool {
    guard let name = placement.parameter.map(PaginationVocabulary.normal) else { return false }
    // Behind the name of what it stands in it is none of those known: `paging.pageNumber`.
    return vocabulary.pageNames.contains(name) || name.hasSuffix("pagenumber")
  }

  /// Where a number goes that follows on the one by which the page says where it is: Ghost has `"next": 2`
  /// beside `"page": 1`, and takes `page`.
  private func counters(at value: JSONValue?) -> [Pagination.Placement] {
    guard let number = value?.integer else { return [] }
    let pages = echoes(of: .page).compactMap { $0.value?.integer }
    if pages.contains(number &- 1) || pages.isEmpty && number == 2 { return [pageParameter] }
    let count = outline.likelyList(vocabulary)?.count ?? 0
    let starts = echoes(of: .offset).compactMap { $0.value?.integer }
    return starts.contains(number &- count) ? [offsetParameter] : []
  }

  /// What pages are numbered by from `first`, to the end that the answer tells.
  func numbered(_ items: Pagination.Items, first: Int, _ send: Pagination.Placement) -> Pagination {
    let pages = totals().first { $0.kind == .pages }
    let total = itemTotal
    return Pagination(
      next: .pageNumber(first: first), send: send, request: Pagination.RequestRule(isQuery: isPost),
      end: end(pages ?? total), items: items, total: total ?? pages)
  }

  /// What items are counted by from `first`, to the end that the answer tells.
  func counted(_ items: Pagination.Items, first: Int, _ send: Pagination.Placement) -> Pagination {
    Pagination(
      next: .offset(first: first), send: send, request: request(countedAt: send),
      end: end(itemTotal), items: items, total: itemTotal)
  }

  /// What else changes in a request whose offset goes there: an `_end` would have to move along, and
  /// json-server takes a `_limit` in its place.
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

  /// How many items there are: of several numbers the least that is more than the page has, for others count what
  /// a filter leaves out as well. What counts the page's own items is none.
  private var itemTotal: Pagination.TotalSource? {
    let count = outline.likelyList(vocabulary)?.count ?? 0
    let found = signs.filter { $0.kind == .total && vocabulary.totals[$0.name] != .lowerBound }
    let exact = found.filter { vocabulary.totals[$0.name] == .items }.compactMap { sign in
      sign.value?.count.map { (sign, count: $0) }
    }
    let greater = exact.filter { $0.count > count }.min { $0.count < $1.count }?.0
    let own = Set(exact.filter { $0.count == count }.map(\.0)).filter {
      ["count", "size", "length", "returned", "numberofelements"].contains($0.name)
    }
    return (greater ?? found.first { !own.contains($0) }).flatMap(total)
  }

  private func end(_ total: Pagination.TotalSource?) -> [Pagination.End] {
    flags() + (total.map { [.total($0)] } ?? []) + [.emptyPage]
  }
}

extension Pagination.Placement {
  /// The name of a parameter, wherever it goes.
  var parameter: String? {
    switch self {
    case .query(let name, _), .form(let name): name
    case .jsonBody(let path): path.text.split(separator: "/").last.map(String.init)
    default: nil
    }
  }
}

extension PaginationDetector {
  /// What a trait showed itself to be.
  enum Finding {
    case found(JSONValue?)
    case blank
    case absent
  }

  /// What is found of a trait, and at which of its places.
  func find(
    _ traits: PaginationVocabulary.Atoms, items: Pagination.Items,
    count: (items: Int, isThere: Bool)
  ) -> (Finding, DescriptionTrait) {
    let trait = traits.trait
    switch trait.probe {
    case .items:
      let place = traits.atoms.first { atom in
        guard case .items(.path(let path)) = atom.probe else { return false }
        return lookups.count(at: path) ?? 0 > 0
      }
      let finding: Finding = count.items > 0 ? .found(nil) : count.isThere ? .blank : .absent
      return (finding, place ?? traits.atoms.first ?? trait)
    case .value:
      for atom in traits.atoms {
        guard case .value(let source) = atom.probe,
          let value = lookups.value(at: source, items: items)
        else { continue }
        if trait.role == .next, isEcho(value, at: source) { continue }
        return (value.isBlank ? .blank : .found(value), atom)
      }
      return (.absent, trait)
    case .link(let relation, let conditions):
      let link = answer.links.first(relation: relation, where: conditions)
      return (link.map { .found(.string($0.target)) } ?? .absent, trait)
    case .sent(let placement):
      return (sent.value(at: placement) != nil ? .found(nil) : .absent, trait)
    case .constant(let placement, let value):
      let isSent = sent.value(at: placement)?.plainText == value
      return (isSent ? .found(nil) : .absent, trait)
    }
  }

  /// Whether a number only repeats where this page starts, as `"offset": 0` does.
  private func isEcho(_ value: JSONValue, at source: Pagination.ValueSource) -> Bool {
    guard case .body = source else { return false }
    return source.names.contains { vocabulary.isEcho(value, named: $0) }
  }

  func weigh(
    _ trait: DescriptionTrait, _ finding: Finding, at atom: DescriptionTrait,
    explained: inout Set<String>, in fit: inout DetectorFit
  ) {
    let isLookedUp = trait.role == .items && fit.place != nil
    let information = isLookedUp ? 0 : vocabulary.information(of: atom)
    switch finding {
    case .found(let value):
      // Most lists have items with ids; that alone says nothing about how they go on.
      let isWeak = trait.isOfItems
      let share = !isWeak ? 1 : trait.role == .next ? Weights.lastItem.share : 0
      fit.score += Weights.share(of: trait.role) * information * share
      if trait.role == .next { fit.score += isWeak ? Weights.lastItem.bonus : Weights.foundNext }
      explained.formUnion(trait.names)
      if trait.role.isFoundation, !isWeak { fit.isFounded = true }
      if trait.role == .next || trait.role == .flag { fit.isToldEnd = true }
      if trait.role.isOfPage, information >= Weights.distinct { fit.isDistinct = true }
      if let words = atom.words(for: value, count: fit.itemCount) { fit.evidence.append(words) }
    case .blank:
      fit.score += Weights.share(of: trait.role) * information * Weights.blank
      explained.formUnion(trait.names)
      if trait.role == .next {
        fit.isFounded = true
        fit.isToldEnd = true
        fit.evidence.append("\(atom.place) is there and empty, which is the end")
      }
    case .absent: fit.score -= Weights.absence(of: trait.role)
    }
  }
}

extension DescriptionTrait {
  /// Whether it is looked for in an item.
  var isOfItems: Bool { if case .value(.lastItem) = probe { true } else { false } }
}

extension DescriptionTrait.Role {
  /// Whether it says what the page holds, and not how the next one is asked for.
  fileprivate var isOfPage: Bool { self == .items || self == .total || self == .pages }

  /// Whether it says how a listing continues or ends.
  var isFoundation: Bool {
    switch self {
    case .next, .flag, .total, .pages: true
    case .items, .mark, .echo, .parameter, .size, .constant: false
    }
  }
}
