import Quire
import QuireListModel

struct Issue: Codable, Identifiable, Equatable, Sendable {
  let id: Int
  var title: String
  var isOpen = true
}

/// The model of a view of issues: the list, and the actions of the view's controls. It does not
/// depend on SwiftUI, so that it can be tested without a view.
@MainActor final class IssueListModel {
  let issues: ListModel<Issue, Int>
  private let close: @Sendable (Issue) async throws -> Void

  /// Creates the model of the issues that `cursor` lists; `close` asks the server to close one.
  init(_ cursor: Cursor<Issue>, close: @escaping @Sendable (Issue) async throws -> Void) {
    let options = ListOptions(threshold: .remaining(items: 20), window: ListWindow(pages: 10))
    issues = ListModel(cursor, options: options)
    self.close = close
  }

  /// Shows an issue as closed at once, and as open again if the server refuses.
  func close(_ issue: Issue) async {
    let edit = issues.update(issue.id) { $0.isOpen = false }
    try? await issues.commit(edit) { [close] in
      try await close(issue)
      // The server returns no newer version of the issue, so the edited one stays.
      return nil
    }
  }

  /// Reports that a row has come into view, so that pages load before the reader reaches them.
  func willShow(_ issue: Issue) {
    guard let index = issues.index(of: issue.id) else { return }
    // Rows count from the start of the listing, including rows of issues that are not loaded.
    let row = issues.snapshot.expectedBefore + index
    issues.report(visible: row..<row + 1)
  }

  /// Shows only the issues whose title contains a text; all for an empty one.
  func search(_ text: String) {
    let matches: @Sendable (Issue) -> Bool = { $0.title.lowercased().contains(text.lowercased()) }
    issues.filter = text.isEmpty ? nil : matches
  }
}
