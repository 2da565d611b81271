import QuireCore
import QuireListModel
import Synchronization

/// A million random edits, loads at both ends, reloads, jumps, failures and cancellations of a list as a program
/// has it, each followed by a look at what is shown.
@MainActor struct ListMixes {
  private struct Row: Identifiable, Equatable, Sendable {
    var id: Int
    var text = ""
  }

  private struct Failure: Error {}

  /// An edit that the server has not agreed to.
  private struct Edit {
    enum Kind { case insert, update, remove, move }
    var edit: ListEdit
    var id: Int
    var kind: Kind
  }

  private nonisolated static let (count, size, start) = (60, 4, 32)
  private static let (rounds, steps) = (5000, 200)

  private var random: Numbers
  private let model: ListModel<Row, Int>
  private var edits: [Edit] = []
  private var inserted = 0
  /// Items with an edit that the server has agreed to: when that is over depends on loads.
  private var agreed: Set<Int> = []
  private var tasks: [Task<Void, Never>] = []

  /// Numbers that a seed makes, for the list and for its server.
  private final class Numbers: RandomNumberGenerator, Sendable {
    private let state: Mutex<UInt64>

    init(_ seed: UInt64) { state = Mutex(seed) }

    func next() -> UInt64 {
      state.withLock { state in
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = state
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
      }
    }
  }

  private init(seed: UInt64) {
    let random = Numbers(seed)
    self.random = random
    let cursor = Cursor<Row>(from: Position(integerLiteral: Self.start)) { position in
      let start = position?.value?.integer ?? Self.start
      for _ in 0..<random.next() % 3 { await Task.yield() }
      if random.next() % 6 == 0 { throw Failure() }
      return Page(
        (start..<min(start + Self.size, Self.count)).map { Row(id: $0 * 10) },
        next: start + Self.size < Self.count ? Position(integerLiteral: start + Self.size) : nil,
        previous: start > 0 ? Position(integerLiteral: start - Self.size) : nil)
    }
    model = ListModel(cursor, options: ListOptions(threshold: .onDemand))
  }

  static func measure() async throws -> [Figure] {
    let seed = UInt64.random(in: 0...UInt64.max)
    var flaws = 0
    for round in 0..<UInt64(rounds) {
      var mix = ListMixes(seed: seed &+ round)
      guard let flaw = await mix.run() else { continue }
      print("seed \(seed &+ round): \(flaw)")
      flaws += 1
    }
    return [
      Figure("random steps of a list", Double(rounds * steps), ""),
      Figure("  rounds of 200 after which something was wrong", Double(flaws), "", .atMost(0)),
    ]
  }

  private mutating func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  /// What is wrong after a round, if anything is.
  private mutating func run() async -> String? {
    for _ in 0..<Self.steps {
      await step()
      if let flaw = flaw() { return flaw }
    }
    for task in tasks { await task.value }
    // In the end everything is loaded.
    for _ in 0..<1000 {
      let isMore = (try? await model.loadMore()) ?? true
      let isBefore = (try? await model.loadBefore()) ?? true
      if !isMore, !isBefore { break }
    }
    let shown = Set(model.items.map(\.id))
    let all = Set((0..<Self.count).map { $0 * 10 } + edits.filter { $0.kind == .insert }.map(\.id))
    let removed = Set(edits.filter { $0.kind == .remove }.map(\.id))
    let lost = all.subtracting(removed).subtracting(agreed).subtracting(shown)
    return flaw() ?? (lost.isEmpty ? nil : "\(lost.sorted()) are lost")
  }

  private mutating func step() async {
    switch draw(12) {
    case 0, 1: call { try await $0.loadMore() }
    case 2: call { try await $0.loadBefore() }
    case 3 where draw(3) == 0: call { try await $0.reload() }
    case 4: call { try await $0.retry() }
    case 5:
      let item = draw(Self.count)
      call { try await $0.navigate(to: .item(item)) }
    case 6 where draw(4) == 0: model.cancel()
    case 7: tasks.randomElement(using: &random)?.cancel()
    case 8: for _ in 0..<draw(8) { await Task.yield() }
    default: edit()
    }
  }

  private mutating func call<Result>(
    _ load: @escaping @MainActor (ListModel<Row, Int>) async throws -> Result
  ) {
    if tasks.count > 8 { tasks.removeFirst(4) }
    tasks.append(Task { [model] in _ = try? await load(model) })
  }

  private mutating func edit() {
    let shown = model.items
    let id = shown.isEmpty ? 0 : shown[draw(shown.count)].id
    let place = draw(shown.count + 1)
    switch draw(6) {
    case 0:
      inserted += 1
      let row = Row(id: inserted * 10 + 1)
      note(model.insert(row, at: place), row.id, .insert)
    case 1: note(model.update(id) { $0.text += "." }, id, .update)
    case 2: note(model.remove(id), id, .remove)
    case 3: note(model.move(id, to: place), id, .move)
    default:
      guard !edits.isEmpty else { return }
      let edit = edits.remove(at: draw(edits.count))
      if draw(3) == 0 {
        model.confirm(edit.edit)
        agreed.insert(edit.id)
      } else {
        model.undo(edit.edit)
        if edit.kind == .insert { edits.removeAll { $0.id == edit.id } }
      }
    }
  }

  private mutating func note(_ edit: ListEdit?, _ id: Int, _ kind: Edit.Kind) {
    if let edit { edits.append(Edit(edit: edit, id: id, kind: kind)) }
  }

  /// What is wrong with what is shown now.
  private func flaw() -> String? {
    let snapshot = model.snapshot
    let shown = Array(snapshot.items)
    let ids = shown.map(\.id)
    if Set(ids).count != ids.count { return "shown twice: \(ids)" }
    let removed = Set(edits.filter { $0.kind == .remove }.map(\.id))
    let placed = Set(edits.filter { $0.kind == .insert || $0.kind == .move }.map(\.id))
    let others = removed.union(placed).union(agreed)
    let plain = ids.filter { !others.contains($0) }
    let listed = snapshot.list.items.map(\.id).filter { !others.contains($0) }
    if plain != listed { return "\(plain) instead of \(listed)" }
    if plain != plain.sorted() { return "out of order: \(plain)" }
    if ids.contains(where: { removed.contains($0) && !agreed.contains($0) }) {
      return "a removed item is shown: \(ids)"
    }
    for row in shown where !agreed.contains(row.id) {
      let updates = edits.count { $0.id == row.id && $0.kind == .update }
      if row.text.count != updates { return "\(row) has \(updates) updates" }
    }
    let list = snapshot.list
    let isState =
      switch list.state {
      case .idle: list.pages.isEmpty
      case .empty: list.items.isEmpty
      case .content, .loadingMore, .exhausted, .loadingMoreError: !list.pages.isEmpty
      case .loading: list.isRefreshing || list.pages.isEmpty
      case .loadingError: true
      }
    return isState ? nil : "\(list.state) with \(list.pages.count) pages"
  }
}
