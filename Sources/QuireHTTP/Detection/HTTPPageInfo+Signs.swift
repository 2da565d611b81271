import HTTPTypes
import QuireCore

extension HTTPPageInfo {
  /// Where the answer has what looks like a way to another page, or says that there are more than
  /// `items`: for whoever took it for the last one. Paths, and names of fields; nothing where the
  /// answer says that no more follows.
  package func signsOfMore(than items: Int) -> [String] {
    let answer = PageAnswer(
      request: visit.request, url: url, status: head.status.code, headerFields: head.headerFields,
      document: document, position: visit.position)
    guard let detector = try? PaginationDetector(answer) else { return [] }
    let isLast = detector.signs.contains { sign in
      sign.kind == .flag && sign.value?.boolean == detector.vocabulary.flags[sign.name].map { !$0 }
    }
    guard !isLast else { return [] }
    return detector.signs.filter { sign in
      guard let value = sign.value, !value.isBlank else { return false }
      return switch sign.kind {
      case .link, .field, .token: true
      case .total: value.count.map { $0 > items } ?? false
      case .pages: value.count.map { $0 > 1 } ?? false
      case .flag: false
      }
    }.map { ServerText($0.place).description }
  }
}
