import QuireCore

extension ListMachine {
  /// Returns the elapsed time; nil if the machine does not need it.
  func now(by stopwatch: Stopwatch) -> Duration? {
    options.settling > .zero ? stopwatch.elapsed() : nil
  }
}

// State, events and snapshots for observers.
extension ListMachine {
  /// The state of the list.
  var state: ListState {
    switch activity {
    case .loading(let running):
      switch running.load {
      case .reload, .seek: .loading
      case .more: content.hasLoaded ? .loadingMore : .loading
      case .again(content.held.upperBound, isForLoop: false): .loadingMore
      case .again, .before: settled
      }
    case .cancelling:
      if isReloading {
        .loading
      } else if !waiters.contains(where: \.wantsMore) {
        settled
      } else {
        content.hasLoaded ? .loadingMore : .loading
      }
    case .idle: settled
    }
  }

  /// The errors of known pages that could not be loaded again, if these pages are held, next to the
  /// pages held, or visible.
  var failures: [Int: PageError] {
    view.failures.filter { ordinal, _ in
      (content.first - 1...content.held.upperBound).contains(ordinal)
        || view.visible?.contains(ordinal) == true
    }
  }

  /// The state when no load runs at the trailing end.
  private var settled: ListState {
    if let (ordinal, error) = failures.max(by: { $0.key < $1.key }),
      ordinal >= content.held.upperBound
    {
      return .loadingMoreError(error)
    }
    // While dropped pages follow the pages held, the end of the listing does not matter.
    switch shown.settled {
    case .exhausted, .loadingMoreError: return content.back.isEmpty ? shown.settled : .content
    // Items may have come before the start of a list that began at the end of its listing.
    case .empty where !isEmptyListing: return .exhausted
    default: return shown.settled
    }
  }

  mutating func announce(_ effects: inout Effects) { announce(state, &effects) }

  /// Reports a change of the state to observers.
  mutating func announce(_ state: ListState, _ effects: inout Effects) {
    guard shown.state != state else { return }
    let (old, could, can) = (shown.state, shown.canLoadMore, canLoadMore(in: state))
    (shown.state, shown.canLoadMore) = (state, can)
    if could, !can { effects.events.append(.canLoadMore(false)) }
    effects.events.append(.changed(from: old, to: state))
    if !could, can { effects.events.append(.canLoadMore(true)) }
  }

  /// Whether the next page is loaded when it is due.
  private func canLoadMore(in state: ListState) -> Bool {
    switch state {
    case .content, .loadingMore: return true
    case .loadingError:
      // After a failed reload the old pages are still held, and more may follow them.
      if case .open = content.tail { return true } else { return false }
    case .idle, .loading, .empty, .exhausted, .loadingMoreError: return false
    }
  }

  /// Content and state as one value.
  var snapshot: ListSnapshot<Item> {
    var snapshot = ListSnapshot(
      state: state, pages: content.pages, loaded: content.loaded + content.prepended,
      prepended: content.prepended, pagesBefore: content.before.pages,
      itemsBefore: content.itemsBefore,
      currentPage: min(max(0, content.current), max(0, content.pages.count - 1)),
      isRefreshing: isReloading, isInitial: isInitial, canLoadMore: canLoadMore(in: state),
      canLoadBefore: true, isLoadingBefore: false)
    snapshot.content = .init(content)
    snapshot.loads = loads
    switch content.head {
    case .open: snapshot.canLoadBefore = content.hasLoaded
    case .failed(let error): snapshot.errorBefore = error
    case .exhausted: snapshot.canLoadBefore = false
    }
    if !content.front.isEmpty {
      snapshot.canLoadBefore = true
      let first = failures.min { $0.key < $1.key }
      snapshot.errorBefore = first.flatMap { $0.key < content.first ? $0.value : nil }
    }
    if case .loading(let running) = activity {
      snapshot.isLoadingBefore = [.before, .again(content.first - 1)].contains(running.load)
      if case .again = running.load { snapshot.isLoadingAgain = true }
      if running.load.isNewRun { snapshot.isRefreshing = true }
    }
    return snapshot
  }
}
