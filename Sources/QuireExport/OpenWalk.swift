package import QuireCore
package import QuirePagination
import Synchronization

/// A walk that a source of several listings leaves open between its pages, and the position of the next one.
package final class OpenWalk: Sendable {
  private struct State: Sendable {
    var walk: Walk<RawItem>
    var next: Position?
  }

  private let state = Mutex<State?>(nil)

  package init() {}

  /// The next page of the walk that is open, where that leads to the position, else of the cursor.
  package func page(
    at position: Position?, of cursor: () throws -> Cursor<RawItem>
  ) async throws -> Page<RawItem>? {
    let known = state.withLock { $0 }
    let walk: Walk<RawItem>
    if let known, let position, known.next == position {
      walk = known.walk
    } else {
      walk = try cursor().walk()
      state.withLock { $0 = State(walk: walk, next: position) }
    }
    var iterator = walk.makeAsyncIterator()
    return try await iterator.next(isolation: nil)
  }

  /// The page at hand leads to this position.
  package func proceed(to next: Position?) { state.withLock { $0?.next = next } }

  /// Closes the walk.
  package func close() async {
    await state.withLock { state in
      defer { state = nil }
      return state
    }?.walk.close()
  }
}
