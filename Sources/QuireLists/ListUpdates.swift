import QuireCore
import Synchronization

/// The updates of a list from the start of the loop on, without gaps or repetitions.
///
/// Each observer has its own queue, so a slow observer delays no other; without observers nothing
/// is stored. Observing does not keep the list alive: the sequence ends with the list, or when the
/// observing task is cancelled.
public struct ListUpdates<Element: Sendable>: AsyncSequence, Sendable {
  /// Never throws.
  public typealias Failure = Never

  let subscribe: @Sendable () -> EventQueue<Element>

  /// Updates that end at once, for a list that does not exist.
  static var none: ListUpdates { ListUpdates { .finished() } }

  /// Starts observing.
  public func makeAsyncIterator() -> Iterator { Iterator(queue: subscribe()) }

  /// An iterator with its own queue.
  public struct Iterator: AsyncIteratorProtocol {
    let queue: EventQueue<Element>

    /// Returns the next update; nil once the list is gone or the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await queue.next()
    }

    /// Returns the next update; nil once the list is gone or the task is cancelled.
    public mutating func next() async -> Element? { await queue.next() }
  }
}

@available(*, unavailable)
extension ListUpdates.Iterator: Sendable {}

/// The queue of one observer.
package final class EventQueue<Element: Sendable>: Sendable {
  private struct State {
    /// The posted elements in order, and the next elements to take in reverse order. Taking costs
    /// O(1) on average.
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

  /// Ends the queue after the elements in it.
  func finish() {
    let woken = state.withLock { state in
      state.isOver = true
      return state.wake()
    }
    for suspension in woken { suspension.resume(returning: ()) }
  }

  /// Returns a finished queue, for observers of a list that is gone.
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
  /// Ends the observer's queue.
  package let finish: @Sendable () -> Void

  /// Whether a loop still holds the queue.
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
