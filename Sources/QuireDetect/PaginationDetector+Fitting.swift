import HTTPTypes
import QuireCore
import QuireJSON
import QuirePagination

extension PaginationDetector {
  /// Returns how well a description fits the answer; nil if it cannot apply. Items at a `place`
  /// taken from the answer are no evidence.
  func fit(
    of pagination: Pagination, preset: Pagination.Preset?, at place: PagePath? = nil,
    traits: [PaginationVocabulary.TraitParts]? = nil
  ) -> DetectorFit? {
    let pagination = links.map(pagination.links) ?? pagination
    guard
      isAmong(pagination.formats),
      let count = itemCount(of: pagination.items),
      let engine = try? PaginationEngine(pagination, first: answer.request, home: home),
      // A walk refuses a page with something else than a number in place of the total.
      (try? engine.reader.checkTotals(of: answer)) != nil
    else { return nil }
    var fit = DetectorFit(preset: preset, pagination: pagination, place: place)
    fit.itemCount = count.items
    let traits = traits ?? PaginationVocabulary.traitParts(of: pagination)
    let explained = weigh(traits, of: pagination, count: count, in: &fit)
    judgeValues(of: pagination, in: &fit)
    judgeEchoes(of: pagination, in: &fit)
    judgeResumption(of: pagination, in: &fit)
    judgePlace(of: pagination.items, isThere: count.isThere, in: &fit)
    // Of several equal fits, the generic preset is preferred, because it claims least.
    if preset?.isGeneric == true { fit.score += Weights.generic }
    judgeSigns(of: pagination, explained: explained, in: &fit)
    fit.usesOwnParameter = usesOwnParameter(pagination)
    judgeOutcome(of: engine, in: &fit)
    guard case .next(let request) = fit.outcome else { return fit }
    if hasPlaceholder(request) { return nil }
    if preset?.isGeneric ?? true { judgeParameter(of: pagination, in: &fit) }
    judgeEnd(of: pagination, in: &fit)
    return fit
  }

  /// Weighs each trait of a description. Returns the keys of the signs that they explain.
  private func weigh(
    _ traits: [PaginationVocabulary.TraitParts], of pagination: Pagination,
    count: (items: Int, isThere: Bool), in fit: inout DetectorFit
  ) -> Set<String> {
    var explained: Set<String> = []
    var hasNext = false
    var expectsNext = false
    for traits in traits {
      let trait = traits.trait
      let (finding, part) = find(traits, items: pagination.items, count: count)
      if trait.role == .next {
        if case .absent = finding {
          // Without items there is no last item to read.
          expectsNext = expectsNext || !(trait.isOfItems && count.items == 0)
          if trait.isAlternative, !hasNext { fit.score -= Weights.absentAlternative }
        } else {
          // A walk uses the first route that the page has.
          if trait.isAlternative, hasNext {
            explained.formUnion(trait.names)
            continue
          }
          hasNext = true
        }
      }
      weigh(trait, finding, at: part, explained: &explained, in: &fit)
    }
    guard expectsNext, !hasNext else { return explained }
    let saysMore = saysMore(than: count.items, pagination.total)
    // Where more is declared, a description with a counter counts on.
    if saysMore, pagination.routes.contains(where: { $0.next.isCounter }) { return explained }
    // Serious only if the page declares more items than it has.
    fit.score -= saysMore ? Weights.noNext.saysMore : Weights.noNext.maybeLast
    fit.lacksContinuation = true
    fit.doubts.append("there is no continuation: this may be the last page")
    return explained
  }

  /// Whether the answer is in one of the description's formats.
  private func isAmong(_ formats: [PageFormat]) -> Bool {
    if answer.document.isXML { return formats.isEmpty || formats.contains(.xml) }
    guard answer.document is JSONDocument, !formats.isEmpty else { return true }
    // A walk by a preset for JSON would take JSON Lines for a broken page.
    return rowsFormat.map(formats.contains) ?? (formats != [.xml])
  }

  // MARK: Items

  /// Returns the number of items that a selector finds, and whether their list exists; nil if the
  /// selector cannot apply.
  private func itemCount(of items: Pagination.Items) -> (items: Int, isThere: Bool)? {
    if answer.document is EmptyDocument || answer.document is UnreadableDocument {
      return (0, false)
    }
    // The children of the root are a list only if all have the same name.
    if answer.document.isXML, !outline.rootHasOneKindOfChild,
      items.paths.contains(where: { $0.text.isEmpty || $0.isRootsChildren })
    {
      return nil
    }
    guard let count = lookups.count(of: items) else { return nil }
    return (count, count > 0 || items.paths.contains { lookups.count(at: $0) != nil })
  }

  /// Lowers the score if there are no items at the description's path, but a list elsewhere.
  private func judgePlace(of items: Pagination.Items, isThere: Bool, in fit: inout DetectorFit) {
    guard fit.itemCount == 0 else { return }
    if isThere { return judgeEmptyList(in: &fit) }
    guard let list = outline.likelyList(vocabulary) else { return }
    let places = items.paths.map(\.place).joined(separator: " or ")
    fit.score -= Weights.misplaced
    fit.isMisplaced = true
    fit.doubts.append(
      "there is no item at \(places), and \(PagePath.place(list.path)) has \(list.count)")
  }

  /// Lowers the score if the first page of a counted listing has an empty list, and declares items.
  private func judgeEmptyList(in fit: inout DetectorFit) {
    guard let route = fit.pagination.routes.first, route.next.isCounter,
      // After the last page an empty list is right.
      sent.value(at: route.send)?.integer ?? 0 <= 1,
      let total = signs.first(where: {
        $0.kind == .total && vocabulary.totals[$0.name] == .items && $0.value?.count ?? 0 > 0
      })
    else { return }
    fit.score -= Weights.misplaced
    fit.isMisplaced = true
    fit.doubts.append(
      "its list is empty, and \(Self.quoted(total.place)) says \(total.value?.count ?? 0)")
  }

  // MARK: Counter-evidence

  /// Whether the answer declares more items than it has.
  private func saysMore(than count: Int, _ total: Pagination.TotalSource?) -> Bool {
    guard let total, total.kind != .remaining, total.kind != .pages,
      let declared = lookups.value(at: total.source, items: .root)?.count
    else { return false }
    return declared > count
  }

  /// Lowers the score by the signs that the description does not explain.
  private func judgeSigns(
    of pagination: Pagination, explained: Set<String>, in fit: inout DetectorFit
  ) {
    fit.score -= unexplained(by: explained)
    for sign in signs where sign.kind == .flag && !explained.contains(sign.key) {
      fit.doubts.append("\(Self.quoted(sign.place)) is not looked at")
    }
    let counts = pagination.routes.contains { $0.next.isCounter }
    if counts, signs.contains(where: { $0.isContinuation && !explained.contains($0.key) }) {
      fit.score -= Weights.countsBeside
    }
  }

  /// Returns the weight of the signs that the description does not explain.
  private func unexplained(by explained: Set<String>) -> Double {
    let open = signs.filter { !explained.contains($0.key) }
    let explainsNext = signs.contains { $0.isContinuation && explained.contains($0.key) }
    return open.reduce(0) { sum, sign in
      // Servers often say the same thing in several ways.
      sum
        + (sign.isContinuation && explainsNext
          ? Weights.saidTwice : Weights.unexplained(sign.kind, isBlank: sign.value == nil))
    }
  }

  /// Lowers the score if a link is sent as a token or a token followed as a link, if following a
  /// link drops a body, and if a token goes to the query beside a body.
  private func judgeValues(of pagination: Pagination, in fit: inout DetectorFit) {
    let hasBody = answer.request.body != .none
    for route in pagination.routes {
      guard case .body(let path) = route.next.untransformed,
        let value = lookups.value(at: .body(path), items: pagination.items), !value.isBlank
      else { continue }
      let link = value.link ?? value.plainText
      let isWhole = link.contains("://")
      switch route.send {
      case .url, .request:
        if !DetectorSign.isLink(link), !isWhole, !path.leadsToLink {
          fit.score -= Weights.misunderstanding
        }
        // A number is never a link, although it is a relative one by syntax.
        if value.integer != nil { fit.score -= Weights.misunderstanding }
        let describes = value["method"] != nil || value["body"] != nil
        if describes {
          fit.score += route.send == .request ? Weights.describedRequest : -Weights.describedRequest
        }
        if hasBody, pagination.request.method == .same, route.send == .url {
          fit.score -= Weights.dropsBody
        }
      case .query, .header, .jsonBody, .form, .xmlBody, .path, .placeholder:
        if isWhole, route.next.transforms.isEmpty { fit.score -= Weights.misunderstanding }
        if hasBody, case .query = route.send { fit.score -= Weights.queryBesideBody }
      case .queryMerge, .bodyMerge, .itemRange, .firstOf: break
      }
    }
  }

  /// Lowers the score of a description of changes for an answer without the link by which a later
  /// walk starts: the plain description of such pages is right for a listing of anything.
  private func judgeResumption(of pagination: Pagination, in fit: inout DetectorFit) {
    guard let resume = pagination.resume, resume.send == .url,
      case .body(let path) = resume.next.untransformed,
      lookups.value(at: .body(path), items: pagination.items) == nil
    else { return }
    fit.score -= Weights.absentResumption
  }

  /// Raises the score if the counter's parameter goes with the request's page size or the answer's
  /// format.
  private func judgeParameter(of pagination: Pagination, in fit: inout DetectorFit) {
    guard pagination.routes.count == 1, let route = pagination.routes.first, route.next.isCounter
    else { return }
    if parametersBesideSize.contains(route.send) {
      fit.evidence.append("the request's page size has a name that goes with the parameter")
    } else if isJSONAPI, answer.request.body == .none, parametersOfJSONAPI.contains(route.send) {
      fit.evidence.append("the page is JSON:API, whose servers page by the parameter")
    } else {
      return
    }
    fit.score += Weights.besideSize
  }

  /// Lowers the score of a counter that nothing in the answer could end.
  private func judgeEnd(of pagination: Pagination, in fit: inout DetectorFit) {
    func isThere(_ source: Pagination.ValueSource) -> Bool {
      lookups.value(at: source, items: pagination.items) != nil
    }
    let canEnd = pagination.end.contains { rule in
      switch rule {
      case .flag(let rule): isThere(rule.source)
      case .total(let total): isThere(total.source)
      case .noNext, .requires: false
      case .emptyPage, .shortPage, .sameCursor, .notAdvancing, .status, .noNewItems, .lastPage: true
      }
    }
    guard !canEnd, pagination.routes.allSatisfy(\.next.isCounter) else { return }
    fit.score -= Weights.noEnd
    fit.doubts.append("nothing in the answer says where it ends")
  }

  // MARK: Behaviour

  private func judgeOutcome(of engine: PaginationEngine, in fit: inout DetectorFit) {
    do {
      switch try engine.reader.classify(answer) {
      case .failure(let failure):
        fit.outcome = .failure
        let words = failure.message ?? failure.advice ?? failure.kind.rawValue
        fit.doubts.append("it is a failure: \(words)")
      case .end:
        fit.outcome = .end
        fit.score += Weights.toldEnd
        fit.isSupported = true
        fit.isExplicit = true
        fit.evidence.append("it is what the description calls the end")
      case .page, .emptyPage:
        let next = engine.finder.continuation(after: answer, itemCount: fit.itemCount)
        if let failure = next.nextFailure {
          fit.outcome = .refused(failure.code.description)
          fit.doubts.append(failure.message)
          fit.remedies += failure.remedies
        } else if let position = next.next {
          fit.outcome = .next(try engine.builder.request(at: position))
        } else {
          fit.outcome = .end
        }
      }
    } catch {
      let code = (error as? PageError)?.code.description ?? "\(error)"
      fit.outcome = .refused(code)
      fit.doubts.append((error as? PageError)?.message ?? "\(error)")
      fit.remedies += (error as? PageError)?.remedies ?? []
    }
  }
}

extension PaginationDetector {
  /// The result of looking for a trait.
  private enum Finding {
    case found(JSONValue?)
    case blank
    case absent
  }

  /// Looks for a trait. Returns the result, and the part of the trait that was found.
  private func find(
    _ traits: PaginationVocabulary.TraitParts, items: Pagination.Items,
    count: (items: Int, isThere: Bool)
  ) -> (Finding, DescriptionTrait) {
    let trait = traits.trait
    switch trait.probe {
    case .items:
      let place = traits.parts.first { part in
        guard case .items(.path(let path)) = part.probe else { return false }
        return lookups.count(at: path) ?? 0 > 0
      }
      let finding: Finding = count.items > 0 ? .found(nil) : count.isThere ? .blank : .absent
      return (finding, place ?? traits.parts.first ?? trait)
    case .value:
      for part in traits.parts {
        guard case .value(let source) = part.probe,
          let value = lookups.value(at: source, items: items)
        else { continue }
        if trait.role == .next, isEcho(value, at: source) { continue }
        return (value.isBlank ? .blank : .found(value), part)
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

  /// Whether a number is the page's own start, such as `"offset": 0`.
  private func isEcho(_ value: JSONValue, at source: Pagination.ValueSource) -> Bool {
    guard case .body(let path) = source,
      !signs.contains(where: { $0.kind == .token && $0.place == path.text })
    else { return false }
    return source.names.contains { vocabulary.isEcho(value, named: $0) }
  }

  private func weigh(
    _ trait: DescriptionTrait, _ finding: Finding, at part: DescriptionTrait,
    explained: inout Set<String>, in fit: inout DetectorFit
  ) {
    let isLookedUp = trait.role == .items && fit.place != nil
    let information = isLookedUp ? 0 : vocabulary.information(of: part)
    switch finding {
    case .found(let value):
      // Most items have identifiers; that alone says nothing about the continuation.
      let isWeak = trait.isOfItems
      let share = !isWeak ? 1 : trait.role == .next ? Weights.lastItem.share : 0
      fit.score += Weights.share(of: trait.role) * information * share
      if trait.role == .next { fit.score += isWeak ? Weights.lastItem.bonus : Weights.foundNext }
      explained.formUnion(trait.names)
      if trait.role.isFoundation, !isWeak { fit.isSupported = true }
      if trait.role == .next || trait.role == .flag { fit.isExplicit = true }
      if trait.role.isOfPage, information >= Weights.distinct { fit.isDistinctive = true }
      if let words = part.words(for: value, count: fit.itemCount) { fit.evidence.append(words) }
    case .blank:
      fit.score += Weights.share(of: trait.role) * information * Weights.blank
      explained.formUnion(trait.names)
      if trait.role == .next {
        fit.isSupported = true
        fit.isExplicit = true
        fit.evidence.append("\(part.place) is there and empty, which is the end")
      }
    case .absent: fit.score -= Weights.absence(of: trait.role)
    }
  }
}

extension DescriptionTrait {
  /// Whether the trait is read from an item.
  var isOfItems: Bool { if case .value(.lastItem) = probe { true } else { false } }
}

extension DescriptionTrait.Role {
  /// Whether the trait is about the contents of the page.
  fileprivate var isOfPage: Bool { self == .items || self == .total || self == .pages }

  /// Whether the trait is about the continuation or the end.
  var isFoundation: Bool {
    switch self {
    case .next, .flag, .total, .pages: true
    case .items, .mark, .echo, .parameter, .size, .constant: false
    }
  }
}

extension PagePath {
  /// A path that no page has, for counting items without reading them.
  static let nowhere: PagePath = "/quire-none"

  /// Whether the path leads to all children of a root with any name, in XML.
  var isRootsChildren: Bool { sides.contains("/*/*") }

  /// Whether the path's names suggest a link.
  var leadsToLink: Bool {
    let text = text.lowercased()
    return ["href", "rel=", "relation=", "url", "uri", "link"].contains(where: text.contains)
  }
}

extension DetectorSign {
  /// Whether the sign is a continuation.
  var isContinuation: Bool { kind == .link || kind == .field || kind == .token }

  /// The key by which a trait explains the sign.
  var key: String {
    switch kind {
    case .link: "link:next"
    case .field: "field:" + name
    case .token, .flag, .total, .pages: name
    }
  }
}
