import QuireCore

/// One thing that a description expects of an answer or of the request for it.
struct DescriptionTrait: Hashable {
  /// What it would tell.
  enum Role: Hashable {
    case items, next, flag, total, pages, mark, echo, parameter, size, constant
  }

  /// Where it is looked for.
  enum Probe: Hashable {
    case items(ItemSelector)
    case value(ValueSource)
    case link(relation: String, conditions: [String: String])
    case sent(Placement)
    case constant(Placement, String)
  }

  var role: Role
  var probe: Probe
  /// Whether one of several such traits is enough.
  var isAlternative = false

  init(_ role: Role, _ probe: Probe, isAlternative: Bool = false) {
    self.role = role
    self.probe = probe
    self.isAlternative = isAlternative
  }

  /// What two descriptions have in common that expect the same thing.
  var key: DescriptionTrait { DescriptionTrait(role, probe) }

  /// The trait for each place and format by itself.
  var atoms: [DescriptionTrait] {
    switch probe {
    case .items(let items):
      items.paths.flatMap(\.sides).map { DescriptionTrait(role, .items(.path($0))) }
    case .value(let source): source.atoms.map { DescriptionTrait(role, .value($0)) }
    case .link, .sent, .constant: [key]
    }
  }
}

extension PagePath {
  /// The path in each of the two formats, where it is written for each by itself.
  var sides: [PagePath] {
    let sides = text.split(separator: " | ", omittingEmptySubsequences: false)
    return sides.count == 1 ? [self] : sides.compactMap { try? PagePath(String($0)) }
  }
}

extension ValueSource {
  /// The source at each of its places, in each format by itself.
  var atoms: [ValueSource] {
    switch self {
    case .body(let path): path.sides.map { .body($0) }
    case .lastItem(let path): path.sides.map { .lastItem($0) }
    case .firstOf(let sources): sources.flatMap(\.atoms)
    case .header, .count, .linkParameter, .linkQueryItem, .contentRangeTotal: [self]
    }
  }
}

extension Pagination {
  /// The ways to the next page.
  var routes: [Route] {
    if case .firstOf(let routes) = next { routes } else { [Route(next, send: send)] }
  }

  /// Everything that the description expects to see.
  var traits: [DescriptionTrait] {
    var traits = [DescriptionTrait(.items, .items(items))]
    traits += routes.flatMap { $0.traits(isAlternative: routes.count > 1) }
    for rule in end { traits += rule.traits }
    if let total {
      traits.append(DescriptionTrait(total.kind == .pages ? .pages : .total, .value(total.source)))
    }
    if let echo = size?.echo { traits.append(DescriptionTrait(.echo, .value(.body(echo)))) }
    if let send = size?.send { traits.append(DescriptionTrait(.size, .sent(send))) }
    traits += request.carry.values.map { DescriptionTrait(.mark, .value($0.from)) }
    if let from = previous?.from {
      traits += Route(from, send: .url).traits(isAlternative: true).map {
        DescriptionTrait(.mark, $0.probe)
      }
    }
    if let from = resume?.next {
      traits += Route(from, send: .url).traits(isAlternative: true).map {
        DescriptionTrait(.mark, $0.probe)
      }
    }
    traits += request.always.query.map {
      DescriptionTrait(.constant, .constant(.query($0.key), $0.value))
    }
    traits += request.always.header.map {
      DescriptionTrait(.constant, .constant(.header($0.key), $0.value))
    }
    traits += policy.failure.compactMap { rule in
      guard case .value(let source)? = rule.when.value.map(DescriptionTrait.Probe.value) else {
        return nil
      }
      return DescriptionTrait(.mark, .value(source))
    }
    var seen: Set<DescriptionTrait> = []
    return traits.filter { seen.insert($0.key).inserted }
  }
}

extension Route {
  func traits(isAlternative: Bool) -> [DescriptionTrait] {
    var traits = next.probes.map {
      DescriptionTrait(.next, $0, isAlternative: isAlternative)
    }
    if case .offset(_, .body(let path)) = next.root {
      traits.append(DescriptionTrait(.echo, .value(.body(path))))
    }
    if case .pageNumber(_, let path?) = next.root {
      traits.append(DescriptionTrait(.echo, .value(.body(path))))
    }
    if send != .url { traits.append(DescriptionTrait(.parameter, .sent(send))) }
    return traits
  }
}

extension NextSource {
  /// Where the links of an index are: a list that has none is no index.
  private static func links(_ link: PagePath, in list: PagePath) -> PagePath {
    (try? PagePath("\(list.text)/*\(link.text) | \(list.text)\(link.text)")) ?? list
  }

  /// Where the continuation is looked for; nowhere where pages are counted.
  var probes: [DescriptionTrait.Probe] {
    switch self {
    case .linkHeader(let relation, let conditions):
      [.link(relation: relation, conditions: conditions)]
    case .header(let name): [.value(.header(name))]
    case .body(let path): [.value(.body(path))]
    case .lastItem(let path), .firstItem(let path), .maxItem(let path): [.value(.lastItem(path))]
    case .contentRange: [.value(.header("Content-Range"))]
    case .index(let list, let link, _): [.value(.body(Self.links(link, in: list)))]
    case .transformed(.linkHeader(let relation, _), .queryItem(let name)):
      [.value(.linkQueryItem(name, rel: relation))]
    case .transformed(let source, _): source.probes
    case .all(let sources): sources.sorted { $0.key < $1.key }.flatMap { $0.value.probes }
    case .offset, .pageNumber, .firstOf: []
    }
  }
}

extension EndRule {
  var traits: [DescriptionTrait] {
    switch self {
    case .flag(let rule): [DescriptionTrait(.flag, .value(rule.source))]
    case .total(let total):
      [DescriptionTrait(total.kind == .pages ? .pages : .total, .value(total.source))]
    case .lastPage(let condition):
      condition.value.map { [DescriptionTrait(.mark, .value($0))] } ?? []
    case .status(_, let condition?):
      condition.value.map { [DescriptionTrait(.mark, .value($0))] } ?? []
    case .noNext, .emptyPage, .shortPage, .sameCursor, .status, .noNewItems, .notAdvancing: []
    }
  }
}
