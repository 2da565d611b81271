import HTTPTypes
import QuireCore
import QuireJSON
import QuirePagination

/// Tells from one answer how its listing is paged.
///
/// Pure: takes the request, the answer's head and the decoded page, and asks every preset what it
/// recognises in them. What a preset looks for is read off its own description, and weighs the more the
/// fewer presets look for it; what the answer has and a description leaves unsaid speaks against that
/// description. Costs are bounded by the number of presets and the size of the page, whatever is in
/// it.
struct PaginationDetector {
  let answer: PageAnswer
  let home: Origin
  let outline: PageOutline
  let vocabulary: PaginationVocabulary
  let signs: [DetectorSign]
  /// The request, for what it says already.
  let sent: RequestEditor
  let parameters: [Parameter]
  /// What stands in the request for where a page starts.
  let placeholders: [RequestPlaceholder]
  let lookups: DetectorLookups
  /// Where the items may be, the likeliest first.
  let lists: [PagePath]
  /// Where an object around the items may be.
  let containers: [PagePath]
  /// Whether the answer is JSON:API, by its type or by what it holds.
  let isJSONAPI: Bool
  /// What descriptions have in place of their own link policy; nil for their own.
  let links: LinkPolicy?

  /// A detector for an answer to a listing's first request.
  ///
  /// Throws `invalidURL` for a request that is none.
  init(_ answer: PageAnswer, links: LinkPolicy? = nil) throws(PageError) {
    // The answer came to a request without placeholders, even where the walk's own has them.
    try self.init(answer, links: links, placeholders: [])
  }

  init(
    _ answer: PageAnswer, links: LinkPolicy?, placeholders: [RequestPlaceholder]
  ) throws(PageError) {
    self.answer = answer
    self.links = links
    home = try Origin(url: answer.request.url)
    outline = (answer.document as? any OutlinedDocument)?.outline ?? PageOutline()
    vocabulary = .shared
    signs = DetectorSign.all(in: answer, outline: outline, vocabulary: vocabulary)
    lookups = DetectorLookups(answer)
    sent = RequestEditor(answer.request)
    parameters = Self.parameters(of: sent)
    self.placeholders = placeholders
    isJSONAPI = Self.isJSONAPI(answer, outline)
    lists = outline.lists(vocabulary, isXML: answer.document.isXML)
    containers = outline.containers
  }

  /// Every description that fits, best first.
  func fits() -> [DetectorFit] {
    var fits = vocabulary.presets.flatMap { self.fits(of: $0) + variants(of: $0) }
    fits += compositions().compactMap { pagination in
      fit(of: pagination, preset: nil).map {
        var fit = $0
        // A preset knows more than can be read off an answer: limits, failures, ends.
        fit.score -= Weights.composed
        return fit
      }
    }
    if answer.document is EmptyDocument || answer.document is UnreadableDocument {
      // Only the head speaks.
      fits.removeAll { !$0.isFounded }
    }
    return fits.sorted { ($1.rank, $0.name) < ($0.rank, $1.name) }
  }

  private func fits(of preset: PaginationVocabulary.Entry) -> [DetectorFit] {
    let items = preset.preset.pagination.items
    let pagination = preset.preset.pagination.example.fitted(to: answer.request)
    var own = fit(of: pagination, preset: preset.preset, traits: preset.traits)
    own?.place = items.missingPath
    if let own, own.itemCount > 0 || items.unspecifiedPath == nil { return [own] }
    // A preset that knows its place is found elsewhere only once in a while.
    let places =
      items.unspecifiedPath == nil
      ? Array(lists.prefix(1)) : items.unspecifiedPath == items.paths.first ? lists : containers
    let elsewhere = places.compactMap { place in fit(of: preset.preset, at: place) }
    return (elsewhere + [own].compactMap(\.self)).max { $0.score < $1.score }.map { [$0] } ?? []
  }

  /// How well the variants of a preset fit, which are found by their names. Those of generic presets differ
  /// in names of parameters, of which an answer says nothing: they fit where the page has what hardly any
  /// other description looks for.
  private func variants(of preset: PaginationVocabulary.Entry) -> [DetectorFit] {
    preset.variants.compactMap { name, pagination in
      if preset.isGeneric, !pagination.next.isCounter { return nil }
      guard var fit = fit(of: pagination.fitted(to: answer.request), preset: preset.preset),
        fit.itemCount > 0, fit.isDistinct || !preset.isGeneric
      else { return nil }
      fit.variant = name
      return fit
    }
  }

  /// How well a preset fits with its items at another place.
  private func fit(of preset: Pagination.Preset, at place: PagePath) -> DetectorFit? {
    let pagination = preset.pagination.items(at: .path(place)).fitted(to: answer.request)
    guard var fit = fit(of: pagination, preset: preset, at: place)
    else { return nil }
    // Any description can be moved to a list: items at a place that was looked up prove nothing.
    fit.score -=
      preset.pagination.items.unspecifiedPath == nil
      ? Weights.elsewhere.own : preset.isGeneric ? 0 : Weights.elsewhere.caller
    return fit
  }
}

extension DetectorFit {
  /// The order in which descriptions are tried: first those that continue by parameters of the request,
  /// even with little other evidence.
  var rank: Double { isAsked ? score + Weights.asked : score }

  /// The name that breaks ties.
  var name: String { variant ?? preset?.name ?? "~" }
}

extension PaginationDetector {
  /// What the answer shows. Never a guess that is not called one.
  func detection() -> Detection {
    var detection = Detection(candidates: [], observations: observations())
    guard (200..<300).contains(answer.status) else { return detection }
    // Without items, and without a word about what follows, there is nothing to guess from.
    let groups = groups(
      of: fits().filter {
        $0.itemCount > 0 || $0.isFounded || $0.isDistinct || $0.score >= Weights.withoutItems
      })
    detection.candidates = groups.prefix(5).enumerated().map { index, group in
      let rivals = groups.dropFirst().compactMap(\.first).map { rival in
        // A preset that sends the same token elsewhere may be as right with fewer signs, and so may a
        // description that goes on where this one's link must not be followed.
        let isToken = rival.preset != nil && rival.token != nil && rival.token == group[0].token
        return rival.score
          + (isToken || group[0].isRefused && rival.goesOn ? Weights.rival : 0)
      }
      return candidate(group, rival: index == 0 ? rivals.max() : groups.first?.first?.score)
    }
    if detection.candidates.first?.next == .failure {
      // A failure that one preset recognises is no page of another.
      detection.candidates = detection.candidates.prefix(1).map { $0 }
    }
    return detection
  }

  /// Fits that do the same, the best of each first; what cannot be meant is left out.
  private func groups(of fits: [DetectorFit]) -> [[DetectorFit]] {
    var groups: [[DetectorFit]] = []
    var places: [DetectorFit.Behaviour: Int] = [:]
    for fit in fits where fit.score > Weights.least || fit.isAsked {
      if let place = places[fit.behaviour] {
        let first = groups[place][0]
        // What a preset has a name for is called by it, where it explains nearly as much.
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

  /// The description of a fit as its preset has it, for requests of every kind.
  private func whole(_ fit: DetectorFit) -> Pagination {
    guard let preset = fit.preset else { return fit.pagination }
    if let variant = fit.variant { return preset.pagination(named: variant) ?? fit.pagination }
    let whole = fit.place.map { preset.pagination.items(at: .path($0)) } ?? preset.pagination
    return whole.example.fitted(to: answer.request) == fit.pagination ? whole : fit.pagination
  }

  private func confidence(in fit: DetectorFit, rival: Double?) -> Detection.Confidence {
    let margin = rival.map { fit.score - $0 } ?? .infinity
    // Without its continuation a description may fit the last page of any listing, and an empty page
    // fits every description that counts.
    guard !(fit.leadsNowhere && fit.outcome == .end),
      fit.itemCount > 0 || fit.isToldEnd || fit.outcome != .end
    else { return .guess }
    guard fit.outcome != .failure, !fit.isMisplaced, fit.isFounded || fit.isDistinct,
      fit.score > Weights.possible.score, margin > Weights.possible.lead
    else { return .guess }
    let isSure =
      fit.isFounded && fit.score >= Weights.likely.score && margin >= Weights.likely.lead
      && !isSentByGuess(fit)
    return isSure ? .likely : .possible
  }

  /// Whether a description was put together and its token goes to a parameter that neither the request
  /// nor a preset names.
  private func isSentByGuess(_ fit: DetectorFit) -> Bool {
    guard fit.preset == nil, !fit.pagination.next.isCounter else { return false }
    return switch fit.pagination.send {
    case .url, .request, .queryMerge: false
    default: !parameters.contains { $0.placement == fit.pagination.send }
    }
  }

  /// How many items there are in all, as far as the answer says so beside a list that has fewer; nil
  /// where it does not.
  var declaredItems: Int? {
    guard let list = outline.likelyList(vocabulary) else { return nil }
    return signs.filter { $0.kind == .total && vocabulary.totals[$0.name] == .items }
      .compactMap { $0.value?.count }.filter { $0 > list.count }.min()
  }

  // MARK: Observations

  private func observations() -> [String] {
    var words = ["The server answered \(answer.status)\(mediaType)."]
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

  /// What the answer says to be, where that is lines or a table: they are read as a list of JSON is.
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

  /// A name from the page, cut to what a message can take.
  static func quoted(_ name: String) -> String {
    "\"\(ServerText(name, limit: 80))\""
  }
}

extension DetectorSign {
  /// The sign without its value, unless that is a number or a flag.
  fileprivate var words: String {
    let place = PaginationDetector.quoted(place)
    switch kind {
    case .link: return "The Link header has a link with rel=\"next\"."
    case .field: return "The header field \(self.place) may lead on."
    case .token where value == nil: return "\(place) is empty: it may lead on from other pages."
    case .token: return "\(place) may lead on: it is \(isLink ? "a link" : "a token")."
    case .flag: return "\(place) is \(value?.boolean == true ? "true" : "false")."
    case .total: return "\(place) is \(value?.count ?? 0): a total, perhaps."
    case .pages: return "\(place) is \(value?.count ?? 0): a number of pages, perhaps."
    }
  }
}

/// What an answer repeats of its request: `"offset": 0` in the first page of a listing that is counted
/// by `offset`.
extension PaginationDetector {
  /// How a description counts.
  enum Count {
    case offset, page
  }

  /// What servers of JSON:API count by: the format leaves them the family `page`, and without a sign of
  /// that in the request it may be a plain name. The first is the likeliest for pages, the last for offsets.
  var parametersOfJSONAPI: [Pagination.Placement] {
    let isOfFamily = parameters.contains { $0.spelled.hasPrefix("page[") }
    return [.query("page[number]")]
      + (isOfFamily ? [.query("page[offset]")] : [.query("page"), .query("offset")])
  }

  /// Judges a description that counts by whether the page says that it starts where the description
  /// has it start, and by what name.
  func judgeEchoes(of pagination: Pagination, in fit: inout DetectorFit) {
    let routes = pagination.routes
    guard routes.count == 1, let route = routes.first, let first = route.next.firstCount,
      let parameter = route.send.parameter
    else { return }
    let (kind, other): (Count, Count)
    switch route.next.root {
    case .offset: (kind, other) = (.offset, .page)
    case .pageNumber: (kind, other) = (.page, .offset)
    default: return
    }
    let start = sent.value(at: route.send)?.integer ?? first
    let echoes = echoes(of: kind).filter { $0.value?.integer == start }
    let name = PaginationVocabulary.normal(parameter)
    if let echo = echoes.first(where: { PaginationVocabulary.normal($0.name) == name }) {
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

  /// Whether the page says where it starts.
  var repeatsItsStart: Bool { !echoes(of: .page).isEmpty || !echoes(of: .offset).isEmpty }

  /// The values by which the page may say where it starts.
  func echoes(of kind: Count) -> [PageOutline.Node] {
    let names = names(of: kind)
    return outline.nodes.filter { node in
      node.kind == .scalar && !node.isInList && node.value?.integer != nil
        && names.contains(PaginationVocabulary.normal(node.name))
    }
  }

  private func names(of kind: Count) -> Set<String> {
    kind == .offset ? vocabulary.offsetNames : vocabulary.pageNames
  }

  /// Where page numbers go, as far as request and answer tell.
  var pageParameter: Pagination.Placement {
    parameter(among: vocabulary.pageNumbers, .page) ?? .query("page")
  }

  /// Parameters of the names by which the answer says where its page is, alone and in brackets behind the
  /// name of what they stand in, where the request has none of them: Strapi has `"pagination": {"page": 1}`,
  /// and takes `pagination[page]`.
  func repeatedParameters(of kind: Count) -> [Pagination.Placement] {
    guard answer.request.body == .none else { return [] }
    let echoes = echoes(of: kind).prefix(2)
    return (echoes.map(Self.parameter) + echoes.compactMap(Self.nestedParameter))
      .filter { sent.value(at: $0) == nil }
  }

  /// The parameter of the name by which an answer repeats it; attributes have theirs behind an `@`.
  private static func parameter(_ echo: PageOutline.Node) -> Pagination.Placement {
    .query(echo.name.hasPrefix("@") ? String(echo.name.dropFirst()) : echo.name)
  }

  private static func nestedParameter(_ echo: PageOutline.Node) -> Pagination.Placement? {
    guard let around = echo.path.split(separator: "/").dropLast().last,
      PaginationVocabulary.normal(String(around)).hasPrefix("pag"), !echo.name.hasPrefix("@")
    else { return nil }
    return .query("\(around)[\(echo.name)]")
  }

  /// Where offsets go, as far as request and answer tell.
  var offsetParameter: Pagination.Placement {
    parameter(among: vocabulary.offsets, .offset)
      ?? repeatedParameters(of: .offset).first ?? .query("offset")
  }

  /// The parameter that the request already has of those that presets count by, or of others by such a
  /// name; or else the one that the answer's format has, or that the answer repeats.
  private func parameter(
    among sends: PaginationVocabulary.Sends, _ kind: Count
  ) -> Pagination.Placement? {
    let ranked = sends.ranked
    let own = parameters.filter { names(of: kind).contains($0.name) }.map(\.placement)
    let there = (ranked + own).first { placement in
      guard let number = sent.value(at: placement)?.integer else { return false }
      return !Self.isSize(number, named: PaginationVocabulary.normal(placement.parameter ?? ""))
    }
    if let there { return there }
    guard answer.request.body == .none else { return nil }
    if isJSONAPI { return kind == .page ? parametersOfJSONAPI.first : parametersOfJSONAPI.last }
    let known = Set(ranked.compactMap(\.parameter).map(PaginationVocabulary.normal))
    let echo = echoes(of: kind).first { known.contains(PaginationVocabulary.normal($0.name)) }
    return echo.map(Self.parameter)
  }

  /// Whether the answer says that its page is number 1.
  var saysPageOne: Bool { echoes(of: .page).contains { $0.value?.integer == 1 } }

  /// The number of the first page, from what the request or the answer has as this page's.
  var firstPage: Int {
    let number = sent.value(at: pageParameter)?.integer ?? echoes(of: .page).first?.value?.integer
    return number == 0 ? 0 : 1
  }

  /// The offset of the first item, from what the answer has as this page's.
  var firstOffset: Int {
    let name = offsetParameter.parameter.map(PaginationVocabulary.normal)
    let echoes = echoes(of: .offset)
    let echo = echoes.first { PaginationVocabulary.normal($0.name) == name } ?? echoes.first
    return echo?.value?.integer == 1 ? 1 : 0
  }
}

extension PageOutline {
  /// The lists that the items may be, the likeliest first.
  func lists(_ vocabulary: PaginationVocabulary, isXML: Bool) -> [PagePath] {
    let ranked = nodes.filter { $0.kind == .list && !$0.isInList }
      .map { (node: $0, worth: Self.worth(of: $0, vocabulary)) }
      .sorted { ($1.worth, $0.node.depth) < ($0.worth, $1.node.depth) }
    let alone = isXML ? loneElements(named: vocabulary.lists).suffix(1) : []
    return (ranked.prefix(3).map(\.node.path) + alone).compactMap { try? PagePath($0) }
  }

  /// The list that the items are, most likely; nil where none stands out from what may stand beside
  /// them.
  func likelyList(_ vocabulary: PaginationVocabulary) -> Node? {
    let best = nodes.filter { $0.kind == .list && !$0.isInList && $0.holdsObjects && $0.count > 0 }
      .max { Self.worth(of: $0, vocabulary) < Self.worth(of: $1, vocabulary) }
    return best.flatMap { Self.worth(of: $0, vocabulary) > 0 ? $0 : nil }
  }

  private static func worth(of list: Node, _ vocabulary: PaginationVocabulary) -> Double {
    let name = PaginationVocabulary.normal(list.name)
    var worth =
      Double(min(list.count, 8)) * Weights.list.item - Double(list.depth) * Weights.list.depth
    if list.holdsObjects { worth += Weights.list.objects }
    if vocabulary.lists.contains(name) { worth += Weights.list.known }
    if isBesideItems(list.name) { worth -= Weights.list.beside }
    return worth
  }

  /// Whether a list of that name stands beside the items, most likely; those of Atom's feeds are in
  /// RFC 4287, §4.1.1.
  static func isBesideItems(_ name: String) -> Bool {
    beside.contains(PaginationVocabulary.normal(name))
  }

  private static let beside: Set<String> = [
    "author", "category", "columns", "contributor", "errors", "facets", "fields", "included",
    "link", "links", "messages", "metadata", "schema", "sort", "warnings",
  ]

  /// Where an object around the items may be.
  var containers: [PagePath] {
    nodes.filter { $0.kind == .object && !$0.isInList && $0.depth > 0 }
      .prefix(50).compactMap { try? PagePath($0.path) }
  }
}

extension PageDocument {
  /// Whether the document is of another format than JSON that can be outlined.
  var isXML: Bool { self is any OutlinedDocument && !(self is JSONDocument) }
}
