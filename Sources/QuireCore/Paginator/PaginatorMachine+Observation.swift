// What those who watch are told.

extension PaginatorMachine {
  /// What the paginator is doing, for everybody to see.
  var state: PaginatorState {
    switch activity {
    case .loading(let running):
      switch running.load {
      case .reload: .loading
      case .more: store.hasLoaded ? .loadingMore : .loading
      case .before: settled
      }
    case .cancelling:
      if isReloading {
        .loading
      } else if consumers.isEmpty, !callers.contains(where: \.wantsMore) {
        settled
      } else {
        store.hasLoaded ? .loadingMore : .loading
      }
    case .idle: settled
    }
  }

  /// Tells observers how the state has changed since they were told last.
  mutating func announce(_ effects: inout Effects) { tell(state, &effects) }

  /// Tells observers what a page has led to, before what comes after it.
  mutating func announceSettled(_ effects: inout Effects) { tell(settled, &effects) }

  private mutating func tell(_ state: PaginatorState, _ effects: inout Effects) {
    guard announced != state else { return }
    let (old, could, can) = (announced, announcedCanLoadMore, canLoadMore(in: state))
    (announced, announcedCanLoadMore) = (state, can)
    if could, !can { effects.events.append(.canLoadMore(false)) }
    effects.events.append(.changed(from: old, to: state))
    if !could, can { effects.events.append(.canLoadMore(true)) }
  }

  /// Whether the next page is loaded when it is due.
  private func canLoadMore(in state: PaginatorState) -> Bool {
    switch state {
    case .content, .loadingMore: return true
    case .loadingError:
      // Only a reload that failed leaves a way on.
      if case .open = tail { return true } else { return false }
    case .idle, .loading, .empty, .exhausted, .loadingMoreError: return false
    }
  }

  /// What there is and what is being done, as one value.
  var snapshot: PaginatorSnapshot<Item> {
    var snapshot = PaginatorSnapshot(
      state: state, pages: store.pages, loaded: store.loaded + store.prepended,
      prepended: store.prepended, currentPage: max(0, currentPage - store.firstPage),
      isRefreshing: isReloading, isInitial: isInitial, canLoadMore: canLoadMore(in: state),
      canLoadBefore: true, isLoadingBefore: false)
    switch head {
    case .open: snapshot.canLoadBefore = store.hasLoaded && limits.retention == .all
    case .failed(let error): snapshot.errorBefore = error
    case .exhausted: snapshot.canLoadBefore = false
    }
    if case .loading(let running) = activity { snapshot.isLoadingBefore = running.load == .before }
    return snapshot
  }

  /// Why no more pages come to the consumer, when the walk behind them ended like that.
  func end(ofWalk end: WalkReport.End) -> WalkReport.End {
    switch (activity, tail) {
    case (.idle, .exhausted) where store.isRead: return end
    case (.idle, .failed(_, let error as PageError, isShown: true)): return .failed(error)
    default: break
    }
    if isCancelled { return .cancelled }
    return hasIterators || store.pagesHandedOut == 0 ? .running : .stoppedByConsumer
  }
}
