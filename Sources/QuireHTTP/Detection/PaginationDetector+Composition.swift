import HTTPTypes
import QuireCore

/// Descriptions put together from what is in the answer, for listings that no preset fits.
extension PaginationDetector {
  /// Few enough to be tried one by one.
  func compositions() -> [Pagination] {
    let places: [PagePath?] = answer.document is EmptyDocument ? [nil] : lists.prefix(2).map { $0 }
    return places.flatMap { place -> [Pagination] in
      let items = place.map(ItemSelector.path) ?? .root
      let ways = tokens(items)
      return asked(items) + (ways.isEmpty ? counters(items) : ways)
    }
  }

  // MARK: Tokens and links

  private func tokens(_ items: ItemSelector) -> [Pagination] {
    var routes: [Route] = []
    for sign in signs {
      switch sign.kind {
      case .link: routes.append(Route(.linkHeader, send: .url))
      case .token: routes += self.routes(for: sign)
      case .field:
        var places = vocabulary.nextFields[sign.name]?.ranked ?? []
        if let name = vocabulary.meaning(ofField: sign.name) {
          places += [.query(Self.base(of: name))] + (vocabulary.next[name]?.ranked ?? [])
        }
        routes += Self.unique(places).prefix(2).map { Route(.header(sign.place), send: $0) }
      case .flag, .total, .pages: continue
      }
    }
    let flags = flags()
    return routes.prefix(8).map { route in
      let total = totals().first { $0.kind != .pages }
      return Pagination(
        next: route.next, send: route.send, request: RequestRule(isQuery: isPost), end: flags,
        items: items, total: total)
    }
  }

  private func routes(for sign: DetectorSign) -> [Route] {
    guard let path = try? PagePath(sign.place) else { return [] }
    if let link = sign.value?.link, sign.isLink {
      return [Route(.body(path), send: link.hasPrefix("?") ? .queryMerge : .url)]
    }
    return placements(for: sign).prefix(3).map { Route(.body(path), send: $0) }
  }

  var isPost: Bool { answer.request.method == .post }

  /// Where a token may go: to a parameter that the request has already, else to those that presets
  /// send it to, else to one of its own name.
  private func placements(for sign: DetectorSign) -> [Placement] {
    let name = sign.name
    let spelled = sign.place.split(separator: "/").last.map(String.init) ?? ""
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
        .compactMap { try? PagePath(PagePath.pointer(to: $0)) }.map { Placement.jsonBody($0) }
      return Self.unique(there + own + guessed + [.jsonBody("/cursor")])
    case .form:
      return Self.unique(
        ownPlacements(for: name, base: Self.base(of: name))
          + known.compactMap { $0.parameter }.map { .form($0) } + [.form("cursor")])
    case .none, .xml, .bytes:
      let own = known.filter { if case .query = $0 { true } else { false } }
      let there = ownPlacements(for: name, base: Self.base(of: name))
      // Who writes `NextMarker` or `MaxItems` most likely reads `Marker`.
      let isCapitalized =
        spelled.first?.isUppercase == true && spelled.contains(where: \.isLowercase)
      let writesCapitals = parameters.contains { $0.spelled.first?.isUppercase == true }
      let capitalized = isCapitalized ? own.prefix(2).compactMap(\.capitalized) : []
      // Who writes `page_token` on a page most likely reads `page_token`, too.
      let alike =
        (vocabulary.spelled[spelled]?.ranked ?? []).isEmpty
        ? [Placement.query(Self.withoutNext(spelled))] : []
      let usual = Array(own.prefix(2))
      let others = writesCapitals ? capitalized + usual : usual + capitalized
      return Self.unique(
        there + alike + others + own.dropFirst(2) + [.query(Self.base(of: name))])
    }
  }

  /// `cursor` for `nextcursor`.
  private static func base(of name: String) -> String {
    name.hasPrefix("next") && name.count > 4 ? String(name.dropFirst(4)) : name
  }

  /// The same for a name as it is spelled: `page_token` for `next_page_token`.
  private static func withoutNext(_ spelled: String) -> String {
    if let rest = spelled.wholeMatch(of: #/next[_-](.+)/#)?.1 { return String(rest) }
    if let rest = spelled.wholeMatch(of: #/Next([A-Z].*)/#)?.1 { return String(rest) }
    guard let rest = spelled.wholeMatch(of: #/next([A-Z].*)/#)?.1 else { return spelled }
    return rest.prefix(1).lowercased() + rest.dropFirst()
  }

  private static func unique(_ placements: [Placement]) -> [Placement] {
    var seen: Set<Placement> = []
    return placements.filter { seen.insert($0).inserted }
  }

  // MARK: Ends and totals

  private func flags() -> [EndRule] {
    signs.filter { $0.kind == .flag }.prefix(1).compactMap { sign in
      guard let path = try? PagePath(sign.place) else { return nil }
      return .flag(.body(path), continuesWhile: vocabulary.flags[sign.name] ?? true)
    }
  }

  private func totals() -> [TotalSource] {
    signs.filter { $0.kind == .total || $0.kind == .pages }.compactMap { sign in
      guard let path = try? PagePath(sign.place) else { return nil }
      return TotalSource(.body(path), vocabulary.totals[sign.name] ?? .items)
    }
  }

  // MARK: Counters

  /// Numbered pages and offsets, where nothing in the answer leads on by itself.
  private func counters(_ items: ItemSelector) -> [Pagination] {
    [
      numbered(items, first: firstPage, pageParameter),
      counted(items, first: firstOffset, offsetParameter),
    ]
  }

  /// What pages are numbered by from `first`, to the end that the answer tells.
  func numbered(_ items: ItemSelector, first: Int, _ send: Placement) -> Pagination {
    let pages = totals().first { $0.kind == .pages }
    let total = itemTotal
    return Pagination(
      next: .pageNumber(first: first), send: send, request: RequestRule(isQuery: isPost),
      end: end(pages ?? total), items: items, total: total ?? pages)
  }

  /// What items are counted by from `first`, to the end that the answer tells.
  func counted(_ items: ItemSelector, first: Int, _ send: Placement) -> Pagination {
    Pagination(
      next: .offset(first: first), send: send, request: RequestRule(isQuery: isPost),
      end: end(itemTotal), items: items, total: itemTotal)
  }

  private var itemTotal: TotalSource? {
    totals().first { $0.kind != .pages && $0.kind != .lowerBound }
  }

  private func end(_ total: TotalSource?) -> [EndRule] {
    flags() + (total.map { [.total($0)] } ?? []) + [.emptyPage]
  }
}

extension Placement {
  /// The name of a parameter, wherever it goes.
  var parameter: String? {
    switch self {
    case .query(let name, _), .form(let name): name
    case .jsonBody(let path): path.text.split(separator: "/").last.map(String.init)
    default: nil
    }
  }
}
