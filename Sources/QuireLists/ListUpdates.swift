import QuireCore
import Synchronization

/// What happens to a list from the start of the loop on: nothing is missed and nothing comes twice.
///
/// Each observer has a queue of its own, so that a slow one delays no other; without observers nothing
/// is kept. Observing keeps nothing alive: the sequence ends with the list, and when the observing task
/// is cancelled.
public struct ListUpdates<Element: Sendable>: AsyncSequence, Sendable {
  /// Nothing is thrown.
  public typealias Failure = Never

  let subscribe: @Sendable () -> EventQueue<Element>

  /// Of no list.
  static var none: ListUpdates { ListUpdates { .finished() } }

  /// Observes from now on.
  public func makeAsyncIterator() -> Iterator { Iterator(queue: subscribe()) }

  /// One observer.
  public struct Iterator: AsyncIteratorProtocol {
    let queue: EventQueue<Element>

    /// The next update; nil when no more can come.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await queue.next()
    }

    /// The next update; nil when no more can come.
    public mutating func next() async -> Element? { await queue.next() }
  }
}

@available(*, unavailable)
extension ListUpdates.Iterator: Sendable {}

/// The queue of one observer.
package final class EventQueue<Element: Sendable>: Sendable {
  private struct State {
    /// What was posted, in order, and what is taken next, in reverse: taking costs O(1) on average.
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

  /// Puts an element into the queue. Returns what wakes the observer, to be called outside of
  /// any lock.
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

  /// Nothing comes any more.
  func finish() {
    let woken = state.withLock { state in
      state.isOver = true
      return state.wake()
    }
    for suspension in woken { suspension.resume(returning: ()) }
  }

  /// A queue of nothing, for observers that come too late.
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

/// An observer as its list knows it: without keeping it.
package struct Observer<Event: Sendable>: Sendable {
  private let queue: @Sendable () -> (any Sendable)?
  /// Puts an event into the observer's queue; see `EventQueue.post(_:)`.
  package let post: @Sendable (Event) -> (@Sendable () -> Void)?
  /// Nothing comes any more.
  package let finish: @Sendable () -> Void

  /// Whether the queue is still held.
  package var isObserving: Bool { queue() != nil }

  /// An observer of those events of which `observation` makes something.
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
