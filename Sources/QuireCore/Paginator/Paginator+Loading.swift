// Loads by hand. Each call waits until its load has ended; calls for the same load join it.

extension Paginator {
  /// Loads the next page, or waits for the one that is being loaded.
  ///
  /// Returns whether there is one; throws the error of the load. Unless all pages are kept, nothing
  /// is loaded while as much as allowed is loaded and not begun.
  @discardableResult
  public func loadMore() async throws -> Bool {
    try await runner.call { $0.loadMore(ticket: $1) }.hasLoaded
  }

  /// Loads the page before the first one, where the server says where that is. Needs the retention
  /// `.all`.
  ///
  /// Returns whether there is one; throws the error of the load, which loads after the last page
  /// know nothing of. Observers are told by how many items all others move.
  @discardableResult
  public func loadBefore() async throws -> Bool {
    try await runner.call { $0.loadBefore(ticket: $1) }.hasLoaded
  }

  /// Tries again what failed last, or a listing that was empty. Returns false when nothing did;
  /// throws when it fails again.
  @discardableResult
  public func retry() async throws -> Bool {
    try await runner.call { $0.retry(ticket: $1) }.hasLoaded
  }

  /// Starts over. What is loaded stays until the new first page is there, and then makes room for
  /// it in one step; what a load cancelled by this brings is never seen. `ListOptions.onReload` has
  /// other ways. A reload that is on its way is joined: two calls at the same time are one request.
  ///
  /// Returns whether there is a page. Throws the error of the load, which is the state then; all
  /// else stays as it was: what is loaded, its totals, and the way on.
  @discardableResult
  public func reload() async throws -> Bool {
    try await runner.call { $0.reload(ticket: $1) }.hasLoaded
  }

  /// Turns to another page of what is held, and loads what is missing on the way there. Needs the
  /// retention `.all`.
  ///
  /// Commands are queued: three times `.next` while a page is being loaded are three pages, in
  /// order. Returns nil, and stays where it is, when there is no such page.
  @discardableResult
  public func turn(to command: PageCommand) async throws -> Page<Item>? {
    guard case .page(let page) = try await runner.call({ $0.turn(command, ticket: $1) }) else {
      return nil
    }
    return page
  }

  /// Loads the next page, or the first, if nothing is being loaded; waits for nothing.
  nonisolated func requestMore() { runner.perform { $0.requested() } }

  /// Cancels what is being loaded. Whoever waits for it gets `CancellationError`, and the paginator
  /// is where it was before the load.
  public func cancel() { runner.perform { $0.cancelled() } }
}

extension PaginatorMachine.Outcome {
  fileprivate var hasLoaded: Bool {
    if case .loaded(let brought) = self { brought } else { false }
  }
}
