extension ScrollControls {
  /// Controls that reload a paginator and load more of it. They do not keep it.
  ///
  /// Wherever the view moves is reported to the paginator, too, which loads ahead by its threshold.
  /// The control that loads more starts only while the paginator can: not at the end of the listing,
  /// and not while it reloads.
  public convenience init<Item>(
    for paginator: Paginator<Item>, refresh: ControlOptions = ControlOptions(),
    loadMore: ControlOptions = ControlOptions(), clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init { [weak paginator] in paginator?.report(offset: $0, in: $1) }
    self.refresh = .refresh(refresh, clock: clock) { [weak paginator] in
      _ = try? await paginator?.reload()
    }
    self.loadMore = .loadMore(
      loadMore, clock: clock,
      isAvailable: { [weak paginator] in paginator?.snapshot.canLoadMore ?? false },
      action: { [weak paginator] in
        // What the report began may have failed by now; trying again is for somebody to say.
        guard let paginator, paginator.snapshot.canLoadMore else { return }
        _ = try? await paginator.loadMore()
      })
  }
}
