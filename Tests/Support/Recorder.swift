import Synchronization

/// Collects values in the order in which they are added.
package final class Recorder<Value: Sendable>: Sendable {
  private let state = Mutex<[Value]>([])

  package init() {}

  package var values: [Value] { state.withLock { $0 } }
  package var count: Int { values.count }

  package func note(_ value: Value) { state.withLock { $0.append(value) } }
}
