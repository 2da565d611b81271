// Page commands: turning to what is held, and loading what is missing on the way there.

extension PaginatorMachine {
  /// Somebody wants to turn to a page. Commands are served in order.
  mutating func turn(_ command: PageCommand, ticket: Int) -> Effects {
    var effects = Effects()
    if limits.retention == .window {
      effects.outcome = .failed(
        PageError(
          .invalidArgument,
          "Page commands need a paginator that keeps its pages; give it retention .all.",
          attempts: 0))
      return effects
    }
    callers.append(Caller(ticket: ticket, wish: .turn(command)))
    serveTurns(&effects)
    demandLoad(&effects)
    announce(&effects)
    return effects
  }

  /// Serves commands from the front until one has to wait.
  mutating func serveTurns(_ effects: inout Effects) {
    while let index = callers.firstIndex(where: \.isTurn), let outcome = serve(callers[index]) {
      effects.wake.append((callers.remove(at: index).ticket, outcome))
    }
  }

  /// What the first command in the queue leads to; nil when it has to wait for pages.
  private mutating func serve(_ caller: Caller) -> Outcome? {
    guard case .turn(let command) = caller.wish, store.hasLoaded || isExhausted, !isReloading else {
      return nil
    }
    guard !store.pages.isEmpty else { return .end }
    let target: Int? =
      switch command {
      case .next: currentPage + 1
      case .previous: currentPage - 1
      case .page(let index): store.firstPage + max(0, index)
      case .item(let item): store.page(ofItem: max(0, item))
      }
    guard let target, target < store.endPage else { return isExhausted ? .end : nil }
    guard target >= store.firstPage else { return .end }
    currentPage = target
    return .page(store.pages[target - store.firstPage])
  }

  private var isExhausted: Bool {
    if case .exhausted = tail { true } else { false }
  }
}

extension PageStore {
  /// The number of the page with this item, counted from the first one held; nil when it is not
  /// loaded.
  func page(ofItem item: Int) -> Int? {
    var rest = item
    for (index, page) in pages.enumerated() {
      if rest < page.items.count { return firstPage + index }
      rest -= page.items.count
    }
    return nil
  }
}
