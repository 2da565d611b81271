import Foundation
import QuireCore
import QuireTesting
import Testing

@testable import QuireListModel
@testable import QuireLists

/// Random mixes of everything that can happen to a list, each step compared with what a simple model of it
/// expects. `QUIRE_MIXES` says how many steps in all; default 60,000.
@Suite struct ListMixTests {
  /// The list, a server, and what has to be shown.
  struct World {
    typealias Machine = ListMachine<Row>

    /// An edit as the simple model knows it.
    struct Edit {
      var number: Int
      var id: Int
      var kind: String
      var confirmed: Int?
    }

    static let count = 40
    static let size = 3
    static let start = 12

    var random: SeededGenerator
    var machine: Machine
    var rows = ListRows<Row, Int> { $0.id }
    let window: ListWindow?
    var running: (load: ListLoad, id: Int, from: Position?)?
    var isCancelled = false
    var waiting: Set<Int> = []
    var tickets = 0
    var state = ListState.idle
    /// Where the walk reads next, at both ends.
    var next = Self.start
    var before = Self.start - Self.size
    var first = Self.start
    var edits: [Edit] = []
    var inserted = 0
    var generation = 0
    var items = ListItems<Row>()
    var log: [String] = []

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      let policies: [ListOptions.ReloadPolicy] = [.keep, .keep, .clearOnFailure, .clear]
      window = seed % 2 == 0 ? nil : ListWindow(pages: 3)
      machine = Machine(
        start: Position(integerLiteral: Self.start),
        options: ListOptions(
          threshold: seed % 3 == 0 ? .standard : .onDemand, onReload: policies[Int(seed / 2 % 4)],
          window: window)
      ) { count, position, _ in
        let start = (position.value?.integer ?? Self.start) + count * Self.size
        return start < Self.count ? Position(integerLiteral: start) : nil
      }
    }

    mutating func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// The page at a position: three numbers, and now and then the last one of the page before.
    func page(at start: Int) -> Page<Row> {
      let first = start % 4 == 0 && start > 0 ? start - 1 : start
      var page = Page(
        (first..<min(start + Self.size, Self.count)).map { Row(id: $0 * 10) },
        next: start + Self.size < Self.count ? Position(integerLiteral: start + Self.size) : nil,
        previous: start > 0 ? Position(integerLiteral: start - Self.size) : nil)
      page.position = Position(integerLiteral: start)
      return page
    }

    // MARK: Steps

    /// Something happens. Returns what is wrong then, if anything is.
    mutating func step() -> String? {
      if running != nil, draw(3) == 0 { return finish() }
      switch draw(16) {
      case 0, 1: return call("loadMore") { $0.loadMore(ticket: $1) }
      case 2: return call("loadBefore") { $0.loadBefore(ticket: $1) }
      case 3 where draw(3) == 0: return call("reload") { $0.reload(ticket: $1) }
      case 4: return call("retry") { $0.retry(ticket: $1) }
      case 5:
        let commands: [PageCommand] = [
          .next, .previous, .page(draw(10)), .item(draw(Self.count)),
        ]
        let command = commands[draw(4)]
        return call("\(command)") { $0.navigate(command, ticket: $1) }
      case 6 where draw(4) == 0:
        log.append("cancel")
        return perform(machine.cancelled())
      case 7:
        guard let ticket = waiting.min() else { return nil }
        log.append("cancel \(ticket)")
        return perform(machine.waiterCancelled(ticket: ticket))
      case 8, 9:
        let lower = draw(Self.count) - 10
        log.append("show \(lower)")
        return perform(machine.reported(visible: lower..<lower + 4))
      default: return edit()
      }
    }

    private mutating func call(
      _ name: String, _ event: (inout Machine, Int) -> Machine.Effects
    ) -> String? {
      guard waiting.count < 4 else { return nil }
      tickets += 1
      log.append("\(name) \(tickets)")
      return perform(event(&machine, tickets), tickets)
    }

    mutating func finish(fails: Bool? = nil) -> String? {
      guard let (load, id, position) = running else { return nil }
      running = nil
      let answer: LoadedPage<Row>
      if isCancelled, draw(2) == 0 {
        answer = .failed(CancellationError())
      } else if fails ?? (draw(4) == 0) {
        answer = .failed(ScriptedFailure())
      } else {
        answer = read(load, position)
      }
      isCancelled = false
      log.append("\(load): \(answer.isFailure ? "fails" : "comes")")
      return perform(machine.finished(id, answer))
    }

    private mutating func read(_ load: ListLoad, _ from: Position?) -> LoadedPage<Row> {
      let start: Int
      switch load {
      case .before:
        guard before >= 0 else { return .end }
        start = before
        before -= Self.size
        return .page(page(at: start), isLast: before < 0)
      case .again: start = from?.value?.integer ?? -1
      case .reload: start = Self.start
      case .seek(let to): start = to.position.value?.integer ?? -1
      case .more:
        start = next
        next += Self.size
      }
      if load.isNewRun { first = start }
      return .page(page(at: start), isLast: start + Self.size >= Self.count)
    }

    private mutating func perform(_ effects: Machine.Effects, _ ticket: Int? = nil) -> String? {
      if effects.adoptsRun { (next, before) = (first + Self.size, first - Self.size) }
      if !effects.continues.isEmpty { return "a page that has not changed leads elsewhere" }
      if let ticket, effects.outcome == nil { waiting.insert(ticket) }
      for (ticket, _) in effects.wake where waiting.remove(ticket) == nil {
        return "no caller waits by \(ticket)"
      }
      if let id = effects.cancel {
        guard running?.id == id else { return "a load that does not run is cancelled" }
        isCancelled = true
      }
      if let start = effects.start {
        if running != nil { return "two loads at once" }
        running = (start.load, start.id, start.from?.position)
      }
      for case .changed(let old, let new) in effects.events {
        if old != state || new == old { return "\(old) → \(new) follows \(state)" }
        state = new
      }
      if machine.state != state { return "the state is \(machine.state), and \(state) was told" }
      if running == nil, !waiting.isEmpty { return "a caller waits for nothing" }
      return apply()
    }

    private mutating func edit() -> String? {
      let shown = rows.items
      let id = shown.isEmpty ? 0 : shown[draw(shown.count)].id
      let other = shown.isEmpty || draw(5) == 0 ? nil : shown[draw(shown.count)].id
      let loads = machine.snapshot.loads
      switch draw(7) {
      case 0:
        inserted += 1
        note(rows.insert(Row(id: inserted * 10 + 1), behind: other), inserted * 10 + 1, "insert")
      case 1:
        let number = rows.update(id) { Row(id: $0.id, text: $0.text + "\(id).") }
        note(number, id, "update")
      case 2: note(rows.remove(id), id, "remove")
      case 3: note(rows.move(id, behind: other), id, "move")
      case 4, 5:
        guard !edits.isEmpty else { return nil }
        let edit = edits.remove(at: draw(edits.count))
        log.append("undo \(edit.number)")
        if !rows.undo(edit.number) { return "edit \(edit.number) cannot be undone" }
        if edit.kind == "insert" { edits.removeAll { $0.id == edit.id } }
      default:
        guard !edits.isEmpty else { return nil }
        let index = draw(edits.count)
        var renamed: Row?
        // The server may give an inserted item the identity of one that it lists elsewhere.
        if edits[index].kind == "insert", edits[index].id % 10 == 1, draw(2) == 0 {
          renamed = Row(id: draw(Self.count) * 10)
        }
        log.append("confirm \(edits[index].number) \(renamed?.id ?? 0)")
        if !rows.confirm(edits[index].number, as: renamed, loads: loads) {
          return "edit \(edits[index].number) cannot be confirmed"
        }
        edits[index].confirmed = loads
        if let name = renamed?.id { rename(edits[index].id, name) }
      }
      return check(placesAll: true)
    }

    private mutating func note(_ number: Int?, _ id: Int, _ kind: String) {
      guard let number else { return }
      log.append("\(kind) \(id) as \(number)")
      edits.append(Edit(number: number, id: id, kind: kind))
    }

    private mutating func rename(_ old: Int, _ new: Int) {
      let isThere =
        machine.content.pages.contains { $0.items.contains { $0.id == new } }
        || edits.contains { $0.id == new && ["insert", "move"].contains($0.kind) }
      if isThere {
        edits.removeAll { $0.id == old }
      } else {
        for index in edits.indices where edits[index].id == old { edits[index].id = new }
        // An identity has one history: edits of the item that had it meanwhile go on upon it.
        edits.sort { $0.number < $1.number }
      }
    }

    // MARK: Checks

    private mutating func apply() -> String? {
      let snapshot = machine.snapshot
      rows.apply(snapshot, dropsEdits: false)
      if snapshot.content.generation != generation {
        generation = snapshot.content.generation
        edits.removeAll { $0.confirmed.map { $0 < snapshot.content.run } ?? false }
      }
      for page in snapshot.pages {
        for row in page.items
        where edits.contains(where: { $0.id == row.id && $0.kind == "insert" }) {
          edits.removeAll { $0.id == row.id && ["insert", "move"].contains($0.kind) }
        }
      }
      let most = (window?.pages ?? .max).addingReportingOverflow(6).partialValue
      if window != nil, snapshot.pages.count > most { return "\(snapshot.pages.count) pages held" }
      return check(placesAll: window == nil && snapshot.pagesBefore == 0)
    }

    private mutating func check(placesAll: Bool) -> String? {
      let snapshot = machine.snapshot
      let shown = rows.items.map(\.id)
      if Set(shown).count != shown.count { return "shown twice: \(shown)" }
      let removed = Set(edits.filter { $0.kind == "remove" }.map(\.id))
      let placed = Set(edits.filter { ["insert", "move"].contains($0.kind) }.map(\.id))
      let listed = Set(snapshot.pages.flatMap { $0.items.map(\.id) })
      let expected = listed.subtracting(removed).subtracting(placed).sorted()
      let plain = shown.filter { !placed.contains($0) }
      if plain != expected { return "\(plain) instead of \(expected)" }
      if !removed.isDisjoint(with: shown) { return "a removed item is shown: \(shown)" }
      if placesAll, window == nil, snapshot.pagesBefore == 0,
        let lost = placed.subtracting(removed).first(where: { !shown.contains($0) })
      {
        return "\(lost) is lost: \(shown)"
      }
      for row in rows.items {
        let updates = edits.count { $0.id == row.id && $0.kind == "update" }
        if row.text.count(where: { $0 == "." }) != updates {
          return "\(row) has \(updates) updates"
        }
      }
      let pending = edits.count { $0.confirmed == nil }
      if rows.pending != pending { return "\(rows.pending) edits are pending, not \(pending)" }
      let difference = ListDifference(from: items, to: rows.items, id: \.id, isEqual: ==)
      let made = ListDifferenceTests.apply(difference, to: Array(items), from: Array(rows.items))
      if made != Array(rows.items) { return "the difference makes \(made)" }
      items = rows.items
      return nil
    }

    /// Everything is loaded, and scrolled through: what is to be shown has been seen.
    mutating func end() -> String? {
      var seen = Set(rows.items.map(\.id))
      for back in [true, false] {
        for _ in 0..<100 {
          var loads = 0
          while running != nil {
            if let flaw = finish(fails: false) { return flaw }
            loads += 1
            if loads > 100 { return "pages are loaded again and again" }
          }
          seen.formUnion(rows.items.map(\.id))
          tickets += 1
          let effects =
            back ? machine.loadBefore(ticket: tickets) : machine.loadMore(ticket: tickets)
          if case .loaded(false)? = effects.outcome { break }
          if let flaw = perform(effects, tickets) { return flaw }
        }
      }
      let removed = Set(edits.filter { $0.kind == "remove" }.map(\.id))
      let placed = Set(edits.filter { ["insert", "move"].contains($0.kind) }.map(\.id))
      let all = Set((0..<Self.count).map { $0 * 10 }).union(placed).subtracting(removed)
      let lost = all.subtracting(seen)
      return lost.isEmpty ? nil : "\(lost.sorted()) are lost"
    }
  }

  /// What is wrong with the run of this seed, if anything is, and what led to it.
  static func flaw(seed: UInt64, steps: Int) -> String? {
    var world = World(seed: seed)
    for _ in 0..<steps {
      if let flaw = world.step() { return "\(flaw), after \(world.log.suffix(40))" }
    }
    return world.end().map { "\($0), at the end of \(world.log.suffix(40))" }
  }

  @Test(
    "18-Mix, X-01, TI-30: no mix of edits, loads, reloads, jumps, failures and cancellations breaks a list"
  )
  func mixes() {
    let steps = ProcessInfo.processInfo.environment["QUIRE_MIXES"].flatMap { Int($0) } ?? 60_000
    let seed = ProcessInfo.processInfo.environment["QUIRE_SEED"].flatMap { UInt64($0) }
    let base = seed ?? UInt64.random(in: 0...UInt64.max / 2)
    for round in 0..<UInt64(max(1, steps / 200)) {
      guard let flaw = Self.flaw(seed: base + round, steps: 200) else { continue }
      Issue.record("seed \(base + round): \(flaw)")
      return
    }
  }
}
