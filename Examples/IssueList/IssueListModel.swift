import Quire
import QuireListModel

struct Issue: Codable, Identifiable, Equatable, Sendable {
  let id: Int
  var title: String
  var isOpen = true
}

/// The model of a view of issues: the list, and the actions of the view's buttons. It does not
/// depend on the view.
@MainActor final class IssueListModel {
  let issues: ListModel<Issue, Int>
  private let close: @Sendable (Issue) async throws -> Void

  /// Creates the model of the issues that `cursor` lists; `close` asks the server to close one.
  init(_ cursor: Cursor<Issue>, close: @escaping @Sendable (Issue) async throws -> Void) {
    let options = ListOptions(threshold: .remaining(items: 20), window: ListWindow(pages: 10))
    issues = ListModel(cursor, options: options)
    self.close = close
  }

  /// Closes an issue at once, and opens it again if the server refuses.
  func close(_ issue: Issue) async {
    let edit = issues.update(issue.id) { $0.isOpen = false }
    try? await issues.commit(edit) { [close] in
      try await close(issue)
      return nil
    }
  }

  /// Called when a row comes into view, so that pages load before the reader reaches them.
  func willShow(_ issue: Issue) {
    guard let index = issues.index(of: issue.id) else { return }
    let row = issues.snapshot.expectedBefore + index
    issues.report(visible: row..<row + 1)
  }

  /// The text of the search field.
  func search(_ text: String) {
    let matches: @Sendable (Issue) -> Bool = { $0.title.lowercased().contains(text.lowercased()) }
    issues.filter = text.isEmpty ? nil : matches
  }
}
