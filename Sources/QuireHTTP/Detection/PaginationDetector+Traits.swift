import QuireCore

extension PaginationDetector {
  /// What a trait showed itself to be.
  enum Finding {
    case found(JSONValue?)
    case blank
    case absent
  }

  /// What is found of a trait, and at which of its places.
  func find(
    _ traits: PaginationVocabulary.Atoms, items: ItemSelector,
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
  private func isEcho(_ value: JSONValue, at source: ValueSource) -> Bool {
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
      let share = !isWeak ? 1 : trait.role == .next ? 0.15 : 0
      fit.score += trait.role.weight * information * share
      if trait.role == .next { fit.score += isWeak ? -1 : 2 }
      explained.formUnion(trait.names)
      if trait.role.isFoundation, !isWeak { fit.isFounded = true }
      if trait.role == .next || trait.role == .flag { fit.isToldEnd = true }
      if trait.role == .items, information >= 5 { fit.isDistinct = true }
      if let words = atom.words(for: value, count: fit.itemCount) { fit.evidence.append(words) }
    case .blank:
      fit.score += trait.role.weight * information * 0.5
      explained.formUnion(trait.names)
      if trait.role == .next {
        fit.isFounded = true
        fit.isToldEnd = true
        fit.evidence.append("\(atom.place) is there and empty, which is the end")
      }
    case .absent:
      switch trait.role {
      case .flag: fit.score -= 2
      case .total, .pages: fit.score -= 1
      case .items: fit.score -= 1
      case .echo: fit.score -= 0.5
      case .constant: fit.score -= 1
      case .next, .mark, .parameter, .size: break
      }
    }
  }
}

extension DescriptionTrait {
  /// Whether it is looked for in an item.
  var isOfItems: Bool { if case .value(.lastItem) = probe { true } else { false } }
}

extension DescriptionTrait.Role {
  /// How much a bit of information weighs.
  var weight: Double {
    switch self {
    case .items, .next, .flag: 1
    case .total, .pages: 0.9
    case .echo, .mark: 0.6
    case .parameter, .constant: 0.6
    case .size: 0.4
    }
  }

  /// Whether it says by itself how a listing goes on or ends.
  var isFoundation: Bool {
    switch self {
    case .next, .flag, .total, .pages: true
    case .items, .mark, .echo, .parameter, .size, .constant: false
    }
  }
}
