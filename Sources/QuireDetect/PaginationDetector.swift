import HTTPTypes
import QuireCore
import QuireJSON
import QuirePagination

/// Detects how a listing is paged from one answer.
///
/// Pure: takes the request, the answer's head and the decoded page, and compares them with the
/// traits that each preset's description expects. The fewer presets expect a trait, the more it
/// counts. Signs of paging that a description does not explain count against it. The cost is
/// bounded by the number of presets and the size of the page.
struct PaginationDetector {
  let answer: PageAnswer
  let home: Origin
  let outline: PageOutline
  let vocabulary: PaginationVocabulary
  let signs: [DetectorSign]
  /// The request, for reading its parameters.
  let sent: RequestEditor
  let parameters: [Parameter]
  /// The placeholders in the request.
  let placeholders: [RequestPlaceholder]
  let lookups: DetectorLookups
  /// The lists that may be the items, the likeliest first.
  let lists: [PagePath]
  /// The path of an object whose members are the items; nil if there is none.
  let itemMap: String?
  /// The objects that may contain the items.
  let containers: [PagePath]
  /// Whether the answer is JSON:API, by its media type or its members.
  let isJSONAPI: Bool
  /// The link policy to use instead of each description's own; nil for their own.
  let links: LinkPolicy?

  /// Creates a detector for the answer to a listing's first request.
  ///
  /// Throws `invalidURL` if the request's URL is invalid.
  init(
    _ answer: PageAnswer, links: LinkPolicy? = nil, placeholders: [RequestPlaceholder] = []
  ) throws(PageError) {
    self.answer = answer
    self.links = links
    home = try Origin(url: answer.request.url)
    vocabulary = .shared
    sent = RequestEditor(answer.request)
    parameters = Self.parameters(of: sent)
    let outline = (answer.document as? any OutlinedDocument)?.outline ?? PageOutline()
    let unwrapped =
      answer.document.isXML
      ? outline : outline.unwrapped(vocabulary, sizes: Self.pageSizes(in: parameters))
    itemMap = answer.document.isXML ? nil : unwrapped.mapOfItems
    self.outline = itemMap.map(unwrapped.listing(membersOf:)) ?? unwrapped
    signs = DetectorSign.all(in: answer, outline: self.outline, vocabulary: vocabulary)
    lookups = DetectorLookups(answer)
    self.placeholders = placeholders
    isJSONAPI = Self.isJSONAPI(answer, outline)
    lists = self.outline.lists(vocabulary, isXML: answer.document.isXML)
    containers = self.outline.containers
  }

  /// Returns all descriptions that fit, best first.
  func fits() -> [DetectorFit] {
    var fits = vocabulary.presets.flatMap { self.fits(of: $0) + variants(of: $0) }
    fits += compositions().compactMap { pagination in
      fit(of: pagination, preset: nil).map {
        var fit = $0
        // A preset knows limits, failures and ends that an answer does not show.
        fit.score -= Weights.composed
        return fit
      }
    }
    if answer.document is EmptyDocument || answer.document is UnreadableDocument {
      // Only the head can be evaluated.
      fits.removeAll { !$0.isSupported }
    }
    if isUnaskedPart {
      // A walk refuses such an answer, so only a description that requests a range can read the
      // listing.
      fits.removeAll { fit in
        let engine = try? PaginationEngine(fit.pagination, first: answer.request, home: home)
        return engine?.first.headerFields[.range] == nil
      }
    }
    return fits.sorted { ($1.rank, $0.name) < ($0.rank, $1.name) }
  }

  private func fits(of preset: PaginationVocabulary.Entry) -> [DetectorFit] {
    let items = preset.preset.pagination.items
    let pagination = preset.preset.pagination.example.fitted(to: answer.request)
    if fitsAnyXML(pagination) { return [] }
    var own = fit(of: pagination, preset: preset.preset, traits: preset.traits)
    own?.place = items.missingPath
    if let own, own.itemCount > 0 || items.unspecifiedPath == nil { return [own] }
    // A preset with its own path of items rarely has them elsewhere.
    let places =
      items.unspecifiedPath == nil
      ? Array(lists.prefix(1)) : items.unspecifiedPath == items.paths.first ? lists : containers
    let elsewhere = places.filter { $0.text != itemMap }.compactMap { place in
      fit(of: preset.preset, at: place)
    }
    return (elsewhere + [own].compactMap(\.self)).max { $0.score < $1.score }.map { [$0] } ?? []
  }

  /// Whether a description's items are the children of any root in XML, and the answer lacks a total
  /// that it has beside them. Then nothing in the answer is of its API.
  private func fitsAnyXML(_ pagination: Pagination) -> Bool {
    guard answer.document.isXML, pagination.items.paths.contains(where: \.isRootsChildren) else {
      return false
    }
    return pagination.totals.contains { total in
      lookups.value(at: total.source, items: pagination.items) == nil
    }
  }

  /// Returns the fits of a preset's variants, which have their own names. Variants of generic
  /// presets differ only in names of parameters, which an answer does not show: such a variant fits
  /// only if it counts and the page has a distinctive trait of it.
  private func variants(of preset: PaginationVocabulary.Entry) -> [DetectorFit] {
    preset.variants.compactMap { name, pagination in
      if preset.isGeneric, !pagination.next.isCounter { return nil }
      let example = pagination.example.fitted(to: answer.request)
      guard var fit = fit(of: example, preset: preset.preset), fit.itemCount > 0,
        fit.isDistinctive || !preset.isGeneric
      else { return nil }
      fit.variant = name
      fit.place = pagination.items.missingPath
      return fit
    }
  }

  /// Returns the fit of a preset with its items at another path.
  private func fit(of preset: Pagination.Preset, at place: PagePath) -> DetectorFit? {
    let pagination = preset.pagination.items(at: .path(place)).fitted(to: answer.request)
    guard var fit = fit(of: pagination, preset: preset, at: place)
    else { return nil }
    // Any description can be moved to a list, so items found this way prove nothing.
    fit.score -=
      preset.pagination.items.unspecifiedPath == nil
      ? Weights.elsewhere.own : preset.isGeneric ? 0 : Weights.elsewhere.caller
    return fit
  }
}

extension DetectorFit {
  /// The order of candidates: descriptions that continue by the request's own parameters come
  /// first, even with little other evidence.
  var rank: Double { usesOwnParameter ? score + Weights.ownParameter : score }

  /// The name that breaks ties.
  var name: String { variant ?? preset?.name ?? "~" }
}

extension PaginationDetector {
  /// Returns the descriptions that fit the answer, and the confidence in each by the answer alone.
  func detection() -> Detection {
    var detection = Detection(candidates: [], observations: observations())
    detection.mayBeWhole =
      declaredItems == nil && !isUnaskedPart && !signs.contains { $0.saysMore(vocabulary) }
    if let unread = answer.document as? UnreadableDocument {
      detection.remedies = unread.reason.remedies
    }
    guard (200..<300).contains(answer.status) else { return detection }
    // Without items and without signs of paging there is nothing to guess from.
    let groups = groups(
      of: fits().filter {
        $0.itemCount > 0 || $0.isSupported || $0.isDistinctive || $0.score >= Weights.withoutItems
      })
    detection.candidates = groups.prefix(8).enumerated().map { index, group in
      let rivals = groups.dropFirst().compactMap(\.first).map { rival in
        // A preset that sends the same token elsewhere may be right with fewer signs, and so may a
        // description that continues where this one's link is refused.
        let isToken = rival.preset != nil && rival.token != nil && rival.token == group[0].token
        return rival.score
          + (isToken || group[0].isRefused && rival.statesNextPage ? Weights.rival : 0)
      }
      return candidate(group, rival: index == 0 ? rivals.max() : groups.first?.first?.score)
    }
    if detection.candidates.first?.next == .failure {
      // An error that one preset recognizes is no page of another.
      detection.candidates = detection.candidates.prefix(1).map { $0 }
    }
    return detection
  }

  /// Returns the fits in groups of equal behaviour, the best fit of each group first, without fits
  /// that cannot apply.
  private func groups(of fits: [DetectorFit]) -> [[DetectorFit]] {
    var groups: [[DetectorFit]] = []
    var places: [DetectorFit.Behaviour: Int] = [:]
    for fit in fits where fit.score > Weights.least || fit.usesOwnParameter {
      if let place = places[fit.behaviour] {
        let first = groups[place][0]
        // A preset's name is preferred to an unnamed description if it explains nearly as much.
        let isName = first.preset == nil && fit.preset != nil && !fit.pagination.next.isCounter
        groups[place].insert(
          fit, at: isName && fit.score > first.score - Weights.naming ? 0 : groups[place].count)
      } else {
        places[fit.behaviour] = groups.count
        groups.append([fit])
      }
    }
    return groups
  }

  private func candidate(_ group: [DetectorFit], rival: Double?) -> DetectedPagination {
    let fit = group[0]
    let others = group.dropFirst().filter { $0.score > fit.score - Weights.alternative }.compactMap
    {
      $0.preset == nil ? nil : $0.name
    }
    return DetectedPagination(
      preset: fit.preset.map { _ in fit.name }, items: fit.place, pagination: whole(fit),
      confidence: confidence(in: fit, rival: rival), evidence: fit.evidence, doubts: fit.doubts,
      remedies: fit.remedies,
      alternatives: Array(others.prefix(6)),
      swift: fit.swift, next: fit.outcome)
  }

  /// Returns the preset's own description if it equals the fitted one for this request; otherwise
  /// the fitted one.
  private func whole(_ fit: DetectorFit) -> Pagination {
    guard let preset = fit.preset else { return fit.pagination }
    let named = fit.variant.flatMap(preset.pagination(named:)) ?? preset.pagination
    let whole = fit.place.map { named.items(at: .path($0)) } ?? named
    return whole.example.fitted(to: answer.request) == fit.pagination ? whole : fit.pagination
  }

  private func confidence(in fit: DetectorFit, rival: Double?) -> Detection.Confidence {
    let margin = rival.map { fit.score - $0 } ?? .infinity
    // A description without its continuation may fit the last page of any listing, and an empty
    // page fits every description that counts.
    guard !(fit.lacksContinuation && fit.outcome == .end),
      fit.itemCount > 0 || fit.isExplicit || fit.outcome != .end
    else { return .guess }
    guard fit.outcome != .failure, !fit.isMisplaced, fit.isSupported || fit.isDistinctive,
      fit.score > Weights.possible.score, margin > Weights.possible.lead
    else { return .guess }
    let isSure =
      fit.isSupported && fit.score >= Weights.likely.score && margin >= Weights.likely.lead
      && !isSentByGuess(fit)
    return isSure ? .likely : .possible
  }

  /// Whether a composed description sends its token to a parameter that the request does not have.
  private func isSentByGuess(_ fit: DetectorFit) -> Bool {
    guard fit.preset == nil, !fit.pagination.next.isCounter else { return false }
    return switch fit.pagination.send {
    case .url, .request, .queryMerge: false
    default: !parameters.contains { $0.placement == fit.pagination.send }
    }
  }

  /// The declared number of items if it exceeds the length of the list, the smallest of several;
  /// nil otherwise.
  var declaredItems: Int? {
    guard let list = outline.countedList(vocabulary) else { return nil }
    return exactTotals.map(\.count).filter { $0 > list.count }.min()
  }

  /// The numbers that may be the number of items in the listing. A number called `size` is not one
  /// of them if another name contains "total": then it is the size of the page.
  var exactTotals: [(sign: DetectorSign, count: Int)] {
    let totals = signs.compactMap { sign -> (sign: DetectorSign, count: Int)? in
      guard sign.kind == .total, vocabulary.totals[sign.name] == .items, !countsPages(sign) else {
        return nil
      }
      return sign.value?.count.map { (sign, $0) }
    }
    let named = totals.filter { $0.sign.name.contains("total") }
    return named.isEmpty ? totals : totals.filter { $0.sign.name != "size" }
  }

  // MARK: Observations

  /// Whether the answer is a part of the resource although none was requested (206; RFC 9110,
  /// section 15.3.7).
  var isUnaskedPart: Bool {
    answer.status == 206 && answer.request.headerFields[.range] == nil
  }

  private func observations() -> [String] {
    var words = ["The server answered \(answer.status)\(mediaType)."]
    if isUnaskedPart {
      let range = answer.headerFields[.contentRange].map { " (\(ServerText($0, limit: 80)))" } ?? ""
      words.append(
        "It is only a part\(range), which was not asked for: a request needs a Range field for it.")
    }
    if let unread = answer.document as? UnreadableDocument {
      words.append(unread.reason.message)
    } else if answer.document is EmptyDocument {
      words.append("The answer has no body.")
    } else {
      words.append(shape)
    }
    let lists = outline.nodes.filter { $0.kind == .list && !$0.isInList && !$0.path.isEmpty }
    if !lists.isEmpty {
      let shown = lists.prefix(5).map { "\(Self.quoted($0.path)) with \($0.count)" }
      words.append("Lists: \(shown.joined(separator: ", ")).")
    }
    words += signs.prefix(12).map(\.words)
    if outline.isCut { words.append("There is more than was looked at.") }
    return words
  }

  /// The declared format of the answer if it is lines or a table, which are read like a JSON list;
  /// nil otherwise.
  var rowsFormat: PageFormat? {
    MediaType.format(of: answer.headerFields[.contentType]).flatMap {
      $0.isSelfDelimiting ? nil : $0
    }
  }

  private static func isJSONAPI(_ answer: PageAnswer, _ outline: PageOutline) -> Bool {
    let type = MediaType(answer.headerFields[.contentType]).name
    let paths = Set(outline.nodes.map(\.path))
    return type == "application/vnd.api+json" || paths.contains("/jsonapi")
      || paths.isSuperset(of: ["/data/0/type", "/data/0/id", "/data/0/attributes"])
  }

  private var mediaType: String {
    let type = answer.headerFields[.contentType]?.prefix { $0 != ";" }
    return type.map { " with \(ServerText($0, limit: 80))" } ?? ""
  }

  private var shape: String {
    guard let root = outline.nodes.first else { return "The page could not be looked through." }
    if answer.document.isXML { return "The page is XML, its root \(Self.quoted(root.name))." }
    switch root.kind {
    case .list:
      return "The page is \(rowsFormat.map { "\($0.words), " } ?? "")a list of \(root.count)."
    case .scalar: return "The page is a single value."
    case .object:
      let names = outline.nodes.filter { $0.depth == 1 }.prefix(12).map { Self.quoted($0.name) }
      return "The page is an object with \(names.joined(separator: ", "))."
    }
  }

  /// Returns a name from the page in quotes, cut to 80 characters for a message.
  static func quoted(_ name: String) -> String {
    "\"\(ServerText(name, limit: 80))\""
  }
}

extension DetectorSign {
  /// The sign in words, quoting only numbers and flags.
  fileprivate var words: String {
    let place = PaginationDetector.quoted(place)
    switch kind {
    case .link: return "The Link header has a link with rel=\"next\"."
    case .field: return "The header field \(self.place) may have a continuation."
    case .token where value == nil:
      return "\(place) is empty: other pages may have a continuation there."
    case .token: return "\(place) may be a continuation: it is \(isLink ? "a link" : "a token")."
    case .flag: return "\(place) is \(value?.boolean == true ? "true" : "false")."
    case .total: return "\(place) is \(value?.count ?? 0): a total, perhaps."
    case .pages: return "\(place) is \(value?.count ?? 0): a number of pages, perhaps."
    }
  }
}

/// Values of the request that an answer repeats, such as `"offset": 0` in the first page of a
/// listing that is counted by `offset`.
extension PaginationDetector {
  /// The unit in which a description counts: items or pages.
  enum Count {
    case offset, page
  }

  /// The counters of JSON:API servers. The format reserves the parameter family `page`, but unless
  /// the request uses it, a plain name is likely too. The first one is the likeliest for pages, the
  /// last one for offsets.
  var parametersOfJSONAPI: [Pagination.Placement] {
    let isOfFamily = parameters.contains { $0.spelled.hasPrefix("page[") }
    return [.query("page[number]")]
      + (isOfFamily ? [.query("page[offset]")] : [.query("page"), .query("offset")])
  }

  /// Raises or lowers the score of a counter by the start that the page repeats, and by its name.
  func judgeEchoes(of pagination: Pagination, in fit: inout DetectorFit) {
    let routes = pagination.routes
    guard routes.count == 1, let route = routes.first, let first = route.next.firstCount,
      let parameter = route.send.parameter
    else { return }
    let (kind, other): (Count, Count)
    switch route.next.untransformed {
    case .offset: (kind, other) = (.offset, .page)
    case .pageNumber: (kind, other) = (.page, .offset)
    default: return
    }
    let start = sent.value(at: route.send)?.integer ?? first
    let echoes = echoes(of: kind).filter { $0.value?.integer == start }
    let name = PaginationVocabulary.normalized(parameter)
    if let echo = echoes.first(where: { PaginationVocabulary.normalized($0.name) == name }) {
      fit.score += Weights.echo.sameName
      fit.evidence.append("\(Self.quoted(echo.path)) is \(start), as sent for the first page")
    } else if let echo = echoes.first {
      fit.score += Weights.echo.otherName
      fit.evidence.append("\(Self.quoted(echo.path)) is \(start), where the first page starts")
    } else if !self.echoes(of: other).isEmpty {
      fit.score -= Weights.countsBeside
      fit.doubts.append("the page repeats \(Self.quoted(self.echoes(of: other)[0].path))")
    }
  }

  /// Whether the page repeats its number or offset.
  var repeatsItsStart: Bool { !echoes(of: .page).isEmpty || !echoes(of: .offset).isEmpty }

  /// Returns the values in the page that may be its number or offset.
  func echoes(of kind: Count) -> [PageOutline.Node] {
    let names = names(of: kind)
    return outline.nodes.filter { node in
      node.kind == .scalar && !node.isInList && node.value?.integer != nil
        && names.contains(PaginationVocabulary.normalized(node.name))
    }
  }

  private func names(of kind: Count) -> Set<String> {
    kind == .offset ? vocabulary.offsetNames : vocabulary.pageNames
  }

  /// The likeliest placement of page numbers, by request and answer.
  var pageParameter: Pagination.Placement {
    parameter(among: vocabulary.pageNumbers, .page) ?? placement("page")
  }

  /// Returns parameters named like the values that the answer repeats, plain or in brackets after
  /// the name of their container, unless the request has them: Strapi has `"pagination": {"page":
  /// 1}`, and takes `pagination[page]`. In a body of JSON, they are members of such a container.
  func repeatedParameters(of kind: Count) -> [Pagination.Placement] {
    let echoes = echoes(of: kind).prefix(2)
    if case .json = answer.request.body {
      return echoes.compactMap(Self.nestedMember).filter { sent.value(at: $0) == nil }
    }
    guard answer.request.body == .none else { return [] }
    return (echoes.map(Self.parameter) + echoes.compactMap(Self.nestedParameter))
      .filter { sent.value(at: $0) == nil }
  }

  /// Returns the parameter with the name of a repeated value, without the `@` of an XML attribute.
  private static func parameter(_ echo: PageOutline.Node) -> Pagination.Placement {
    .query(echo.name.hasPrefix("@") ? String(echo.name.dropFirst()) : echo.name)
  }

  private static func nestedParameter(_ echo: PageOutline.Node) -> Pagination.Placement? {
    guard let around = echo.path.split(separator: "/").dropLast().last,
      PaginationVocabulary.normalized(String(around)).hasPrefix("pag"), !echo.name.hasPrefix("@")
    else { return nil }
    return .query("\(around)[\(echo.name)]")
  }

  /// The likeliest placement of offsets, by request and answer.
  var offsetParameter: Pagination.Placement {
    parameter(among: vocabulary.offsets, .offset)
      ?? repeatedParameters(of: .offset).first ?? placement("offset")
  }

  /// Returns the request's own parameter, if presets count by it or it is named like a counter;
  /// otherwise the parameter of the answer's format, or one that the answer repeats. Nil if there
  /// is none.
  private func parameter(
    among sends: PaginationVocabulary.Placements, _ kind: Count
  ) -> Pagination.Placement? {
    let ranked = sends.ranked
    let own = parameters.filter { names(of: kind).contains($0.name) }.map(\.placement)
    let there = (ranked + own).first { placement in
      guard let number = sent.value(at: placement)?.integer else { return false }
      return !Self.isSize(number, named: PaginationVocabulary.normalized(placement.parameter ?? ""))
    }
    if let there { return there }
    if let relative = relative(of: kind) { return relative }
    guard answer.request.body == .none else { return nil }
    if isJSONAPI { return kind == .page ? parametersOfJSONAPI.first : parametersOfJSONAPI.last }
    let known = Set(ranked.compactMap(\.parameter).map(PaginationVocabulary.normalized))
    let echo = echoes(of: kind).first { known.contains(PaginationVocabulary.normalized($0.name)) }
    return echo.map(Self.parameter)
  }

  /// Whether the answer says that it is page 1.
  var saysPageOne: Bool { echoes(of: .page).contains { $0.value?.integer == 1 } }

  /// The number of the first page, by the request or the answer.
  var firstPage: Int {
    let number = sent.value(at: pageParameter)?.integer ?? echoes(of: .page).first?.value?.integer
    return number == 0 ? 0 : 1
  }

  /// The offset of the first item, by the answer.
  var firstOffset: Int {
    let name = offsetParameter.parameter.map(PaginationVocabulary.normalized)
    let echoes = echoes(of: .offset)
    let echo = echoes.first { PaginationVocabulary.normalized($0.name) == name } ?? echoes.first
    return echo?.value?.integer == 1 ? 1 : 0
  }
}
