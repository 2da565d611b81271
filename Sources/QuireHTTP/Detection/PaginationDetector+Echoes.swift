import QuireCore

/// What an answer repeats of its request: `"offset": 0` in the first page of a listing that is counted
/// by `offset`.
extension PaginationDetector {
  /// How a description counts.
  private enum Count { case offset, page }

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
      fit.score += 4
      fit.evidence.append("\(Self.quoted(echo.path)) is \(start), as sent for the first page")
    } else if let echo = echoes.first {
      fit.score += 1.5
      fit.evidence.append("\(Self.quoted(echo.path)) is \(start), where the first page starts")
    } else if !self.echoes(of: other).isEmpty {
      fit.score -= 2
      fit.doubts.append("the page repeats \(Self.quoted(self.echoes(of: other)[0].path))")
    }
  }

  /// The values by which the page may say where it starts.
  private func echoes(of kind: Count) -> [PageOutline.Node] {
    let names = kind == .offset ? vocabulary.offsetNames : vocabulary.pageNames
    return outline.nodes.filter { node in
      node.kind == .scalar && !node.isInList && node.value?.integer != nil
        && names.contains(PaginationVocabulary.normal(node.name))
    }
  }

  /// Where page numbers go, as far as request and answer tell.
  var pageParameter: Placement {
    parameter(among: vocabulary.pageNumbers, echoes: echoes(of: .page)) ?? .query("page")
  }

  /// Where offsets go, as far as request and answer tell.
  var offsetParameter: Placement {
    parameter(among: vocabulary.offsets, echoes: echoes(of: .offset)) ?? .query("offset")
  }

  /// The parameter that the request already has of those that presets count by, or else that the
  /// answer repeats.
  private func parameter(
    among sends: PaginationVocabulary.Sends, echoes: [PageOutline.Node]
  ) -> Placement? {
    let ranked = sends.ranked
    if let there = ranked.first(where: { sent.value(at: $0)?.integer != nil }) { return there }
    guard answer.request.body == .none else { return nil }
    let names = Set(ranked.compactMap(\.parameter).map(PaginationVocabulary.normal))
    let echo = echoes.first { names.contains(PaginationVocabulary.normal($0.name)) }
    return echo.map { .query($0.name.hasPrefix("@") ? String($0.name.dropFirst()) : $0.name) }
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
