import Synchronization

/// What happens from the moment somebody listens: nothing is missed and nothing comes twice.
///
/// Each listener has a queue of its own, so a slow one holds nobody up; where nobody listens nothing
/// is kept. Listening keeps nothing alive: the sequence ends with what it observes, and when the
/// listening task is cancelled.
public struct Observations<Element: Sendable>: AsyncSequence, Sendable {
  /// Nothing is thrown.
  public typealias Failure = Never

  let subscribe: @Sendable () -> Mailbox<Element>

  /// Listens from now on.
  public func makeAsyncIterator() -> Iterator { Iterator(mailbox: subscribe()) }

  /// One listener.
  public struct Iterator: AsyncIteratorProtocol {
    let mailbox: Mailbox<Element>

    /// The next observation; nil when no more can come.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await mailbox.next()
    }

    /// The next observation; nil when no more can come.
    public mutating func next() async -> Element? { await mailbox.next() }
  }
}

@available(*, unavailable)
extension Observations.Iterator: Sendable {}

/// The queue of one listener.
final class Mailbox<Element: Sendable>: Sendable {
  private struct State {
    /// What was posted, in order, and what is taken next, in reverse: taking costs O(1) on average.
    var incoming: [Element] = []
    var outgoing: [Element] = []
    var waiting: [Suspension<Element?>] = []
    var isOver = false

    mutating func take() -> Element? {
      if outgoing.isEmpty {
        outgoing = incoming.reversed()
        incoming = []
      }
      return outgoing.popLast()
    }
  }

  private let state: Mutex<State>

  init(_ elements: [Element] = []) { state = Mutex(State(incoming: elements)) }

  /// Puts an element into the queue. Returns what is to be done about it when no lock is held.
  func post(_ element: Element) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.incoming.append(element)
        return nil
      }
      let suspension = state.waiting.removeFirst()
      return { [self] in
        // A listener that was cancelled meanwhile has not had it.
        if !suspension.resume(returning: element) { putBack(element) }
      }
    }
  }

  private func putBack(_ element: Element) {
    state.withLock { $0.outgoing.append(element) }
  }

  /// Says that nothing comes any more.
  func finish() {
    let waiting = state.withLock { state in
      state.isOver = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for suspension in waiting { suspension.resume(returning: nil) }
  }

  func next() async -> Element? {
    guard !Task.isCancelled else { return nil }
    let suspension = Suspension<Element?>()
    let (element, waits) = state.withLock { state -> (Element?, Bool) in
      if let element = state.take() { return (element, false) }
      if state.isOver { return (nil, false) }
      state.waiting.append(suspension)
      return (nil, true)
    }
    guard waits else { return element }
    defer { state.withLock { $0.waiting.removeAll { $0 === suspension } } }
    return (try? await suspension.value()) ?? nil
  }
}
