extension MergeMachine {
  /// Takes the items that can be told to come next, from one page of a source at most, as a page; nil
  /// when there are none.
  mutating func takePage(_ action: inout Action) -> Page<Item>? {
    var run = Run(base: positions)
    while let source = ready.first, run.items.count < rules.options.pageSize,
      case .holding(var held) = sources[source].phase
    {
      take(from: source, &held, &run)
      guard held.taken == held.page.items.count else {
        sources[source].phase = .holding(held)
        ready.replaceFirst(key: rules.key?(held.page.items[held.taken]))
        continue
      }
      ready.removeFirst()
      if held.isLast {
        finish(source, &action)
      } else {
        wait(source)
        break
      }
    }
    return run.items.isEmpty ? passOver(run) : deliver(run)
  }

  /// Items on their way to become a page.
  fileprivate struct Run {
    var base: MergePositions
    var items: [Item] = []
    var steps: [MergePlaces.Step] = []
    var starts: [Int] = []
    var duplicates = 0

    init(base: MergePositions) { self.base = base }
  }

  private mutating func take(from source: Int, _ held: inout Held, _ run: inout Run) {
    let item = held.page.items[held.taken]
    held.taken += 1
    var step = MergePlaces.Step(
      source: source, after: held.page.position(afterItems: held.taken))
    if held.isLast, held.taken == held.page.items.count { step.after = nil }
    let digest = rules.duplicates.map { MergeDigest($0(item)).value }
    if let digest, !known.insert(digest).inserted {
      run.duplicates += 1
      run.steps.append(step)
      return
    }
    step.digest = digest
    run.starts.append(run.steps.count)
    run.steps.append(step)
    run.items.append(item)
    if let key = rules.key?(item) { note(key, of: source, isLate: held.isLate) }
  }

  /// Notes whether an item comes out of order.
  private mutating func note(_ key: Key, of source: Int, isLate: Bool) {
    guard let frontier, rules.precedes(key, frontier) else {
      frontier = key
      return
    }
    if isLate { summary.late += 1 } else { summary.unordered.insert(source) }
  }

  /// Moves on behind items of which none is delivered.
  private mutating func passOver(_ run: Run) -> Page<Item>? {
    for step in run.steps { positions.move(step.source, to: step.after) }
    traffic.duplicates += run.duplicates
    return nil
  }

  private mutating func deliver(_ run: Run) -> Page<Item> {
    var latest: [Int: Position?] = [:]
    for step in run.steps { latest[step.source] = .some(step.after) }
    for (source, place) in latest { positions.move(source, to: place) }
    for digest in positions.recent.append(run.steps.compactMap(\.digest)) { known.remove(digest) }
    traffic.duplicates += run.duplicates

    var page = Page<Item>(run.items, next: isDone ? nil : positions.position)
    page.traffic = traffic
    page.origins = [
      ItemOrigins(
        page: run.base.position, offsets: Array(run.items.indices),
        places: MergePlaces(base: run.base, steps: run.steps, starts: run.starts))
    ]
    traffic = WalkReport.Traffic(requests: 0)
    return page
  }

  /// Whether every source has come to its end.
  private var isDone: Bool {
    isOver && !sources.contains { if case .failed = $0.phase { true } else { false } }
  }
}

/// The sources whose next items are here: a heap by key and number, or, without keys, a queue.
struct MergeQueue<Key: Comparable & Sendable>: Sendable {
  private struct Entry: Sendable {
    var key: Key?
    var source: Int
  }

  private let precedes: @Sendable (Key, Key) -> Bool
  private var entries: [Entry] = []

  init(precedes: @escaping @Sendable (Key, Key) -> Bool) { self.precedes = precedes }

  var isEmpty: Bool { entries.isEmpty }

  /// The source whose item comes next.
  var first: Int? { entries.first?.source }

  mutating func insert(_ source: Int, key: Key?) {
    entries.append(Entry(key: key, source: source))
    guard key != nil else { return }
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard isBefore(child, parent) else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  /// The first source has another item at its front now.
  mutating func replaceFirst(key: Key?) {
    guard key != nil else { return }
    entries[0].key = key
    sink()
  }

  mutating func removeFirst() {
    guard let last = entries.last, last.key != nil else {
      entries.removeFirst()
      return
    }
    entries[0] = last
    entries.removeLast()
    sink()
  }

  private mutating func sink() {
    var parent = 0
    while 2 * parent + 1 < entries.count {
      var child = 2 * parent + 1
      if child + 1 < entries.count, isBefore(child + 1, child) { child += 1 }
      guard isBefore(child, parent) else { return }
      entries.swapAt(child, parent)
      parent = child
    }
  }

  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    let (left, right) = (entries[left], entries[right])
    guard let one = left.key, let other = right.key else { return left.source < right.source }
    if precedes(one, other) { return true }
    return left.source < right.source && !precedes(other, one)
  }
}
