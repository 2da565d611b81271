// Those who wait: who is served, and who is told.

extension PaginatorMachine {
  /// Serves those who wait, and then sees to what is wanted or due.
  mutating func proceed(_ effects: inout Effects, looksAhead: Bool) {
    if !isReloading {
      settleHeldBack(&effects)
      serveConsumers(&effects)
      serveTurns(&effects)
    }
    if case .exhausted = tail, !isReloading {
      wakeConsumers(.end, &effects)
      wakeCallers(.loaded(false), &effects) { $0.wish == .load(.more) }
    }
    if case .exhausted = head, !isReloading {
      wakeCallers(.loaded(false), &effects) { $0.wish == .load(.before) }
    }
    if case .open = tail, !isReloading, isFull {
      // They came while a load was being cancelled, and there is no room for another page.
      wakeCallers(.loaded(true), &effects) { $0.wish == .load(.more) }
    }
    demandLoad(&effects)
    if looksAhead { lookAhead(&effects) }
  }

  private mutating func serveConsumers(_ effects: inout Effects) {
    var waiting: [Consumer] = []
    for consumer in consumers {
      if store.hasPages(for: consumer.reader) {
        let page = take(consumer.helping, for: consumer.reader)
        effects.wake.append((consumer.ticket, .page(page)))
      } else {
        waiting.append(consumer)
      }
    }
    consumers = waiting
  }

  mutating func wakeCallers(
    _ outcome: Outcome, _ effects: inout Effects, _ isMeant: (Caller) -> Bool
  ) {
    for caller in callers where isMeant(caller) { effects.wake.append((caller.ticket, outcome)) }
    callers.removeAll(where: isMeant)
  }

  mutating func wakeConsumers(_ outcome: Outcome, _ effects: inout Effects) {
    effects.wake += consumers.map { ($0.ticket, outcome) }
    consumers = []
  }
}
