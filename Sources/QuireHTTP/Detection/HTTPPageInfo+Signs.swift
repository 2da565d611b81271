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
    let vocabulary = PaginationVocabulary.shared
    let outline = (document as? any OutlinedDocument)?.outline ?? PageOutline()
    let signs = DetectorSign.all(in: answer, outline: outline, vocabulary: vocabulary)
    let isLast = signs.contains { sign in
      sign.kind == .flag && sign.value?.boolean == vocabulary.flags[sign.name].map { !$0 }
    }
    guard !isLast else { return [] }
    return signs.filter { sign in
      guard let value = sign.value, !value.isBlank else { return false }
      return switch sign.kind {
      case .link, .field, .token: true
      case .total: value.count.map { $0 > items } ?? false
      case .pages: value.count.map { $0 > 1 } ?? false
      case .flag: false
      }
    }.map(\.place)
  }
}
