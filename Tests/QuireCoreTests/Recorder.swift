import Synchronization

/// What happened, in order, noted by whoever.
final class Recorder<Value: Sendable>: Sendable {
  private let state = Mutex<[Value]>([])

  var values: [Value] { state.withLock { $0 } }
  var count: Int { values.count }

  func note(_ value: Value) { state.withLock { $0.append(value) } }
}
