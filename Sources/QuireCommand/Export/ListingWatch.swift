import Quire
import QuireCore
import QuireHTTP

/// Watches whether what a description looks for is ever there: a misspelt path ends a listing as
/// quietly as its last page does.
struct ListingWatch: Sendable {
  private let pagination: Pagination
  /// Where the next page should be found, until a page has something there.
  private var next: PagePlace?
  /// Where end rules look, until a page has something there.
  private var rules: [(place: PagePlace, option: String)] = []
  private var hasRule = false
  private var pages = 0
  private var items = 0
  private var declared: Int?
  /// How many items a full page has, if the command line says so.
  var fullPage: Int?
  /// Whether the path to the items was written by hand.
  private let namesItems: Bool
  /// What the first page without items that has something in their stead has there.
  private var found: FoundLists?
  /// The words for children of a root element that are items, and of several names.
  private var mixture: String?
  /// Where the first page has a link that was sent as a mere value.
  private var link: PagePath?
  /// What looks like more on a first page that nothing follows.
  private var more: [String] = []
  /// Whether the last answer had no body, and did not say so by its status.
  private var isBodyless = false

  /// With `isComposed`, what the description looks for may be misspelt. The presets' places are
  /// right, and most of their servers leave a next link out where none follows; only with
  /// `namesItems` are the items elsewhere, and only with `namesTotal` the total.
  init(
    _ pagination: Pagination, isComposed: Bool, namesItems: Bool = false, namesTotal: Bool = false
  ) {
    self.pagination = pagination
    self.namesItems = isComposed || namesItems
    let total = namesTotal ? pagination.total.flatMap { PagePlace($0.source) } : nil
    rules = total.map { [($0, "--total")] } ?? []
    guard isComposed else { return }
    next = PagePlace(pagination.next)
    rules += pagination.end.compactMap { rule in
      switch rule {
      case .flag(let flag): PagePlace(flag.source).map { ($0, "--end") }
      case .total(let total): PagePlace(total.source).map { ($0, "--end") }
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
    isBodyless =
      page.http.map { $0.document is EmptyDocument && $0.head.status.code == 200 } ?? false
    let path = pagination.items
    if page.next != nil || next?.isFilled(on: page, items: path) == true { next = nil }
    let missing = rules.filter { !$0.place.isFilled(on: page, items: path) }
    hasRule = hasRule || missing.count < rules.count
    rules = missing
  }

  /// What the caller should know when no more pages come, because the listing has ended or because it
  /// failed; elsewhere what was not found yet may still come.
  func warnings(isExhausted: Bool, isFailed: Bool = false) -> [String] {
    var warnings: [String] = []
    if items == 0, let found {
      let paths = pagination.items.paths.map(\.place).joined(separator: " or ")
      warnings.append(
        "no item at \(paths) in \(pages.counted("page")); \(found.advice)")
    }
    if let mixture { warnings.append(mixture) }
    if let link {
      warnings.append(
        "what is at \(link.place) is a URL, and goes out as a value: did you mean --send url?")
    }
    guard isExhausted || isFailed && pages > 0 else { return warnings }
    for rule in rules { warnings.append("\(rule.place.complaint) Correct \(rule.option).") }
    guard isExhausted else { return warnings }
    if let shortPage { warnings.append(shortPage) }
    if isBodyless, declared != items, !pagination.end.contains(.emptyPage) {
      warnings.append(
        "the last answer had no body, and was taken for the end of the listing: if the listing may be "
          + "longer, run again, or have the items counted by --total.")
    }
    // A listing without items, with all that was declared, or with a word that it ends is whole.
    if let next, items > 0, declared != items, !hasRule {
      warnings.append("\(next.complaint) If the listing is longer, correct --next.")
    }
    if warnings.isEmpty, !more.isEmpty, pages == 1, items > 0, declared != items, !hasRule {
      let places = more.prefix(3).joined(separator: " and ")
      warnings.append(
        "the first page was taken for the last, and it has \(places): if the listing is longer, it "
          + "is paged in another way, which quire detect finds.")
    }
    return warnings
  }

  /// What to say where the first page was the last for no other reason than that it is short: the
  /// server may give fewer items than it is asked for, and that is how every page of it looks.
  private var shortPage: String? {
    guard let fullPage, pages == 1, items > 0, items < fullPage, declared != items,
      pagination.end.contains(.shortPage)
    else { return nil }
    switch pagination.next {
    case .offset, .pageNumber: break
    default: return nil
    }
    let says = pagination.end.contains { rule in
      switch rule {
      case .flag, .total: rules.isEmpty || hasRule
      case .lastPage, .noNewItems, .notAdvancing: true
      case .noNext, .emptyPage, .shortPage, .sameCursor, .status: false
      }
    }
    guard !says else { return nil }
    return
      "\(fullPage.counted("item")) \(fullPage == 1 ? "was" : "were") asked for and "
      + "\(items) came; only --end short says that this is the last page. If the server gives no "
      + "more than \(items) at a time, use --page-size \(items), or --end empty instead."
  }

  private mutating func look(into page: Page<ExportItem>) {
    guard let document = page.http?.document as? any OutlinedDocument else { return }
    let nodes = document.outline.nodes.filter { !$0.isInList }
    for index in rules.indices { rules[index].place.suggest(among: nodes.map(\.path)) }
    next?.suggest(among: nodes.map(\.path))
    if next != nil, page.next != nil { link = Self.unfollowedLink(of: pagination, in: document) }
    if page.next == nil { more = page.http?.signsOfMore(than: items) ?? [] }
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
    let names = children.prefix(5).map { ServerText($0.name).description }.joined(separator: ", ")
    let lists = nodes.filter { $0.kind == .list }.prefix(5).map(\.path)
    let advice =
      lists.isEmpty
      ? "write --items PATH"
      : "found lists at \(lists.map { ServerText($0).description }.joined(separator: ", ")): use "
        + "--items \(OptionWords.path(lists[0]))"
    return "every element below \(ServerText(root)) was taken for an item, and they are of several "
      + "names (\(names)); \(advice), or --items \(OptionWords.path(root + "/*")) if all are meant."
  }
}
