package import QuireCore

extension PageSequence {
  /// The items of all pages, page by page.
  package func drained() async throws -> [[Item]] {
    var pages: [[Item]] = []
    for try await page in self { pages.append(page.items) }
    return pages
  }
}

extension AsyncSequence {
  /// All elements.
  package func collected() async throws -> [Element] {
    var elements: [Element] = []
    for try await element in self { elements.append(element) }
    return elements
  }
}

/// The `PageError` that `body` throws; nil when it throws none.
package func pageError(
  _ body: () async throws -> Void
) async -> PageError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? PageError
  }
}

extension WalkReport.End {
  /// The case with its distinguishing value, for comparisons.
  package var name: String {
    switch self {
    case .running: "running"
    case .exhausted: "exhausted"
    case .truncationSuspected(let declared): "truncationSuspected(\(declared))"
    case .limit(let limit): "limit(\(limit.rawValue))"
    case .cancelled: "cancelled"
    case .stoppedByConsumer: "stoppedByConsumer"
    case .failed(let error): "failed(\(error.code))"
    }
  }
}
