import HTTPTypes
import QuireCore

extension PaginationDetector {
  /// What the answer shows. Never a guess that is not called one.
  package func detection() -> Detection {
    var detection = Detection(candidates: [], observations: observations())
    guard (200..<300).contains(answer.status) else { return detection }
    // Without items, and without a word about what follows, there is nothing to guess from.
    let groups = groups(
      of: fits().filter { $0.itemCount > 0 || $0.isFounded || $0.isDistinct || $0.score >= 3 })
    detection.candidates = groups.prefix(5).enumerated().map { index, group in
      let rival = groups.indices.contains(index + 1) ? groups[index + 1].first?.score : nil
      return candidate(group, rival: index == 0 ? rival : groups.first?.first?.score)
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
    for fit in fits where fit.score > -4 || fit.isAsked {
      if let place = places[fit.behaviour] {
        let first = groups[place][0]
        // What a preset has a name for is called by it, where it explains nearly as much.
        let isName = first.preset == nil && fit.preset != nil && !fit.pagination.next.isCounter
        groups[place].insert(
          fit, at: isName && fit.score > first.score - 3 ? 0 : groups[place].count)
      } else {
        places[fit.behaviour] = groups.count
        groups.append([fit])
      }
    }
    return groups
  }

  private func candidate(_ group: [DetectorFit], rival: Double?) -> DetectedPagination {
    let fit = group[0]
    let others = group.dropFirst().filter { $0.score > fit.score - 8 }.compactMap(\.preset?.name)
    return DetectedPagination(
      preset: fit.preset?.name, items: fit.place, pagination: whole(fit),
      confidence: confidence(in: fit, rival: rival), evidence: fit.evidence, doubts: fit.doubts,
      alternatives: Array(others.prefix(6)),
      swift: fit.preset?.swift(at: fit.place) ?? fit.pagination.swift, next: fit.outcome)
  }

  /// The description of a fit as its preset has it, for requests of every kind.
  private func whole(_ fit: DetectorFit) -> Pagination {
    guard let preset = fit.preset else { return fit.pagination }
    let whole = fit.place.map { preset.pagination(at: $0) } ?? preset.pagination
    return whole.flatMap { $0.fitted(to: answer.request) == fit.pagination ? $0 : nil }
      ?? fit.pagination
  }

  private func confidence(in fit: DetectorFit, rival: Double?) -> Detection.Confidence {
    let margin = rival.map { fit.score - $0 } ?? .infinity
    // A description whose way on is not there may fit the last page of any listing, and an empty page
    // that only counts fits them all.
    guard !(fit.leadsNowhere && fit.outcome == .end),
      fit.itemCount > 0 || fit.isToldEnd || fit.outcome != .end
    else { return .guess }
    guard fit.outcome != .failure, !fit.isMisplaced, fit.isFounded || fit.isDistinct,
      fit.score > 0.5, margin > -1
    else { return .guess }
    return fit.isFounded && fit.score >= 6.5 && margin >= 2.5 ? .likely : .possible
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

  private var mediaType: String {
    let type = answer.headerFields[.contentType]?.prefix { $0 != ";" }
    return type.map { " with \(ServerText($0, limit: 80))" } ?? ""
  }

  private var shape: String {
    guard let root = outline.nodes.first else { return "The page could not be looked through." }
    if answer.document.isXML { return "The page is XML, its root \(Self.quoted(root.name))." }
    switch root.kind {
    case .list: return "The page is a list of \(root.count)."
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
