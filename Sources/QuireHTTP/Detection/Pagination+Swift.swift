import QuireCore

extension Pagination {
  /// The description in Swift, where it is of the kind that a detector puts together.
  var swift: String {
    var parts = ["next: \(next.swift)"]
    if send != .url { parts.append("send: \(send.swift)") }
    if request.isQuery { parts.append("request: RequestRule(isQuery: true)") }
    if !end.isEmpty { parts.append("end: [\(end.map(\.swift).joined(separator: ", "))]") }
    if case .path(let path) = items, !path.text.isEmpty { parts.append("items: \(path.swift)") }
    if let total { parts.append("total: \(total.swift)") }
    return "Pagination(\(parts.joined(separator: ", ")))"
  }
}

extension PagePath {
  fileprivate var swift: String { PaginationPreset.literal(text) }
}

extension NextSource {
  fileprivate var swift: String {
    switch self {
    case .linkHeader: ".linkHeader"
    case .header(let name): ".header(\(PaginationPreset.literal(name)))"
    case .body(let path): ".body(\(path.swift))"
    case .offset(let first, _): first == 0 ? ".offset" : ".offset(first: \(first))"
    case .pageNumber(let first, _): first == 1 ? ".pageNumber" : ".pageNumber(first: \(first))"
    case .lastItem(let path): ".lastItem(\(path.swift))"
    default: "\(self)"
    }
  }
}

extension Placement {
  fileprivate var swift: String {
    switch self {
    case .query(let name, _): ".query(\(PaginationPreset.literal(name)))"
    case .header(let name): ".header(\(PaginationPreset.literal(name)))"
    case .jsonBody(let path): ".jsonBody(\(path.swift))"
    case .form(let name): ".form(\(PaginationPreset.literal(name)))"
    default: ".\(self)"
    }
  }
}

extension EndRule {
  fileprivate var swift: String {
    switch self {
    case .flag(let rule):
      rule.continuesWhile
        ? ".flag(\(rule.source.swift))" : ".flag(\(rule.source.swift), continuesWhile: false)"
    case .total(let total):
      total.kind == .pages ? ".pages(\(total.source.swift))" : ".total(\(total.swift))"
    default: ".\(self)"
    }
  }
}

extension TotalSource {
  fileprivate var swift: String {
    kind == .items ? source.swift : "TotalSource(\(source.swift), .\(kind.rawValue))"
  }
}

extension ValueSource {
  fileprivate var swift: String {
    if case .body(let path) = self { path.swift } else { "\(self)" }
  }
}
