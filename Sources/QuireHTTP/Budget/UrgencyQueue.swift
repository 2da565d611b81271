import QuireCore

/// Requests that wait, in the order in which they go out: those that a consumer waits for first, and of
/// one urgency those of all walks in turn.
///
/// Adding, raising, withdrawing and taking cost constant time.
struct UrgencyQueue {
  /// A request that waits.
  struct Entry {
    var walk: Int
    var urgency: ReadUrgency.Level
    /// The longest that it waits for the server.
    var longest: Duration
    /// How far apart the next request has to be.
    var interval: Duration
  }

  private var entries: [Int: Entry] = [:]
  private var lines = [Line](repeating: Line(), count: ReadUrgency.Level.allCases.count)
  private var counts = [Int](repeating: 0, count: ReadUrgency.Level.allCases.count)
  /// Requests taken since one of less urgency had to wait.
  private var passed = 0

  /// After so many that were more urgent comes one that is less.
  static let patience = 8

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  /// The urgency of the request that comes next.
  var first: ReadUrgency.Level? { next.map { ReadUrgency.Level.allCases[$0] } }

  private var next: Int? {
    guard let best = counts.firstIndex(where: { $0 > 0 }) else { return nil }
    guard passed >= Self.patience else { return best }
    return counts.lastIndex { $0 > 0 }
  }

  mutating func add(_ id: Int, _ entry: Entry) {
    entries[id] = entry
    counts[entry.urgency.rawValue] += 1
    lines[entry.urgency.rawValue].add(id, walk: entry.walk)
  }

  /// The request becomes more urgent.
  mutating func raise(_ id: Int, to urgency: ReadUrgency.Level) {
    guard var entry = entries.removeValue(forKey: id) else { return }
    counts[entry.urgency.rawValue] -= 1
    entry.urgency = min(entry.urgency, urgency)
    add(id, entry)
  }

  /// The request does not wait any more.
  @discardableResult
  mutating func withdraw(_ id: Int) -> Entry? {
    guard let entry = entries.removeValue(forKey: id) else { return nil }
    counts[entry.urgency.rawValue] -= 1
    if entries.isEmpty { self = UrgencyQueue() }
    return entry
  }

  /// Takes the request that comes next.
  mutating func take() -> (id: Int, entry: Entry)? {
    guard let level = next else { return nil }
    let isPassing = counts[(level + 1)...].contains { $0 > 0 }
    while let id = lines[level].take() {
      guard let entry = entries[id], entry.urgency.rawValue == level else { continue }
      passed = isPassing ? passed + 1 : 0
      withdraw(id)
      return (id, entry)
    }
    preconditionFailure("UrgencyQueue: a request is counted that no line has")
  }

  /// Takes out those that do not wait for so long.
  mutating func takeImpatient(than wait: Duration) -> [Int] {
    let impatient = entries.filter { $0.value.longest < wait }.map(\.key).sorted()
    for id in impatient { withdraw(id) }
    return impatient
  }

  /// The requests of one urgency: the walks take turns.
  private struct Line {
    private var turns = Queue<Int>()
    private var walks: [Int: Queue<Int>] = [:]

    mutating func add(_ id: Int, walk: Int) {
      if walks[walk] == nil { turns.add(walk) }
      walks[walk, default: Queue()].add(id)
    }

    mutating func take() -> Int? {
      guard let walk = turns.take() else { return nil }
      let id = walks[walk]?.take()
      if walks[walk]?.isEmpty == false { turns.add(walk) } else { walks[walk] = nil }
      return id
    }
  }
}

/// First in, first out.
package struct Queue<Element> {
  private var elements: [Element] = []
  /// Where the first is: taking from the front must not move the rest.
  private var front = 0

  package init() {}

  package var isEmpty: Bool { front == elements.count }

  /// What was not taken yet, in order.
  package var rest: ArraySlice<Element> { elements[front...] }

  package mutating func add(_ element: Element) { elements.append(element) }

  package mutating func take() -> Element? {
    guard front < elements.count else { return nil }
    defer {
      front += 1
      if front > 64, front * 2 > elements.count {
        elements.removeFirst(front)
        front = 0
      }
    }
    return elements[front]
  }
}

extension Queue: Sendable where Element: Sendable {}
