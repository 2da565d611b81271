import Synchronization

/// How soon the page that a task reads is needed. It may become more urgent while it is read: a consumer
/// comes to wait for what was read ahead.
package final class ReadUrgency: Sendable {
  /// The most urgent first.
  package enum Level: Int, CaseIterable, Comparable, Sendable {
    /// A consumer waits.
    case waited
    /// Read ahead, and needed next.
    case ahead
    /// Read on a guess.
    case guess

    package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// That of the current task's read; nil where a consumer waits.
  @TaskLocal package static var current: ReadUrgency?

  private struct State {
    var level: Level
    var readsOn = false
    var onReadOn: [@Sendable () -> Void] = []
    var observers: [Int: @Sendable (Level) -> Void] = [:]
    var count = 0
  }

  private let state: Mutex<State>

  /// The page behind may be read at once where this one has no more bytes; nil where it may not.
  package let mostBytesToReadOn: Int?
  /// Whether that may be while this one still arrives, if its head says where the next one is.
  package let overlapsTransfers: Bool

  package init(
    _ level: Level, mostBytesToReadOn: Int? = nil, overlapsTransfers: Bool = false
  ) {
    state = Mutex(State(level: level))
    self.mostBytesToReadOn = mostBytesToReadOn
    self.overlapsTransfers = overlapsTransfers
  }

  package var level: Level { state.withLock { $0.level } }

  /// The page behind the one that is read is read at once when that has come.
  func readsOn() {
    let actions = state.withLock { state in
      defer { (state.readsOn, state.onReadOn) = (true, []) }
      return state.onReadOn
    }
    for action in actions { action() }
  }

  /// Calls `action` when that is so: now, or on the task that finds out, or never.
  package func whenReadingOn(_ action: @escaping @Sendable () -> Void) {
    let isKnown = state.withLock { state in
      if !state.readsOn { state.onReadOn.append(action) }
      return state.readsOn
    }
    if isKnown { action() }
  }

  /// Makes it as urgent as `level`, if it is not.
  package func raise(to level: Level) {
    let observers = state.withLock { state -> [@Sendable (Level) -> Void] in
      guard level < state.level else { return [] }
      state.level = level
      return Array(state.observers.values)
    }
    for observer in observers { observer(level) }
  }

  /// Makes it as urgent as what waits for it, now and later. Returns what ends that.
  package func follow(_ other: ReadUrgency?) -> Int? {
    guard let other else {
      raise(to: .waited)
      return nil
    }
    let number = other.observe { [weak self] in self?.raise(to: $0) }
    raise(to: other.level)
    return number
  }

  /// Tells `observer` of each raise from now on, on the task that raises.
  package func observe(_ observer: @escaping @Sendable (Level) -> Void) -> Int {
    state.withLock { state in
      state.count += 1
      state.observers[state.count] = observer
      return state.count
    }
  }

  package func ignore(_ number: Int?) {
    guard let number else { return }
    state.withLock { state in
      state.observers[number] = nil
    }
  }
}
