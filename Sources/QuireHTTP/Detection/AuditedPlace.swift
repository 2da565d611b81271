import HTTPTypes
import QuireCore

/// A place of a page's answer where a description looks for something.
struct AuditedPlace: Sendable {
  private enum Kind: Sendable {
    case field(String)
    case body(PagePath)
    case lastItem(PagePath)
  }

  private let kind: Kind
  /// A path of the page that the place was meant to be, most likely.
  private var near: String?

  /// Where a source looks; nil for one that counts by itself or has several places.
  init?(_ source: NextSource) {
    var source = source
    while case .transformed(let inner, _) = source { source = inner }
    switch source {
    case .linkHeader: kind = .field("Link")
    case .header(let name): kind = .field(name)
    case .body(let path): kind = .body(path)
    case .lastItem(let path): kind = .lastItem(path)
    default: return nil
    }
  }

  /// Where a rule looks; nil where it has several places.
  init?(_ source: ValueSource?) {
    switch source {
    case .header(let name): kind = .field(name)
    case .body(let path): kind = .body(path)
    default: return nil
    }
  }

  /// Whether the page has anything there; an explicit null is something.
  func isFilled(on info: HTTPPageInfo, items: ItemSelector) -> Bool {
    switch kind {
    case .field(let text):
      guard let name = HTTPField.Name(text) else { return true }
      return info.head.headerFields[name] != nil
    case .body(let path): return (try? info.document.count(at: path, outsideItemsOf: items)) != nil
    case .lastItem(let path):
      return (try? info.document.value(at: path, inLastItemOf: items)) != nil
    }
  }

  /// The place with the path that was meant, if one of `paths` is nearly it.
  func suggesting(among paths: [String]) -> AuditedPlace {
    guard case .body(let path) = kind, !paths.contains(path.text) else { return self }
    var place = self
    place.near = NearestName.find(path.text, in: paths)
    return place
  }

  /// That no page had anything there, to be mended by `setting`.
  func warning(_ setting: Remedy.Setting) -> WalkReport.Warning {
    let hint = near.map { "; is \"\(ServerText($0))\" what you mean?" } ?? "."
    let message =
      switch kind {
      case .field(let name): "no page had the header field \(name)."
      case .body(let path): "no page had anything at \(path.place)\(hint)"
      case .lastItem(let path): "no page's last item had anything at \(path.place)."
      }
    return .init(
      .placeNotFound, setting == .next ? message + " The listing may be longer." : message,
      // Of an end rule or a continuation the path is only a part.
      remedy: Remedy(setting, setting == .total ? [near].compactMap { $0 } : []))
  }
}
