import QuireCore
import QuireLists
import QuireTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct ListPlaceholderTests {
  private let error = PageError(.sourceFailed, "The server is away.")

  @Test("TI-26: texts and measures for what stands in place of items; views are the caller's")
  func defaults() {
    let placeholders = ListPlaceholders()
    #expect(placeholders.placeholder(in: .empty) == .empty("Empty"))
    #expect(placeholders.placeholder(in: .loadingError(error)) == .error("The server is away."))
    #expect(placeholders.placeholder(in: .loadingMoreError(error)) == nil)
    let footer = placeholders.footer(.loadingMoreError(error))
    #expect(footer == ListPlaceholders.Footer(text: "Retry load more", height: 44))
    #expect(placeholders.placeholder(in: .loading)?.text == "Loading …")
    for state in [ListState.idle, .content, .loadingMore, .exhausted] {
      #expect(placeholders.placeholder(in: state) == nil)
      #expect(placeholders.footer(state) == nil)
    }
    // What a reload keeps stays in sight, whatever becomes of the reload.
    for state in [ListState.loading, .loadingError(error)] {
      #expect(placeholders.placeholder(in: state, holding: 1) == nil)
      #expect(placeholders.footer(state) == nil)
    }
  }

  @Test("TI-26: each can be replaced, left out, or shown by somebody else")
  func overrides() {
    var placeholders = ListPlaceholders()
    placeholders.footer = { _ in nil }
    #expect(placeholders.footer(.loadingMoreError(error)) == nil)
    placeholders.placeholder = { $0 == .empty ? .empty("Nothing here") : nil }
    #expect(placeholders.placeholder(in: .empty) == .empty("Nothing here"))
    var handled = ListPlaceholders()
    handled.handlesError = { $0.code == .sourceFailed }
    #expect(handled.placeholder(in: .loadingError(error)) == nil)
  }

  @Test("TI-49: the retry footer appears with the error, and disappears with the retry")
  func footerEvents() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.fail(2)
    let placeholders = ListPlaceholders()
    let changes = try await ListUpdates<ListEvent<Int>>.during(
      { PagedList(Cursor(source)) }, \.events
    ) { list in
      try await list.loadMore()
      _ = try? await list.loadMore()
      try await list.retry()
    }.compactMap { event in
      if case .changed(let old, let new) = event {
        placeholders.footerChange(from: old, to: new)
      } else {
        nil
      }
    }
    #expect(changes == [.willAppear, .willDisappear])
  }

  @Test("OU-18: the usual measures are data for whoever draws")
  func measures() {
    let measures = ListMeasures()
    #expect(measures.row == 45)
    #expect(measures.footer == 0)
    #expect([measures.cellWidth, measures.cellHeight, measures.placeholder] == [100, 100, 100])
    #expect(measures.insets == PageAxis.Insets())
  }
}
