import QuireCore

extension ListMachine {
  /// The time, where the machine cares for it.
  func now(by stopwatch: Stopwatch) -> Duration? {
    options.settling > .zero ? stopwatch.elapsed() : nil
  }
}

// What observers get.
extension ListMachine {
  /// What the list is doing.
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

  /// Why pages could not be loaded again that are held, come next to these, or are shown.
  var failures: [Int: PageError] {
    view.failures.filter { ordinal, _ in
      (content.first - 1...content.held.upperBound).contains(ordinal)
        || view.visible?.contains(ordinal) == true
    }
  }

  /// The state while nothing is loaded at the end of what is held.
  private var settled: ListState {
    if let (ordinal, error) = failures.max(by: { $0.key < $1.key }),
      ordinal >= content.held.upperBound
    {
      return .loadingMoreError(error)
    }
    // More follows what is held, whatever there is behind it.
    switch shown.settled {
    case .exhausted, .loadingMoreError: return content.back.isEmpty ? shown.settled : .content
    default: return shown.settled
    }
  }

  mutating func announce(_ effects: inout Effects) { announce(state, &effects) }

  /// Tells observers how the state has changed.
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
      // Only a reload that failed leaves pages that more can follow.
      if case .open = content.tail { return true } else { return false }
    case .idle, .loading, .empty, .exhausted, .loadingMoreError: return false
    }
  }

  /// What there is and what is being done, as one value.
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
