import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

/// A place in an answer where a description expects a value.
struct AuditedPlace: Sendable {
  private enum Kind: Sendable {
    case field(String)
    case body(PagePath)
    case lastItem(PagePath)
    case items(PagePath)
  }

  private let kind: Kind
  /// The path in the page that the description most likely meant; nil if none resembles it.
  private var suggestion: String?

  /// Creates the place of a continuation, or of the number by which an offset grows. Nil for a
  /// counter that reads nothing, and for any source other than one header field or one path in the
  /// page or its items.
  init?(_ source: Pagination.Next) {
    switch source.untransformed {
    case .linkHeader: kind = .field("Link")
    case .header(let name): kind = .field(name)
    case .body(let path): kind = .body(path)
    case .lastItem(let path): kind = .lastItem(path)
    case .firstItem(let path), .maxItem(let path): kind = .items(path)
    case .offset(_, .body(let path)): kind = .body(path)
    case .contentRange: kind = .field("Content-Range")
    default: return nil
    }
  }

  /// Creates the place of a rule's value. Nil for any source other than one header field or one
  /// path in the page.
  init?(_ source: Pagination.ValueSource?) {
    switch source {
    case .header(let name): kind = .field(name)
    case .body(let path): kind = .body(path)
    default: return nil
    }
  }

  /// Whether the page has a value at the place. An explicit null counts.
  func isFilled(on info: HTTPPageInfo, items: Pagination.Items) -> Bool {
    switch kind {
    case .field(let text):
      guard let name = HTTPField.Name(text) else { return true }
      return info.head.headerFields[name] != nil
    case .body(let path): return (try? info.document.count(at: path, outsideItemsOf: items)) != nil
    case .lastItem(let path):
      return (try? info.document.value(at: path, inLastItemOf: items)) != nil
    case .items(let path):
      let values = try? info.document.values(at: path, inItemsOf: items)
      return values?.contains { $0 != nil } ?? false
    }
  }

  /// Returns the place with a hint: the path among `paths` that it nearly spells.
  func suggesting(among paths: [String]) -> AuditedPlace {
    guard case .body(let path) = kind, !paths.contains(path.text) else { return self }
    var place = self
    place.suggestion = NearestName.find(path.text, in: paths)
    return place
  }

  /// Returns the warning that no page had a value at the place, with `setting` as the remedy.
  func warning(_ setting: Remedy.Setting) -> WalkReport.Warning {
    let hint = suggestion.map { "; is \"\(ServerText($0))\" what you mean?" } ?? "."
    let message =
      switch kind {
      case .field(let name): "no page had the header field \(name)."
      case .body(let path): "no page had anything at \(path.place)\(hint)"
      case .lastItem(let path): "no page's last item had anything at \(path.place)."
      case .items(let path): "no page had an item with anything at \(path.place)."
      }
    return .init(
      .placeNotFound, setting == .next ? message + " The listing may be longer." : message,
      // The hint is a complete value only for a total: an end rule or a continuation takes more
      // than a path.
      remedy: Remedy(setting, setting == .total ? [suggestion].compactMap { $0 } : []))
  }
}
