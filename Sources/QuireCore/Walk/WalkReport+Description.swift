extension WalkReport: CustomStringConvertible {
  /// One line: how the walk ended, then pages, items, requests, and what else there was of note.
  public var description: String {
    var parts = [
      pages.counted("page"), items.counted("item"), traffic.requests.counted("request"),
    ]
    if traffic.retries > 0 { parts.append(traffic.retries.counted("retry", "retries")) }
    if traffic.badItems > 0 {
      parts.append(traffic.badItems.counted("item set aside", "items set aside"))
    }
    if duplicatesDropped > 0 {
      parts.append(duplicatesDropped.counted("duplicate dropped", "duplicates dropped"))
    }
    if !warnings.isEmpty { parts.append(warnings.count.counted("warning")) }
    return "\(end): \(parts.joined(separator: ", "))"
  }
}

extension WalkReport.End: CustomStringConvertible {
  /// `exhausted`, `limit (pages)`, `truncation suspected`, `failed (code)` and so on.
  public var description: String {
    switch self {
    case .running: "running"
    case .exhausted: "exhausted"
    case .truncationSuspected: "truncation suspected"
    case .limit(let limit): "limit (\(limit.rawValue))"
    case .cancelled: "cancelled"
    case .stoppedByConsumer: "stopped by consumer"
    case .failed(let error): "failed (\(error.code))"
    }
  }
}
