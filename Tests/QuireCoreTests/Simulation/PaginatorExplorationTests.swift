import QuireTesting
import Testing

@testable import QuireCore
@testable import QuireLists

/// Every sequence of ten events that the machine can be told, those that lead to the same place
/// counted once.
@Suite struct PaginatorExplorationTests {
  typealias Machine = PaginatorMachine<Int>

  enum Event: CaseIterable {
    case next, loadMore, loadBefore, retry, reload, turn, report, cancel, cancelWaiter
    case begin, leave, page, end, failure, cancellation
  }

  /// The machine, and what the world outside knows of it.
  struct World {
    static let pages = 3

    var machine: Machine
    var running: (load: Machine.Load, id: Int)?
    var isCancelled = false
    var waiting: [Int] = []
    var tickets = 0
    var state = PaginatorState.idle
    /// Which page the walk delivers next, and the walk backwards.
    var position = 1
    var before = 1
    /// The items that the one consumer got since the last first page.
    var delivered: [Int] = []

    init(_ retention: Retention, _ policy: ListOptions.ReloadPolicy) {
      machine = Machine(
        limits: LookAhead(retention: retention, list: ListOptions(onReload: policy)))
      machine.iteratorBegan()
    }

    /// Whether the event can happen here.
    func allows(_ event: Event) -> Bool {
      switch event {
      case .next, .loadMore, .loadBefore, .retry, .reload, .turn: waiting.count < 2
      case .cancelWaiter: !waiting.isEmpty
      case .begin: machine.iterators == 0
      case .leave: machine.iterators == 1
      case .page, .end, .failure: running != nil
      case .cancellation: running != nil && isCancelled
      case .report, .cancel: true
      }
    }

    /// Tells the machine. Returns what is wrong, if anything is.
    mutating func tell(_ event: Event) -> String? {
      tickets += 1
      let ticket = tickets
      switch event {
      case .next: return perform(machine.next(.page, reader: 1, ticket: ticket), ticket)
      case .loadMore: return perform(machine.loadMore(ticket: ticket), ticket)
      case .loadBefore: return perform(machine.loadBefore(ticket: ticket), ticket)
      case .retry: return perform(machine.retry(ticket: ticket), ticket)
      case .reload: return perform(machine.reload(ticket: ticket), ticket)
      case .turn: return perform(machine.turn(.next, ticket: ticket), ticket)
      case .report: return report()
      case .cancel: return perform(machine.cancelled())
      case .cancelWaiter: return perform(machine.waiterCancelled(ticket: waiting[0]))
      case .begin:
        machine.iteratorBegan()
        return nil
      case .leave: return perform(machine.iteratorLeft(1))
      case .page, .end, .failure, .cancellation: return finish(event)
      }
    }

    /// Whoever says that it has consumed an item has it from elsewhere, such as a snapshot.
    private mutating func report() -> String? {
      let effects = machine.reported(consumed: machine.store.consumed + 1)
      if machine.limits.retention == .window, delivered.count < machine.store.handedOut {
        delivered += delivered.count + 1...machine.store.handedOut
      }
      return perform(effects)
    }

    private mutating func finish(_ event: Event) -> String? {
      guard let (load, id) = running else { return nil }
      running = nil
      isCancelled = false
      let answer: Machine.Answer
      switch event {
      case .page: answer = page(load)
      case .end: answer = .end
      case .failure: answer = .failed(ScriptedFailure())
      default: answer = .failed(CancellationError())
      }
      let held = machine.store.pages.map(\.items)
      let failsToReload = event == .failure && load == .reload && machine.heldBack == nil
      let effects = machine.finished(id, answer)
      if failsToReload, machine.store.pages.map(\.items) != held, delivers(effects) == 0 {
        return "a reload that failed made \(machine.store.pages.map(\.items)) of \(held)"
      }
      return perform(effects)
    }

    /// How many pages consumers get by this.
    private func delivers(_ effects: Machine.Effects) -> Int {
      effects.wake.count { if case .page = $0.outcome { true } else { false } }
    }

    private mutating func page(_ load: Machine.Load) -> Machine.Answer {
      switch load {
      case .before:
        before -= 1
        var page = Page([before])
        page.previous = before > -2 ? 0 : nil
        return .page(page, isLast: before == -2)
      case .reload, .more:
        let number = load == .reload ? 1 : position
        if load == .more { position += 1 }
        var page = Page([number])
        page.previous = 0
        return .page(page, isLast: number == Self.pages)
      }
    }

    private mutating func perform(_ effects: Machine.Effects, _ ticket: Int? = nil) -> String? {
      if effects.adoptsReload {
        position = 2
        before = 1
        delivered = []
      }
      var told = effects.wake
      if let ticket {
        waiting.append(ticket)
        if let outcome = effects.outcome { told.append((ticket, outcome)) }
      }
      for (ticket, outcome) in told {
        guard let index = waiting.firstIndex(of: ticket) else { return "nobody waits: \(ticket)" }
        waiting.remove(at: index)
        if case .page(let page) = outcome, machine.limits.retention == .window {
          delivered += page.items
        }
      }
      if let id = effects.cancel {
        guard running?.id == id else { return "a load that does not run is cancelled" }
        isCancelled = true
      }
      if let start = effects.start {
        if running != nil { return "two loads at once" }
        running = start
      }
      return check(effects.events)
    }

    private mutating func check(_ events: [PaginatorEvent<Int>]) -> String? {
      for case .changed(let old, let new) in events {
        if old != state || new == old { return "\(old) → \(new) follows \(state)" }
        state = new
      }
      for case .reloaded(let page) in events where page.items != [1] {
        return "a first page of \(page.items)"
      }
      if machine.state != state { return "\(machine.state) was not told; \(state) was" }
      let store = machine.store
      if store.consumed > store.handedOut || store.handedOut > store.loaded {
        return "\(store.consumed) ≤ \(store.handedOut) ≤ \(store.loaded)"
      }
      if machine.limits.retention == .window, store.pagesAhead > 1 { return "too far ahead" }
      if running == nil, !waiting.isEmpty { return "somebody waits for nothing" }
      if !Self.isConsecutive([0] + delivered) { return "delivered \(delivered)" }
      let held = store.pages.flatMap(\.items)
      if !Self.isConsecutive(held) { return "holds \(held)" }
      return nil
    }

    private static func isConsecutive(_ numbers: [Int]) -> Bool {
      zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }
    }

    /// What makes two places the same: everything but the numbers of tickets and loads.
    var place: String {
      let store = machine.store
      func order(_ ticket: Int) -> Int { waiting.firstIndex(of: ticket) ?? -1 }
      let consumers = machine.consumers.map { order($0.ticket) }
      let callers = machine.callers.map { "\(order($0.ticket))\($0.wish)" }
      var running = "\(running?.load as Any) \(isCancelled)"
      if case .loading(let load) = machine.activity { running += " \(load.isRetry)" }
      return """
        \(running) \(machine.tail) \(machine.head) \(store.pages.map(\.items)) \
        \(store.frontier) \(store.consumed) \(store.loaded) \(store.prepended) \
        \(store.hasLoaded) \(consumers) \(callers) \(waiting.count) \(machine.iterators) \
        \(machine.settled) \(machine.heldBack as Any) \(machine.currentPage) \(position) \(before) \(delivered)
        """
    }
  }

  @Test(
    "X-01, TI-30, TI-51: no sequence of ten events breaks the machine",
    arguments: [(Retention.window, ListOptions.ReloadPolicy.keep), (.all, .keep), (.all, .clear)])
  func explores(retention: Retention, policy: ListOptions.ReloadPolicy) {
    var known: Set<String> = []
    var frontier: [(world: World, path: [Event])] = [(World(retention, policy), [])]
    for _ in 0..<10 {
      var next: [(world: World, path: [Event])] = []
      for (world, path) in frontier {
        for event in Event.allCases where world.allows(event) {
          var world = world
          if let flaw = world.tell(event) {
            Issue.record("\(flaw), after \(path + [event])")
            return
          }
          if known.insert(world.place).inserted { next.append((world, path + [event])) }
        }
      }
      frontier = next
    }
    #expect(known.count > 1000)
  }
}
