import Quire
import QuireListModel

/// Runs the model of a SwiftUI list of issues without a view.
///
/// `IssueList URL` prints the first page of a listing whose pages have Link headers, and whose
/// items have `id`, `title` and `isOpen`.
///
/// The view is `IssueListView`, for platforms with SwiftUI.
@main
struct IssueList {
  static func main() async throws {
    guard CommandLine.arguments.count == 2 else { fatalError("usage: IssueList URL") }
    let cursor = PageClient().cursor(
      of: Issue.self, at: CommandLine.arguments[1], pagination: .linkHeader)
    let model = IssueListModel(cursor) { _ in }
    try await model.issues.start()
    for issue in model.issues.items { print(issue.id, issue.title) }
  }
}
