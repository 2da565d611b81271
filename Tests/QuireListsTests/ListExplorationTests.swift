import QuireCore
import QuireTesting
import Testing

@testable import QuireLists

/// Every sequence of ten events that the machine can be told, those that lead to the same place
/// counted once.
@Suite struct ListExplorationTests {
  typealias Machine = ListMachine<Int>

  enum Event: CaseIterable {
    case next, loadMore, loadBefore, retry, reload, navigate, jump, report, cancel, cancelWaiter
    case page, end, failure, cancellation
  }

  /// The machine, and what the world outside knows of it.
  struct World {
    static let pages = 3

    var machine: Machine
    var running: (load: ListLoad, id: Int)?
    var isCancelled = false
    var waiting: [Int] = []
    var tickets = 0
    var state = ListState.idle
    /// Which page the walk delivers next, and the walk backwards.
    var position = 1
    var before = 1
    /// Which page the one loop got last, and the items it got since the last first page.
    var place: Machine.Content.Place?
    var delivered: [Int] = []

    init(_ policy: ListOptions.ReloadPolicy, isAddressable: Bool) {
      machine = Machine(options: ListOptions(onReload: policy)) { count, _, _ in
        isAddressable ? Position(integerLiteral: count + 1) : nil
      }
    }

    /// Whether the event can happen here.
    func allows(_ event: Event) -> Bool {
      switch event {
      case .next: waiting.count < 2 && !machine.waiters.contains(where: \.isLoop)
      case .loadMore, .loadBefore, .retry, .reload, .navigate, .jump: waiting.count < 2
      case .cancelWaiter: !waiting.isEmpty
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
      case .next: return perform(machine.next(after: place, ticket: ticket), ticket)
      case .loadMore: return perform(machine.loadMore(ticket: ticket), ticket)
      case .loadBefore: return perform(machine.loadBefore(ticket: ticket), ticket)
      case .retry: return perform(machine.retry(ticket: ticket), ticket)
      case .reload: return perform(machine.reload(ticket: ticket), ticket)
      case .navigate: return perform(machine.navigate(.next, ticket: ticket), ticket)
      case .jump: return perform(machine.navigate(.page(2), ticket: ticket), ticket)
      case .report:
        return perform(machine.reported(consumed: machine.content.consumed + 1))
      case .cancel: return perform(machine.cancelled())
      case .cancelWaiter: return perform(machine.waiterCancelled(ticket: waiting[0]))
      case .page, .end, .failure, .cancellation: return finish(event)
      }
    }

    private mutating func finish(_ event: Event) -> String? {
      guard let (load, id) = running else { return nil }
      running = nil
      isCancelled = false
      let answer: LoadedPage<Int>
      switch event {
      case .page: answer = page(load)
      case .end: answer = .end
      case .failure: answer = .failed(ScriptedFailure())
      default: answer = .failed(CancellationError())
      }
      let held = machine.content.pages.map(\.items)
      let failsToReload = event == .failure && load == .reload && machine.content.late == nil
      let effects = machine.finished(id, answer)
      if failsToReload, machine.content.pages.map(\.items) != held {
        return "a reload that failed made \(machine.content.pages.map(\.items)) of \(held)"
      }
      return perform(effects)
    }

    private mutating func page(_ load: ListLoad) -> LoadedPage<Int> {
      switch load {
      case .before:
        before -= 1
        var page = Page([before])
        page.previous = before > -2 ? 0 : nil
        return .page(page, isLast: before == -2)
      case .reload, .more, .seek:
        let number: Int
        switch load {
        case .reload: number = 1
        case .seek(let start): number = start.position.value?.integer ?? 1
        default:
          number = position
          position += 1
        }
        first = number
        var page = Page([number])
        page.previous = 0
        return .page(page, isLast: number == Self.pages)
      case .again: fatalError("Without a window nothing is loaded again.")
      }
    }

    private mutating func perform(_ effects: Machine.Effects, _ ticket: Int? = nil) -> String? {
      if effects.adoptsRun {
        position = first + 1
        before = first
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
        if case .page(let page, let place?) = outcome {
          if place.generation != self.place?.generation { delivered = [] }
          self.place = place
          delivered += page.items
        }
      }
      if let id = effects.cancel {
        guard running?.id == id else { return "a load that does not run is cancelled" }
        isCancelled = true
      }
      if let start = effects.start {
        if running != nil { return "two loads at once" }
        running = (start.load, start.id)
      }
      return check(effects.events)
    }

    private mutating func check(_ events: [ListEvent<Int>]) -> String? {
      for case .changed(let old, let new) in events {
        if old != state || new == old { return "\(old) → \(new) follows \(state)" }
        state = new
      }
      if machine.state != state { return "\(machine.state) was not told; \(state) was" }
      let content = machine.content
      if content.consumed > content.loaded { return "\(content.consumed) of \(content.loaded)" }
      if !content.pages.isEmpty, !content.pages.indices.contains(content.current) {
        return "page \(content.current) of \(content.pages.count)"
      }
      if running == nil, !waiting.isEmpty { return "somebody waits for nothing" }
      if !Self.isConsecutive(delivered) { return "delivered \(delivered)" }
      let held = content.pages.flatMap(\.items)
      if !Self.isConsecutive(held) { return "holds \(held)" }
      return nil
    }

    /// The number of the first page of the last run.
    private var first = 1

    private static func isConsecutive(_ numbers: [Int]) -> Bool {
      zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }
    }

    /// What makes two places the same: everything but the numbers of tickets and loads.
    struct Summary: Hashable {
      struct Waiter: Hashable {
        var order: Int
        var wish: Machine.Waiter.Wish
        var hasSought: Bool
      }

      var load: ListLoad?
      var flags: [Bool]
      var numbers: [Int]
      var pages: [[Int]]
      var late: ListLoad?
      var waiters: [Waiter]
      var place: Machine.Content.Place?
      var settled: String
    }

    var summary: Summary {
      let content = machine.content
      var flags = [isCancelled, content.isBegun, content.hasLoaded]
      if case .loading(let load) = machine.activity { flags.append(load.isRetry) }
      var ends: [Int] = []
      var failed: ListLoad?
      switch content.tail {
      case .open: ends.append(0)
      case .failed(let load, _, let isShown):
        ends.append(isShown ? 1 : 2)
        failed = load
      case .exhausted: ends.append(3)
      }
      switch content.head {
      case .open: ends.append(0)
      case .failed: ends.append(1)
      case .exhausted: ends.append(2)
      }
      if let failed { ends.append(failed.isNewRun ? 1 : failed == .before ? 2 : 3) }
      return Summary(
        load: running?.load, flags: flags,
        numbers: ends + [
          content.before.pages, content.before.items, content.consumed, content.loaded,
          content.prepended, waiting.count, content.current, position, before,
        ],
        pages: [delivered] + content.pages.map(\.items), late: content.late?.running.load,
        waiters: machine.waiters.map { waiter in
          Summary.Waiter(
            order: waiting.firstIndex(of: waiter.ticket) ?? -1, wish: waiter.wish,
            hasSought: waiter.hasSought)
        }, place: place, settled: machine.shown.settled.description)
    }
  }

  @Test(
    "X-01, TI-30, TI-51, CP-25: no sequence of ten events breaks the machine",
    arguments: [
      (ListOptions.ReloadPolicy.keep, false), (.clear, false), (.keep, true), (.clear, true),
    ])
  func explores(policy: ListOptions.ReloadPolicy, isAddressable: Bool) {
    var known: Set<World.Summary> = []
    var frontier: [(world: World, path: [Event])] = [
      (World(policy, isAddressable: isAddressable), [])
    ]
    for _ in 0..<10 {
      var next: [(world: World, path: [Event])] = []
      for (world, path) in frontier {
        for event in Event.allCases where world.allows(event) {
          var world = world
          if let flaw = world.tell(event) {
            Issue.record("\(flaw), after \(path + [event])")
            return
          }
          if known.insert(world.summary).inserted { next.append((world, path + [event])) }
        }
      }
      frontier = next
    }
    #expect(known.count > 1000)
  }
}
