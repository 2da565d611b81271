import QuireCore
import QuireListModel
import QuireTesting
import Testing

@testable import IssueList

/// What a view in SwiftUI would show, without one.
@MainActor @Suite(.timeLimit(.minutes(15))) struct IssueListTests {
  private let source = ScriptedSource(
    items: (0..<30).map { page in
      (0..<10).map { Issue(id: page * 10 + $0, title: "Issue \(page * 10 + $0)") }
    })

  @Test(
    "18-Model, 18-Edit: an issue closes at once, and opens again where the server does not agree")
  func closes() async throws {
    let gate = Gate()
    let model = IssueListModel(Cursor(source)) { issue in
      try await gate.wait()
      if issue.id == 1 { throw ScriptedFailure() }
    }
    try await model.issues.start()
    let closing = [0, 1].map { index in
      let issue = model.issues.items[index]
      return Task { await model.close(issue) }
    }
    while model.issues.snapshot.pendingEdits < 2 { await Task.yield() }
    #expect(model.issues.items.prefix(3).map(\.isOpen) == [false, false, true])
    gate.openUp()
    for task in closing { await task.value }
    #expect(model.issues.items.prefix(3).map(\.isOpen) == [false, true, true])
    #expect(model.issues.snapshot.pendingEdits == 0)
  }

  @Test(
    "18-Window, 18-View: rows that come into view load on, in a window, and a search leaves out others"
  )
  func scrolls() async throws {
    let model = IssueListModel(Cursor(source)) { _ in }
    try await model.issues.start()
    var seen = 0
    while seen < 299 {
      let snapshot = model.issues.snapshot
      let index = seen - snapshot.expectedBefore
      if snapshot.items.indices.contains(index) {
        #expect(snapshot.items[index].id == seen)
        model.willShow(snapshot.items[index])
        seen += 1
      } else {
        await Task.yield()
      }
    }
    #expect(model.issues.snapshot.list.pages.count <= 10)
    model.search("299")
    #expect(model.issues.items.map(\.id) == [299])
    model.search("")
    #expect(model.issues.items.count > 90)
  }
}
