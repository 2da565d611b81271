import QuireHTTP

/// Tells by its start tag whether an element is an item of the page.
///
/// That can be done for one path whose predicates, if any, are about attributes. A state is a set
/// of bits: bit n of an element is set when the first n steps of the path lead to it.
struct XMLItemMatcher {
  private struct Step {
    let name: XMLPath.Name
    let predicates: [XMLPath.Predicate]
  }

  /// The path.
  let path: XMLPath
  private let steps: [Step]
  /// For each name of the page, the steps that it fits.
  private var fits: [UInt64] = []
  /// The state of each open element, from the root down, behind that of the document.
  private var states: [UInt64] = [1]

  /// Nil where items cannot be told while the page arrives.
  init?(_ selector: ItemSelector) {
    guard selector.paths.count == 1, let path = selector.paths[0].xml, path.steps.count < 63 else {
      return nil
    }
    var steps: [Step] = []
    for step in path.steps {
      guard case .element(let name, let predicates) = step, predicates.allSatisfy(\.isOfAttribute)
      else { return nil }
      steps.append(Step(name: name, predicates: predicates))
    }
    self.path = path
    // Without steps, the items are whatever the root element holds.
    let any = Step(name: .any, predicates: [])
    self.steps = steps.isEmpty ? [any, any] : steps
  }

  /// An element was opened: whether it is where the path leads.
  mutating func opened(
    name: UInt32, in names: XMLNameTable, has: (XMLPath.Predicate) -> Bool
  ) -> Bool {
    while fits.count <= Int(name) { fits.append(fit(of: names.entries.base[fits.count])) }
    let around = states[states.count - 1] | (path.startsAnywhere ? 1 : 0)
    var reached = around & fits[Int(name)]
    if reached != 0 {
      for (number, step) in steps.enumerated()
      where reached & 1 << number != 0 && !step.predicates.allSatisfy(has) {
        reached &= ~(1 << number)
      }
    }
    states.append(reached << 1)
    return reached & 1 << (steps.count - 1) != 0
  }

  /// The innermost element was closed.
  mutating func closed() { states.removeLast() }

  private func fit(of entry: XMLNameTable.Entry) -> UInt64 {
    let name = XMLIndex.Name(entry)
    var fits: UInt64 = 0
    for (number, step) in steps.enumerated() where name.matches(step.name) { fits |= 1 << number }
    return fits
  }
}

extension XMLPath.Predicate {
  fileprivate var isOfAttribute: Bool {
    if case .attribute = self { true } else { false }
  }
}
