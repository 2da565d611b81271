extension MergeMachine {
  /// Takes the items that are known to come next, and returns them as a page; nil if none of them
  /// is new. Ends the page where a source has to be read first.
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
      receipts += held.page.head.receipts
      if held.isLast {
        finish(source, &action)
      } else {
        enqueue(source)
        break
      }
    }
    return run.items.isEmpty ? passOver(run) : deliver(run)
  }

  /// The items and steps of a page that is being put together.
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
    let place = held.page.anchor(ofItem: held.taken) ?? held.page.position(ofItem: held.taken)
    held.taken += 1
    var step = MergePlaces.Step(
      source: source, place: place, after: held.page.position(afterItems: held.taken))
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

  /// Notes an item whose key belongs in front of the last one as late, or its source as unordered.
  private mutating func note(_ key: Key, of source: Int, isLate: Bool) {
    guard let frontier, rules.precedes(key, frontier) else {
      frontier = key
      return
    }
    if isLate { summary.late += 1 } else { summary.unordered.insert(source) }
  }

  /// Moves the merge behind duplicates, of which no item is delivered.
  private mutating func passOver(_ run: Run) -> Page<Item>? {
    _ = positions.move(behind: run.steps)
    if !run.steps.isEmpty { hasMoved = true }
    traffic.duplicates += run.duplicates
    return nil
  }

  private mutating func deliver(_ run: Run) -> Page<Item> {
    for digest in positions.move(behind: run.steps) { known.remove(digest) }
    traffic.duplicates += run.duplicates

    var page = deliver(run.items, next: isDone ? nil : positions.position)
    let places = MergePlaces(base: run.base, steps: run.steps, starts: run.starts)
    page.head.origins = [
      ItemOrigins(
        page: run.base.position, offsets: Array(run.items.indices),
        places: ItemPlaces(places.position(ofItem:), anchor: places.anchor(ofItem:)))
    ]
    return page
  }

  /// Returns a page of these items, with the traffic, the receipts and the adjustments since the
  /// page before.
  mutating func deliver(_ items: [Item], next: Position?) -> Page<Item> {
    var page = Page<Item>(items, next: next)
    page.traffic = traffic
    page.head.receipts = receipts
    page.head.adjustments = adjustments
    (receipts, adjustments, traffic) = ([], [], .zero)
    (hasMoved, hasDelivered) = (false, true)
    return page
  }

  /// Whether every source has ended, and none has failed.
  private var isDone: Bool {
    isOver && !sources.contains { if case .failed = $0.phase { true } else { false } }
  }
}

/// The sources whose next items are here: a heap by key and number or, without keys, a queue.
struct MergeQueue<Key: Comparable & Sendable>: Sendable {
  private let precedes: @Sendable (Key, Key) -> Bool
  private var sources: [Int] = []
  /// The keys of `sources`, empty without keys. An array of its own because, for types of other
  /// modules, each access to a pair looks up its type at run time.
  private var keys: [Key] = []

  init(precedes: @escaping @Sendable (Key, Key) -> Bool) { self.precedes = precedes }

  var isEmpty: Bool { sources.isEmpty }

  /// The source whose item comes next.
  var first: Int? { sources.first }

  mutating func insert(_ source: Int, key: Key?) {
    sources.append(source)
    guard let key else { return }
    keys.append(key)
    rise(key, source, from: sources.count - 1)
  }

  /// Replaces the key of the first source, which has another item at its front now.
  mutating func replaceFirst(key: Key?) {
    guard let key, let source = sources.first else { return }
    // Most often the same source stays the first.
    let (left, right) = (isBefore(1, key, source), isBefore(2, key, source))
    guard left || right else {
      keys[0] = key
      return
    }
    settle(key, source)
  }

  mutating func removeFirst() {
    guard let key = keys.popLast() else {
      sources.removeFirst()
      return
    }
    let source = sources.removeLast()
    if !sources.isEmpty { settle(key, source) }
  }

  /// Puts an entry into the first place: down to a leaf along the entries that come first, and up
  /// from there, because most entries belong near the leaves.
  private mutating func settle(_ key: Key, _ source: Int) {
    var place = 0
    while 2 * place + 1 < sources.count {
      var child = 2 * place + 1
      if isBefore(child + 1, keys[child], sources[child]) { child += 1 }
      move(child, to: place)
      place = child
    }
    rise(key, source, from: place)
  }

  private mutating func rise(_ key: Key, _ source: Int, from leaf: Int) {
    var place = leaf
    while place > 0, !isBefore((place - 1) / 2, key, source) {
      move((place - 1) / 2, to: place)
      place = (place - 1) / 2
    }
    keys[place] = key
    sources[place] = source
  }

  private mutating func move(_ place: Int, to other: Int) {
    keys[other] = keys[place]
    sources[other] = sources[place]
  }

  /// Whether the entry at a place, if there is one, comes before the given entry.
  private func isBefore(_ place: Int, _ key: Key, _ source: Int) -> Bool {
    guard place < sources.count else { return false }
    // Of equal keys, the one of the earlier source comes first.
    return sources[place] < source ? !precedes(key, keys[place]) : precedes(keys[place], key)
  }
}
