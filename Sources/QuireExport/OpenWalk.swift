package import QuireCore
package import QuirePagination
import Synchronization

/// The walk that a source of several listings keeps open between its pages, and the first pages of the
/// listings that it needs next.
///
/// The walk is only used again at the position where its last page said that it continues. A source
/// serves one outer walk, so it has one of these.
package final class OpenWalk<Listing: Equatable & Sendable>: Sendable {
  private struct Place: Equatable, Sendable {
    var listing: Listing
    /// The position in the listing; nil at its start.
    var position: Position?
  }

  /// A walk whose first page is read before it is asked for.
  private struct Early: Sendable {
    let listing: Listing
    let walk: Walk<RawItem>
    let urgency: ReadUrgency
    let page: Task<Page<RawItem>?, any Error>
  }

  private struct State: Sendable {
    /// The open walk; nil between listings.
    var walk: Walk<RawItem>?
    /// Where the walk continues: nil while it reads, and after its last page.
    var place: Place?
    /// In the order in which the listings are needed.
    var early: [Early] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// Returns the page of a listing at a position, from the open walk if it continues there, else
  /// from a new walk.
  ///
  /// Returns an absent page with the traffic if the listing ends there, and nil if a limit of the
  /// caller ends it.
  package func page(
    of listing: Listing, at position: Position?, by cursor: () throws -> Cursor<RawItem>
  ) async throws -> Page<RawItem>? {
    let place = Place(listing: listing, position: position)
    let early = position == nil ? takeEarly(listing) : nil
    let walk: Walk<RawItem>
    if let open = take(at: place) {
      walk = open
    } else {
      walk = try early?.walk ?? cursor().walk()
      state.withLock { ($0.walk, $0.place) = (walk, nil) }
    }
    do {
      // Calls `next()` directly: dropping an iterator would end the walk.
      let read =
        if let early {
          try await early.urgency.result(of: early.page).get()
        } else {
          try await walk.next()
        }
      guard let page = read else {
        let report = walk.report
        if case .limit = report.end { return nil }
        return .absent(after: report.endTraffic)
      }
      if page.nextFailure == nil, let next = page.next {
        keep(walk, at: Place(listing: listing, position: next))
      }
      return page
    } catch {
      // After an error a walk can read the same page again.
      keep(walk, at: place)
      throw error
    }
  }

  private func take(at place: Place) -> Walk<RawItem>? {
    state.withLock { state in
      guard state.place == place else { return nil }
      state.place = nil
      return state.walk
    }
  }

  /// Stores where a walk continues, unless it was closed or replaced in the meantime.
  private func keep(_ walk: Walk<RawItem>, at place: Place) {
    state.withLock { state in
      if state.walk === walk { state.place = place }
    }
  }

  /// Closes the open walk; the first pages of other listings stay.
  package func closeListing() async {
    await state.withLock { state in
      defer { (state.walk, state.place) = (nil, nil) }
      return state.walk
    }?.close()
  }

  /// Closes all walks.
  package func close() async {
    await closeListing()
    let early = state.withLock { state in
      defer { state.early = [] }
      return state.early
    }
    for early in early { early.page.cancel() }
    for early in early {
      _ = await early.page.result
      await early.walk.close()
    }
  }

  // MARK: Reading ahead

  /// The listings whose first pages are read ahead, in the order in which they are needed.
  package var listingsAhead: [Listing] { state.withLock { $0.early.map(\.listing) } }

  /// Reads the first page of a listing that is needed after those that are read ahead already.
  package func readAhead(of listing: Listing, by cursor: () throws -> Cursor<RawItem>) rethrows {
    let walk = try cursor().walk()
    let urgency = ReadUrgency(.ahead)
    let page = ReadUrgency.$current.withValue(urgency) { Task { try await walk.next() } }
    state.withLock {
      $0.early.append(Early(listing: listing, walk: walk, urgency: urgency, page: page))
    }
  }

  private func takeEarly(_ listing: Listing) -> Early? {
    state.withLock { state in
      state.early.firstIndex { $0.listing == listing }.map { state.early.remove(at: $0) }
    }
  }
}
