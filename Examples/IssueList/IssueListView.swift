#if canImport(SwiftUI)
  import Quire
  import QuireListModel
  import SwiftUI

  /// A list of issues with skeletons, pull to refresh, pages at both ends, swipe to close, and a
  /// search field.
  struct IssueListView: View {
    let model: IssueListModel
    @State private var search = ""

    var body: some View {
      let snapshot = model.issues.snapshot
      List {
        if let error = snapshot.refreshError {
          Label(error.message, systemImage: "wifi.slash")
        }
        switch snapshot.content {
        case .items: rows(snapshot)
        case .loading: ForEach(0..<8, id: \.self) { _ in skeleton }
        case .empty: Text("No issues")
        case .noMatches: Text("No issue is like that")
        case .failed(let error): retry(error)
        }
      }
      .searchable(text: $search)
      .onChange(of: search) { model.search(search) }
      .refreshable { _ = try? await model.issues.reload() }
      .task { _ = try? await model.issues.start() }
    }

    @ViewBuilder private func rows(_ snapshot: ListModel<Issue, Int>.Snapshot) -> some View {
      edge(snapshot.edge(.leading))
      ForEach(snapshot.items) { issue in
        Text(issue.title)
          .strikethrough(!issue.isOpen)
          .onAppear { model.willShow(issue) }
          .swipeActions { Button("Close") { Task { await model.close(issue) } } }
      }
      edge(snapshot.edge(.trailing))
    }

    @ViewBuilder private func edge(_ edge: ListModel<Issue, Int>.Snapshot.Edge) -> some View {
      switch edge {
      case .none, .end: EmptyView()
      case .more, .loading: ProgressView()
      case .failed(let error): retry(error)
      }
    }

    private var skeleton: some View { Text("An issue").redacted(reason: .placeholder) }

    private func retry(_ error: PageError) -> some View {
      Button(error.message) { Task { _ = try? await model.issues.retry() } }
    }
  }
#endif
