import Quire
import QuireHTTP

/// Watches whether what a description looks for is ever there: a misspelt path ends a listing as
/// quietly as its last page does.
struct ListingWatch: Sendable {
  private let pagination: Pagination
  /// Where the next page should be found, until a page has something there.
  private var next: PagePlace?
  /// Where end rules look, until a page has something there.
  private var rules: [PagePlace] = []
  private var hasRule = false
  private var pages = 0
  private var items = 0
  private var declared: Int?
  /// Whether the path to the items was written by hand.
  private let namesItems: Bool
  /// What the first page without items that has something in their stead has there.
  private var found: FoundLists?
  /// The words for children of a root element that are items, and of several names.
  private var mixture: String?
  /// Where the first page has a link that was sent as a mere value.
  private var link: PagePath?

  /// With `isComposed`, what the description looks for may be misspelt. The presets' places are
  /// right, and most of their servers leave a next link out where none follows; only with
  /// `namesItems` are the items elsewhere.
  init(_ pagination: Pagination, isComposed: Bool, namesItems: Bool = false) {
    self.pagination = pagination
    self.namesItems = isComposed || namesItems
    guard isComposed else { return }
    next = PagePlace(pagination.next)
    rules = pagination.end.compactMap { rule in
      switch rule {
      case .flag(let flag): PagePlace(flag.source)
      case .total(let total): PagePlace(total.source)
      default: nil
      }
    }
  }

  /// Takes in a page that was written.
  mutating func saw(_ page: Page<ExportItem>) {
    pages += 1
    items += page.items.count
    if let total = page.total, total.kind == .items { declared = total.value }
    if pages == 1 { look(into: page) }
    if items == 0, found == nil, let document = page.http?.document as? any OutlinedDocument {
      found = FoundLists(on: document, insteadOf: pagination.items, isNamed: namesItems)
    }
    let path = pagination.items
    if page.next != nil || next?.isFilled(on: page, items: path) == true { next = nil }
    let missing = rules.filter { !$0.isFilled(on: page, items: path) }
    hasRule = hasRule || missing.count < rules.count
    rules = missing
  }

  /// What the caller should know when no more pages come.
  func warnings(isExhausted: Bool) -> [String] {
    var warnings: [String] = []
    if items == 0, let found {
      let paths = pagination.items.paths.map(\.place).joined(separator: " or ")
      warnings.append(
        "no item at \(paths) in \(ProgressLine.count(pages, "page")); \(found.advice)")
    }
    if let mixture { warnings.append(mixture) }
    if let link {
      warnings.append(
        "what is at \(link.place) is a URL, and goes out as a value: did you mean --send url?")
    }
    guard isExhausted else { return warnings }
    for place in rules { warnings.append("\(place.complaint) Correct --end.") }
    // A listing without items, with all that was declared, or with a word that it ends is whole.
    if let next, items > 0, declared != items, !hasRule {
      warnings.append("\(next.complaint) If the listing is longer, correct --next.")
    }
    return warnings
  }

  private mutating func look(into page: Page<ExportItem>) {
    guard let document = page.http?.document as? any OutlinedDocument else { return }
    let nodes = document.outline.nodes.filter { !$0.isInList }
    for index in rules.indices { rules[index].suggest(among: nodes.map(\.path)) }
    next?.suggest(among: nodes.map(\.path))
    if next != nil, page.next != nil { link = Self.unfollowedLink(of: pagination, in: document) }
    if pagination.items == .root { mixture = Self.mixture(among: nodes) }
  }

  /// Where a page has an absolute URL of the next one that is not followed but sent.
  private static func unfollowedLink(
    of pagination: Pagination, in document: any PageDocument
  ) -> PagePath? {
    switch pagination.send {
    case .query, .header, .jsonBody: break
    default: return nil
    }
    guard case .body(let path) = pagination.next,
      let text = (try? document.value(at: path))??.string,
      ["https://", "http://"].contains(where: text.hasPrefix)
    else { return nil }
    return path
  }

  /// What to say where the elements below a root are of several names: one of them is a list, most
  /// likely, and the others are about it.
  private static func mixture(among nodes: [PageOutline.Node]) -> String? {
    // The root of JSON has no name, and so no path.
    guard let root = nodes.first?.path, !root.isEmpty else { return nil }
    let children = nodes.filter { $0.depth == 2 && !$0.path.contains("@") }
    guard children.count > 1 else { return nil }
    let names = children.prefix(5).map(\.name).joined(separator: ", ")
    let lists = nodes.filter { $0.kind == .list }.prefix(5).map(\.path)
    let advice =
      lists.isEmpty
      ? "write --items PATH"
      : "found lists at \(lists.joined(separator: ", ")): use --items '\(lists[0])'"
    return "every element below \(root) was taken for an item, and they are of several names "
      + "(\(names)); \(advice), or --items '\(root)/*' if all are meant."
  }
}
