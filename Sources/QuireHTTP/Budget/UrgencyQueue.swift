import QuireCore

/// A queue of waiting requests: the most urgent go first, and walks take turns among requests of
/// one urgency.
///
/// Adding, raising, withdrawing and taking requests take constant time.
struct UrgencyQueue {
  /// The waiting requests by their numbers.
  private var requests: [Int: BudgetMachine.Request] = [:]
  private var lines = [Line](repeating: Line(), count: ReadUrgency.Level.allCases.count)
  private var counts = [Int](repeating: 0, count: ReadUrgency.Level.allCases.count)
  /// The number of requests taken in succession while less urgent ones waited.
  private var consecutiveUrgent = 0

  /// The number of more urgent requests after which a less urgent one is taken.
  static let patience = 8

  var isEmpty: Bool { requests.isEmpty }

  /// The urgency of the next request; nil if the queue is empty.
  var first: ReadUrgency.Level? { next.map { ReadUrgency.Level.allCases[$0] } }

  private var next: Int? {
    guard let best = counts.firstIndex(where: { $0 > 0 }) else { return nil }
    guard consecutiveUrgent >= Self.patience else { return best }
    return counts.lastIndex { $0 > 0 }
  }

  mutating func add(_ id: Int, _ request: BudgetMachine.Request) {
    requests[id] = request
    counts[request.urgency.rawValue] += 1
    lines[request.urgency.rawValue].add(id, walk: request.walk)
  }

  /// Raises the urgency of a request.
  mutating func raise(_ id: Int, to urgency: ReadUrgency.Level) {
    guard var request = requests.removeValue(forKey: id) else { return }
    counts[request.urgency.rawValue] -= 1
    request.urgency = min(request.urgency, urgency)
    add(id, request)
  }

  /// Removes a request, and returns it if it was in the queue.
  @discardableResult
  mutating func withdraw(_ id: Int) -> BudgetMachine.Request? {
    guard let request = requests.removeValue(forKey: id) else { return nil }
    counts[request.urgency.rawValue] -= 1
    if requests.isEmpty { self = UrgencyQueue() }
    return request
  }

  /// Removes and returns the next request.
  mutating func take() -> (id: Int, request: BudgetMachine.Request)? {
    guard let level = next else { return nil }
    let isPassing = counts[(level + 1)...].contains { $0 > 0 }
    while let id = lines[level].take() {
      guard let request = requests[id], request.urgency.rawValue == level else { continue }
      consecutiveUrgent = isPassing ? consecutiveUrgent + 1 : 0
      withdraw(id)
      return (id, request)
    }
    preconditionFailure("UrgencyQueue: a request is counted that no line has")
  }

  /// Removes the requests that do not wait as long as `wait`, and returns their numbers.
  mutating func takeImpatient(than wait: Duration) -> [Int] {
    let impatient = requests.filter { $0.value.longest < wait }.map(\.key).sorted()
    for id in impatient { withdraw(id) }
    return impatient
  }

  /// The requests of one urgency. The walks take turns.
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

/// A first-in, first-out queue.
package struct Queue<Element> {
  private var elements: [Element] = []
  /// The index of the first element; moving the others on each removal would be slow.
  private var front = 0

  package init() {}

  package var isEmpty: Bool { front == elements.count }

  /// The elements in the queue, in order.
  package var rest: ArraySlice<Element> { elements[front...] }

  package mutating func add(_ element: Element) { elements.append(element) }

  package mutating func take() -> Element? {
    guard front < elements.count else { return nil }
    defer {
      front += 1
      if front == elements.count || front > 64 && front * 2 > elements.count {
        elements.removeFirst(front)
        front = 0
      }
    }
    return elements[front]
  }
}

extension Queue: Sendable where Element: Sendable {}
