import QuireCore
import QuireHTTP

/// Finding the items.
extension XMLIndex {
  /// The elements that are the page's items, in order; none for an empty page.
  ///
  /// An empty list leaves no trace in XML but the element around it: that one has to be there. So
  /// `/feed/entry` may be empty and `//entry` may not, unless the selector is optional. Throws
  /// `shape`.
  func items(of selector: ItemSelector) throws -> [Int] {
    guard ![.members, .columns].contains(selector.arrangement) else {
      throw PageError(
        .shape, "The page is XML, and the items are members or columns, which only JSON has.")
    }
    var all: [Int] = []
    var hasContainer = false
    for path in selector.paths {
      guard let xml = path.xml else { continue }
      let found = try items(at: xml, path)
      if selector.takesFirst, !found.isEmpty { return found }
      all += found
      hasContainer = hasContainer || !found.isEmpty || hasPlace(for: xml)
    }
    guard hasContainer || selector.absentMeansEmpty else { throw missing(selector) }
    return all
  }

  /// The items of a page that is to have some. Where they are optional, the root element has to be the
  /// right one nonetheless: a page of another kind is no empty page.
  func pageItems(of selector: ItemSelector) throws -> [Int] {
    let items = try items(of: selector)
    guard !items.isEmpty || hasRoot(for: selector) else { throw missing(selector) }
    return items
  }

  /// What a path leads to from the document, but for what is inside items.
  ///
  /// An item itself is found, for a page may say something by having one; its attributes and its text
  /// are its own, unless every child of the root is an item because nothing else was said.
  func matches(of path: XMLPath, outsideItemsOf selector: ItemSelector) -> Matches {
    var matches = matches(of: path, from: .document)
    // A page without items where they should be has none that could speak for it.
    guard !matches.elements.isEmpty, let items = try? items(of: selector), !items.isEmpty else {
      return matches
    }
    let isOwn = matches.tail == nil || selector.paths.contains { $0.xml?.steps.isEmpty ?? false }
    var rest = items.sorted()[...]
    var (start, end) = (0, 0)
    matches.elements.removeAll { node in
      while let item = rest.first, item <= node {
        let next = Int(records[item].next)
        if next > end { (start, end) = (item, next) }
        rest.removeFirst()
      }
      return node < end && !(node == start && isOwn)
    }
    return matches
  }

  /// Whether the root element is one from which a path of the selector starts.
  private func hasRoot(for selector: ItemSelector) -> Bool {
    selector.paths.contains { path in
      guard let xml = path.xml, !xml.startsAnywhere, xml.steps.count > 1,
        case .element(let name, _) = xml.steps[0]
      else { return true }
      let root = XMLPath(startsAnywhere: false, steps: [.element(name, [])])
      return !matches(of: root, from: .document).elements.isEmpty
    }
  }

  private func items(at xml: XMLPath, _ path: PagePath) throws -> [Int] {
    if xml.steps.isEmpty { return Array(children(of: 0)) }
    let matches = matches(of: xml, from: .document)
    guard matches.tail == nil else {
      throw PageError(
        .shape,
        "Items are elements, but \"\(path)\" leads to attributes or text. Leave its last step out.")
    }
    return outermost(matches)
  }

  /// Whether the element that would hold the items is there.
  private func hasPlace(for xml: XMLPath) -> Bool {
    if xml.steps.isEmpty { return true }
    guard xml.steps.count > 1 else { return false }
    let container = XMLPath(startsAnywhere: xml.startsAnywhere, steps: xml.steps.dropLast())
    return !matches(of: container, from: .document).elements.isEmpty
  }

  private func missing(_ selector: ItemSelector) -> PageError {
    let paths = selector.paths.map(\.place).joined(separator: " or ")
    let optional = ", or use .items(at: .optional(\"\(selector.paths.first?.text ?? "")\"))"
    return PageError(
      .shape,
      """
      The page has no items at \(paths). \(advice()) Where no item can be a right answer, write the \
      path from the root down\(selector.absentMeansEmpty ? "" : optional).
      """)
  }

  /// Names the elements that stand side by side with others of their name.
  private func advice() -> String {
    let root = "/" + name(of: 0).local
    var paths: [String] = []
    for (path, node) in [(root, 0)]
      + children(of: 0).prefix(100).map({ (root + "/" + name(of: $0).local, $0) })
    {
      var counts: [String: Int] = [:]
      for child in children(of: node).prefix(100) { counts[name(of: child).local, default: 0] += 1 }
      paths += counts.filter { $0.value > 1 }.keys.sorted().map { path + "/" + $0 }
    }
    guard !paths.isEmpty else {
      return "Its root element is \"\(ServerText(name(of: 0).qualified))\"."
    }
    return "Found lists at \(PagePath.advice(Array(paths.prefix(5))))"
  }
}
