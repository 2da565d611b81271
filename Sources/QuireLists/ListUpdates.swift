import QuireCore
import Synchronization

/// The updates of a list from the start of the loop on, without gaps or repetitions.
///
/// Each observer has its own queue, so a slow one delays no other; without observers nothing is
/// stored. Observing keeps no list alive: the sequence ends with the list, or when the observing
/// task is cancelled.
public struct ListUpdates<Element: Sendable>: AsyncSequence, Sendable {
  /// Never throws.
  public typealias Failure = Never

  let subscribe: @Sendable () -> EventQueue<Element>

  /// The updates of no list.
  static var none: ListUpdates { ListUpdates { .finished() } }

  /// Starts observing.
  public func makeAsyncIterator() -> Iterator { Iterator(queue: subscribe()) }

  /// An observer.
  public struct Iterator: AsyncIteratorProtocol {
    let queue: EventQueue<Element>

    /// The next update; nil once the list is gone or the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await queue.next()
    }

    /// The next update; nil once the list is gone or the task is cancelled.
    public mutating func next() async -> Element? { await queue.next() }
  }
}

@available(*, unavailable)
extension ListUpdates.Iterator: Sendable {}

/// The queue of one observer.
package final class EventQueue<Element: Sendable>: Sendable {
  private struct State {
    /// Posted elements in order, and the next ones to take in reverse: taking costs O(1) on
    /// average.
    var incoming: [Element] = []
    var outgoing: [Element] = []
    var waiting: [Suspension<Void>] = []
    var isOver = false

    mutating func take() -> Element? {
      if outgoing.isEmpty {
        outgoing = incoming.reversed()
        incoming = []
      }
      return outgoing.popLast()
    }

    mutating func wake() -> [Suspension<Void>] {
      defer { waiting = [] }
      return waiting
    }
  }

  private let state: Mutex<State>
  /// Whether only the last element is kept.
  private let isConflated: Bool

  package init(_ elements: [Element] = [], isConflated: Bool = false) {
    state = Mutex(State(incoming: elements))
    self.isConflated = isConflated
  }

  /// Adds an element. Returns a closure that wakes the observer, to be called outside of any lock.
  ///
  /// The element stays in the queue until it is taken, so that an observer that is cancelled as it
  /// wakes loses nothing.
  func post(_ element: Element) -> (@Sendable () -> Void)? {
    let woken = state.withLock { state in
      if isConflated { (state.incoming, state.outgoing) = ([], []) }
      state.incoming.append(element)
      return state.wake()
    }
    guard !woken.isEmpty else { return nil }
    return { for suspension in woken { suspension.resume(returning: ()) } }
  }

  /// No more elements follow.
  func finish() {
    let woken = state.withLock { state in
      state.isOver = true
      return state.wake()
    }
    for suspension in woken { suspension.resume(returning: ()) }
  }

  /// A finished queue, for observers that come too late.
  static func finished() -> EventQueue {
    let queue = EventQueue()
    queue.finish()
    return queue
  }

  package func next() async -> Element? {
    while !Task.isCancelled {
      let suspension = Suspension<Void>()
      let (element, waits) = state.withLock { state -> (Element?, Bool) in
        if let element = state.take() { return (element, false) }
        if !state.isOver { state.waiting.append(suspension) }
        return (nil, !state.isOver)
      }
      guard waits else { return element }
      do {
        try await suspension.value()
      } catch {
        state.withLock { $0.waiting.removeAll { $0 === suspension } }
      }
    }
    return nil
  }
}

/// A list's weak reference to an observer.
package struct Observer<Event: Sendable>: Sendable {
  private let queue: @Sendable () -> (any Sendable)?
  /// Adds an event to the observer's queue; see `EventQueue.post(_:)`.
  package let post: @Sendable (Event) -> (@Sendable () -> Void)?
  /// No more events follow.
  package let finish: @Sendable () -> Void

  /// Whether the queue is still held.
  package var isObserving: Bool { queue() != nil }

  /// Creates an observer of the events for which `observation` returns an element.
  package init<Element>(
    _ queue: EventQueue<Element>, observation: @escaping @Sendable (Event) -> Element?
  ) {
    self.queue = { [weak queue] in queue }
    post = { [weak queue] event in
      guard let queue, let element = observation(event) else { return nil }
      return queue.post(element)
    }
    finish = { [weak queue] in queue?.finish() }
  }
}
