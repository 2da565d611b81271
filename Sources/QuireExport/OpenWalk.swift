package import QuireCore
package import QuirePagination
import Synchronization

/// A walk that a source of several listings leaves open between its pages, and where it goes on.
///
/// The walk itself says that by each page, so it is never taken for one that goes on elsewhere. The source of one
/// walk has one of its own.
package final class OpenWalk<Listing: Equatable & Sendable>: Sendable {
  private struct Place: Equatable, Sendable {
    var listing: Listing
    /// Nil is where the listing's cursor starts.
    var position: Position?
  }

  private struct State: Sendable {
    let walk: Walk<RawItem>
    /// Nil while the walk reads, and where nothing follows what it has read.
    var place: Place?
  }

  private let state = Mutex<State?>(nil)

  package init() {}

  /// The page of a listing at a position: of the walk that is open, where it goes on there, else of a new one. Where
  /// the listing ends instead, an absent one, with what that took; nil where a limit of the caller's ends it.
  package func page(
    of listing: Listing, at position: Position?, by cursor: () throws -> Cursor<RawItem>
  ) async throws -> Page<RawItem>? {
    let place = Place(listing: listing, position: position)
    let walk: Walk<RawItem>
    if let open = take(at: place) {
      walk = open
    } else {
      walk = try cursor().walk()
      state.withLock { $0 = State(walk: walk) }
    }
    do {
      // An iterator of its own would end the walk for its consumer with this page.
      guard let page = try await walk.next() else {
        let report = walk.report
        if case .limit = report.end { return nil }
        return .absent(after: report.endTraffic)
      }
      if page.nextFailure == nil, let next = page.next {
        keep(walk, at: Place(listing: listing, position: next))
      }
      return page
    } catch {
      // After an error a walk is where it was.
      keep(walk, at: place)
      throw error
    }
  }

  private func take(at place: Place) -> Walk<RawItem>? {
    state.withLock { state in
      guard let open = state, open.place == place else { return nil }
      state?.place = nil
      return open.walk
    }
  }

  /// Notes where a walk goes on, unless it was closed or another one is open by now.
  private func keep(_ walk: Walk<RawItem>, at place: Place) {
    state.withLock { state in
      if state?.walk === walk { state?.place = place }
    }
  }

  /// Closes the walk.
  package func close() async {
    await state.withLock { state in
      defer { state = nil }
      return state
    }?.walk.close()
  }
}
