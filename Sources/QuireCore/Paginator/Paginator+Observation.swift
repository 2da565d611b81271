extension Paginator {
  /// The state now, and then every state it changes to, in order.
  ///
  /// Two states that follow one another differ. Every loop over this listens for itself, and ends
  /// with the paginator.
  public nonisolated var states: Observations<PaginatorState> {
    Observations { [weak runner] in
      runner?.listen({ $0.state }) { event in
        if case .changed(_, let state) = event { state } else { nil }
      } ?? .finished()
    }
  }

  /// Everything that happens from now on, in order: changes of the state, and the pages that cause
  /// them.
  public nonisolated var events: Observations<PaginatorEvent<Item>> {
    Observations { [weak runner] in runner?.listen({ _ in nil }) { $0 } ?? .finished() }
  }

  /// What there is and what is being done, all from the same moment. O(1).
  public nonisolated var snapshot: PaginatorSnapshot<Item> {
    runner.withMachine { $0.snapshot }
  }
}
