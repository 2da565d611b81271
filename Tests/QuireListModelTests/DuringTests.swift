import QuireCore
import QuireTesting
import TestSupport
import Testing

@testable import QuireListModel

/// Pull, refresh and retry, looked at while they go on.
@MainActor @Suite struct DuringTests {
  private let view = Viewport(content: 1800, extent: 800)

  /// A model of three pages, the controls of its list, and what they have shown.
  private struct Screen {
    let source = rows([[0, 1], [2, 3], [4, 5]])
    let model: ListModel<Row, Int>
    let controls: ScrollControls
    let shown = Recorder<ControlState>()

    private struct Note: ControlObserver {
      let shown: Recorder<ControlState>
      func controlChanged(to state: ControlState) { shown.note(state) }
    }

    @MainActor init() async throws {
      model = ListModel(source)
      controls = ScrollControls(for: model.list, clock: ManualClock())
      try await model.loadMore()
      controls.refresh?.observe(by: Note(shown: shown))
    }

    /// The list is pulled by so much, and let go of.
    func pull(_ extents: Double...) {
      for extent in extents {
        controls.scrolled(to: -extent, in: Viewport(content: 1800, extent: 800), isTracking: true)
      }
      controls.released()
    }

    /// Everything that a view would show, in a line.
    @MainActor var line: String {
      let (list, snapshot) = (model.snapshot.list, model.snapshot)
      let flags = [
        list.isRefreshing ? "refreshing" : nil, list.isInitial ? "initial" : nil,
        list.canLoadMore ? "more" : nil, list.isInteractionEnabled ? nil : "still",
      ]
      return "\(model.shown)|\(model.state)|\(controls.header)|\(controls.footer)|"
        + flags.compactMap { $0 }.joined(separator: " ")
        + "|\(String(describing: snapshot.edge(.trailing)).prefix { $0 != "(" })"
    }

    /// Waits until the load of that page waits, and the model knows.
    @MainActor func loading(_ page: Int, _ count: Int) async throws {
      try await source.wait {
        $0.running == 1 && $0.requests.count == count && $0.requests.last == page
      }
      while !model.state.isLoading { await Task.yield() }
    }

    @MainActor func idle() async {
      while model.state.isLoading || controls.header == .loading || controls.footer == .loading {
        await Task.yield()
      }
    }
  }

  @Test(
    "18-Model, IN-01, IN-05, TI-16, TI-28, OU-21: while a pull refreshes, all stays, and no second one starts"
  )
  func refreshes() async throws {
    let screen = try await Screen()
    #expect(screen.line == "0 1|content|None|None|initial more|more")
    screen.source.hold(1)
    screen.pull(0, 15, 30, 60)
    try await screen.loading(1, 2)
    let during = "0 1|loading|Loading|None|refreshing|more"
    #expect(screen.line == during)
    #expect(screen.controls.headerExtent == 60)
    // Neither another pull nor the end of the view loads anything meanwhile.
    screen.pull(30, 80)
    screen.controls.scrolled(to: 1000.5, in: view)
    #expect(screen.line == during && screen.source.requests == [1, 1])
    screen.source.release(1)
    await screen.idle()
    #expect(screen.line == "0 1|content|None|None|more|more")
    #expect(screen.controls.headerExtent == 0)
    #expect(
      screen.shown.values == [
        .releasing(progress: 0.25), .releasing(progress: 0.5), .releasing(progress: 1), .loading,
        .none,
      ])
  }

  @Test("18-Model, IN-02, TI-48: a pull that is let go of too early, or not yet, refreshes nothing")
  func pullsTooLittle() async throws {
    let screen = try await Screen()
    screen.pull(30, 45)
    #expect(screen.source.requests == [1] && screen.model.state == .content)
    screen.controls.scrolled(to: -61, in: view, isTracking: true)
    #expect(screen.line == "0 1|content|Releasing: 1.0|None|initial more|more")
    #expect(screen.source.requests == [1])
  }

  @Test(
    "18-Model, TI-17, TI-14: a refresh that fails leaves all as it was; while it is tried again, it refreshes"
  )
  func failsToRefresh() async throws {
    let screen = try await Screen()
    screen.source.fail(1)
    screen.pull(60)
    try await screen.source.wait { $0.requests.count == 2 && $0.running == 0 }
    while screen.model.snapshot.refreshError == nil { await Task.yield() }
    while screen.controls.header == .loading { await Task.yield() }
    #expect(screen.line == "0 1|loadingError|None|None|more|more")
    screen.source.hold(1)
    let retries = (0..<2).map { _ in Task { try await screen.model.retry() } }
    try await screen.loading(1, 3)
    #expect(screen.line == "0 1|loading|None|None|refreshing|more")
    #expect(screen.model.snapshot.refreshError == nil)
    screen.source.release(1)
    for retry in retries { #expect(try await retry.value) }
    #expect(screen.source.requests == [1, 1, 1])
    #expect(screen.line == "0 1|content|None|None|more|more")
  }

  @Test(
    "18-Model, IN-14, TI-20, TI-49, TI-50: more is loaded once past the end; its failure has a row until a retry runs"
  )
  func loadsMore() async throws {
    let screen = try await Screen()
    screen.source.hold(2)
    screen.source.fail(2)
    screen.controls.scrolled(to: 1000, in: view)
    #expect(screen.source.requests == [1])
    screen.controls.scrolled(to: 1000.5, in: view)
    screen.controls.scrolled(to: 1010, in: view)
    try await screen.loading(2, 2)
    #expect(screen.line == "0 1|loadingMore|None|Loading|more|loading")
    screen.source.release(2)
    await screen.idle()
    #expect(screen.line == "0 1|loadingMoreError|None|None||failed")
    // A gesture does not try again what has failed.
    screen.controls.scrolled(to: 1000.5, in: view)
    screen.controls.scrolled(to: 1020, in: view)
    #expect(screen.source.requests == [1, 2])
    screen.source.hold(2)
    let retries = (0..<2).map { _ in Task { try await screen.model.retry() } }
    try await screen.loading(2, 3)
    #expect(screen.line == "0 1|loadingMore|None|None|more|loading")
    screen.source.release(2)
    for retry in retries { _ = try await retry.value }
    #expect(screen.source.requests == [1, 2, 2])
    #expect(screen.line == "0 1 2 3|content|None|None|more|more")
  }

  @Test(
    "18-Model, IN-22, TI-19: a refresh cancels the page that is on its way, and shows itself alone")
  func refreshesOverMore() async throws {
    let screen = try await Screen()
    screen.source.hold(2)
    screen.controls.scrolled(to: 1000.5, in: view)
    try await screen.loading(2, 2)
    #expect(screen.controls.footer == .loading)
    screen.source.hold(1)
    screen.pull(60)
    try await screen.source.wait { $0.cancelled == [2] && $0.requests == [1, 2, 1] }
    while screen.model.state != .loading { await Task.yield() }
    #expect(screen.line == "0 1|loading|Loading|None|refreshing|more")
    screen.source.release(2)
    screen.source.release(1)
    await screen.idle()
    #expect(screen.line == "0 1|content|None|None|more|more")
  }

  @Test(
    "18-Model, TI-25, TI-27: while the first page is on its way, and again after its error, nothing can be touched"
  )
  func first() async throws {
    let source = rows([[0]])
    source.fail(1)
    let model = ListModel(source)
    for attempt in 1...2 {
      source.hold(1)
      let load = Task { try await attempt == 1 ? model.start() : model.retry() }
      try await source.wait { $0.requests.count == attempt && $0.running == 1 }
      while !model.state.isLoading { await Task.yield() }
      let list = model.snapshot.list
      #expect(list.isInitial && !list.isInteractionEnabled && model.state == .loading)
      #expect(String(describing: model.snapshot.content) == "loading")
      source.release(1)
      _ = await load.result
      #expect(model.snapshot.list.isInteractionEnabled)
    }
    #expect(model.shown == "0")
  }

  @Test(
    "18-Model, TI-23, K-10: a load that is cancelled shows what was before, at once, and no error")
  func cancels() async throws {
    let screen = try await Screen()
    screen.source.hold(2)
    let load = Task { try await screen.model.loadMore() }
    try await screen.loading(2, 2)
    screen.model.cancel()
    #expect(screen.line == "0 1|content|None|None|more|more")
    await #expect(throws: CancellationError.self) { try await load.value }
    screen.source.release(2)
    #expect(try await screen.model.loadMore() && screen.model.shown == "0 1 2 3")
  }
}
