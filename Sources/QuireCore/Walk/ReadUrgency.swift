import Synchronization

/// How soon the page that a task reads is needed. It may become more urgent during the read, when a
/// consumer begins to wait for a page that is read ahead.
package final class ReadUrgency: Sendable {
  /// How soon a page is needed, the most urgent first.
  package enum Level: Int, CaseIterable, Comparable, Sendable {
    /// A consumer waits for the page.
    case waited
    /// The page is read ahead, and needed next.
    case ahead
    /// The page is read because it may be needed.
    case guess

    package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// The urgency of the current task's read; nil if a consumer waits.
  @TaskLocal package static var current: ReadUrgency?

  private struct State {
    var level: Level
    var readsOn = false
    var onReadOn: [@Sendable () -> Void] = []
    var observers: [Int: @Sendable (Level) -> Void] = [:]
    var count = 0
  }

  private let state: Mutex<State>

  /// The most bytes that this page may have for the next page to be read at once; nil if it may not
  /// be.
  package let mostBytesToReadOn: Int?
  /// Whether the next page may be requested while this one still arrives, if the head of this one
  /// says where the next one is.
  package let overlapsTransfers: Bool

  package init(
    _ level: Level, mostBytesToReadOn: Int? = nil, overlapsTransfers: Bool = false
  ) {
    state = Mutex(State(level: level))
    self.mostBytesToReadOn = mostBytesToReadOn
    self.overlapsTransfers = overlapsTransfers
  }

  package var level: Level { state.withLock { $0.level } }

  /// Notes that the next page will be read as soon as this one has come.
  func noteReadingOn() {
    let actions = state.withLock { state in
      defer { (state.readsOn, state.onReadOn) = (true, []) }
      return state.onReadOn
    }
    for action in actions { action() }
  }

  /// Calls `action` as soon as `noteReadingOn()` is called: at once if it was, else on the task
  /// that calls it.
  package func whenReadingOn(_ action: @escaping @Sendable () -> Void) {
    let isKnown = state.withLock { state in
      if !state.readsOn { state.onReadOn.append(action) }
      return state.readsOn
    }
    if isKnown { action() }
  }

  /// Raises the urgency to `level`, if it is lower.
  package func raise(to level: Level) {
    let observers = state.withLock { state -> [@Sendable (Level) -> Void] in
      guard level < state.level else { return [] }
      state.level = level
      return Array(state.observers.values)
    }
    for observer in observers { observer(level) }
  }

  /// Waits for a task that reads with this urgency, and makes it as urgent as the read of the current
  /// task. Cancelling the current task cancels the read, and calls `onCancel`.
  package func result<Success: Sendable, Failure: Error>(
    of task: Task<Success, Failure>, onCancel: @Sendable () -> Void = {}
  ) async -> Result<Success, Failure> {
    let reader = Self.current
    let following = follow(reader)
    defer { reader?.ignore(following) }
    return await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
      onCancel()
    }
  }

  /// Makes this read as urgent as the one that waits for it, now and later; nil is a waiting
  /// consumer. Returns the number to pass to `ignore(_:)` of `other`.
  private func follow(_ other: ReadUrgency?) -> Int? {
    guard let other else {
      raise(to: .waited)
      return nil
    }
    let number = other.observe { [weak self] in self?.raise(to: $0) }
    raise(to: other.level)
    return number
  }

  /// Calls `observer` at each raise from now on, on the task that raises. Returns a number for
  /// `ignore(_:)`.
  package func observe(_ observer: @escaping @Sendable (Level) -> Void) -> Int {
    state.withLock { state in
      state.count += 1
      state.observers[state.count] = observer
      return state.count
    }
  }

  /// Removes the observer with this number.
  package func ignore(_ number: Int?) {
    guard let number else { return }
    state.withLock { state in
      state.observers[number] = nil
    }
  }
}
