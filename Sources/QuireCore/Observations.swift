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

  /// Of something that never happens.
  package static var none: Observations { Observations { .finished() } }

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

  init(_ elements: [Element] = []) { state = Mutex(State(incoming: elements)) }

  /// Puts an element into the queue. Returns what wakes the listener, when no lock is held.
  ///
  /// The element stays in the queue until somebody takes it, so a listener that is cancelled as it
  /// wakes loses nothing.
  func post(_ element: Element) -> (@Sendable () -> Void)? {
    let woken = state.withLock { state in
      state.incoming.append(element)
      return state.wake()
    }
    guard !woken.isEmpty else { return nil }
    return { for suspension in woken { suspension.resume(returning: ()) } }
  }

  /// Says that nothing comes any more.
  func finish() {
    let woken = state.withLock { state in
      state.isOver = true
      return state.wake()
    }
    for suspension in woken { suspension.resume(returning: ()) }
  }

  func next() async -> Element? {
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

/// Somebody who listens, as the one who is listened to knows them: without keeping them.
struct Listener<Event: Sendable>: Sendable {
  private let mailbox: @Sendable () -> (any Sendable)?
  /// Puts an event into the listener's queue; see `Mailbox.post(_:)`.
  let post: @Sendable (Event) -> (@Sendable () -> Void)?
  /// Says that nothing comes any more.
  let finish: @Sendable () -> Void

  /// Whether anybody still holds the queue.
  var isListening: Bool { mailbox() != nil }

  /// A listener to those events of which `observation` makes something.
  init<Element>(
    _ mailbox: Mailbox<Element>, observation: @escaping @Sendable (Event) -> Element?
  ) {
    self.mailbox = { [weak mailbox] in mailbox }
    post = { [weak mailbox] event in
      guard let mailbox, let element = observation(event) else { return nil }
      return mailbox.post(element)
    }
    finish = { [weak mailbox] in mailbox?.finish() }
  }
}
