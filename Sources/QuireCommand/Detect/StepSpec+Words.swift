import Quire

extension StepSpec {
  /// The options that say what a description says; nil where they cannot.
  static func words(for pagination: Pagination) -> [String]? {
    guard let next = word(for: pagination.next), let items = word(for: pagination.items) else {
      return nil
    }
    var words = ["--next", next]
    if pagination.send != .url || next != "link" {
      guard let send = word(for: pagination.send) else { return nil }
      words += ["--send", send]
    }
    for rule in pagination.end {
      guard let end = word(for: rule) else { return nil }
      words += ["--end", end]
    }
    if !items.isEmpty { words += ["--items", items] }
    if let total = pagination.total, !pagination.end.contains(.total(total)),
      case .body(let path) = total.source, total == TotalSource(.body(path))
    {
      words += ["--total", path.text]
    }
    return words
  }

  private static func word(for items: ItemSelector) -> String? {
    switch items {
    case .path(let path): path.text
    case .optional(.path(let path)): "optional:\(path)"
    case .oneOrMany(.path(let path)): "oneOrMany:\(path)"
    case .optional(.oneOrMany(.path(let path))): "optional:oneOrMany:\(path)"
    default: nil
    }
  }

  private static func word(for next: NextSource) -> String? {
    switch next {
    case .linkHeader("next", [:]): "link"
    case .header(let name): "header:\(name)"
    case .body(let path): "body:\(path)"
    case .lastItem(let path): "last:\(path)"
    case .offset(let first, .itemsReturned): first == 0 ? "offset" : "offset:\(first)"
    case .pageNumber(let first, nil): first == 1 ? "page" : "page:\(first)"
    default: nil
    }
  }

  private static func word(for send: Placement) -> String? {
    switch send {
    case .url: "url"
    case .query(let name, .strict): "query:\(name)"
    case .header(let name): "header:\(name)"
    case .jsonBody(let path): "body:\(path)"
    default: nil
    }
  }

  private static func word(for rule: EndRule) -> String? {
    switch rule {
    case .emptyPage: return "empty"
    case .shortPage: return "short"
    case .sameCursor: return "same"
    case .noNext(let sentinels): return sentinels.count == 1 ? "sentinel:\(sentinels[0])" : nil
    case .flag(let flag):
      guard case .body(let path) = flag.source, flag.ifAbsent == .ignore else { return nil }
      return (flag.continuesWhile ? "flag:" : "last:") + path.text
    case .total(let total):
      guard case .body(let path) = total.source else { return nil }
      switch total.kind {
      case .items: return "total:\(path)"
      case .pages: return "pages:\(path)"
      case .estimate, .lowerBound, .remaining: return nil
      }
    default: return nil
    }
  }
}
