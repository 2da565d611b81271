import QuireCore
import QuirePagination

/// Following paths. Each step takes time linear in the page: an element is visited once as a child
/// and once as a parent.
extension XMLIndex {
  /// The start of a path.
  enum Context {
    /// The document, around the root element.
    case document
    /// An element; `/` is the element itself.
    case element(Int)
  }

  /// The matches of a path.
  struct Matches {
    /// The matching elements, in document order; for a path to attributes or text, the elements
    /// around them.
    var elements: [Int]
    /// The last step of the path, if it is an attribute or text.
    var tail: XMLPath.Step?
    /// See `XMLPath.keepsSpaces`.
    var keepsSpaces = false
  }

  func matches(of path: XMLPath, from context: Context) -> Matches {
    var steps = path.steps[...]
    var tail: XMLPath.Step?
    switch steps.last {
    case .attribute?, .text?: tail = steps.removeLast()
    case .element?, nil: break
    }
    var elements: [Int]
    if path.startsAnywhere, case .element(let name, let predicates)? = steps.popFirst() {
      elements = descendants(of: context, name, predicates)
    } else if path.startsAnywhere {
      elements = span(of: context).filter { records[$0].kind == .element }
    } else {
      elements = first(steps.popFirst(), in: context)
    }
    for case .element(let name, let predicates) in steps {
      let test = NameTest(name, in: self, for: span(of: context))
      elements = elements.flatMap { select(children(of: $0).filter(test.passes), predicates) }
    }
    return Matches(elements: elements.sorted(), tail: tail, keepsSpaces: path.keepsSpaces)
  }

  private func span(of context: Context) -> Range<Int> {
    switch context {
    case .document: 0..<records.count
    case .element(let node): node..<Int(records[node].next)
    }
  }

  private func first(_ step: XMLPath.Step?, in context: Context) -> [Int] {
    guard case .element(let name, let predicates)? = step else {
      if case .element(let node) = context { return [node] }
      return [0]
    }
    let test = NameTest(name, in: self, for: span(of: context))
    switch context {
    case .document: return select([0].filter(test.passes), predicates)
    case .element(let node): return select(children(of: node).filter(test.passes), predicates)
    }
  }

  private func descendants(
    of context: Context, _ name: XMLPath.Name, _ predicates: [XMLPath.Predicate]
  ) -> [Int] {
    let span = span(of: context)
    let test = NameTest(name, in: self, for: span)
    if !predicates.contains(where: \.isPositional) {
      let below = context.isDocument ? span : span.dropFirst()
      return below.filter { node in
        test.passes(node) && predicates.allSatisfy { passes(node, $0) }
      }
    }
    var found = context.isDocument ? select([0].filter(test.passes), predicates) : []
    for parent in span where records[parent].kind == .element {
      found += select(children(of: parent).filter(test.passes), predicates)
    }
    return found
  }

  // MARK: Predicates

  /// Returns the elements, all of one parent, that pass every predicate in turn.
  private func select(_ elements: [Int], _ predicates: [XMLPath.Predicate]) -> [Int] {
    predicates.reduce(elements) { rest, predicate in
      switch predicate {
      case .position(let position): position <= rest.count ? [rest[position - 1]] : []
      case .last: rest.suffix(1)
      case .equals, .exists, .contains, .not: rest.filter { passes($0, predicate) }
      }
    }
  }

  private func passes(_ node: Int, _ predicate: XMLPath.Predicate) -> Bool {
    switch predicate {
    case .position, .last: true
    case .equals(.child(let name), let wanted):
      holds(node, .child(name)) { XMLText.trimmed($0).elementsEqual(wanted.utf8) }
    case .equals(.attribute(let name), let wanted):
      holds(node, .attribute(name)) { name.hasValue($0, wanted) }
    case .equals(let operand, let wanted):
      holds(node, operand) { $0.elementsEqual(wanted.utf8) }
    case .exists(let operand): holds(node, operand) { _ in true }
    case .contains(let operand, let part):
      holds(node, operand) { String(decoding: $0, as: UTF8.self).contains(part) }
    case .not(let predicate): !passes(node, predicate)
    }
  }

  /// Whether a value of an operand passes a test.
  private func holds(
    _ node: Int, _ operand: XMLPath.Operand, _ test: (UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    switch operand {
    case .attribute(let name):
      attributes(of: node).contains { matches(name, $0) && test(value(of: $0)) }
    case .child(let name):
      children(of: node).contains { child in matches(name, child) && withText(of: child, test) }
    case .childAttribute(let name, let attribute):
      children(of: node).contains { matches(name, $0) && holds($0, .attribute(attribute), test) }
    }
  }

  /// Whether the name of an element or attribute matches a name of a path.
  func matches(_ wanted: XMLPath.Name, _ node: Int) -> Bool {
    names[records[node].name].matches(wanted)
  }

  /// A test of the names of elements in a span. It compares each name of the page once, unless
  /// there are more names than nodes, because a path may be followed from each of many items.
  private struct NameTest {
    private let index: XMLIndex
    private let wanted: XMLPath.Name
    private let isWanted: [Bool]

    init(_ wanted: XMLPath.Name, in index: XMLIndex, for span: Range<Int>) {
      self.index = index
      self.wanted = wanted
      isWanted = span.count < index.names.count ? [] : index.names.map { $0.matches(wanted) }
    }

    func passes(_ node: Int) -> Bool {
      let record = index.records[node]
      guard record.kind == .element else { return false }
      return isWanted.isEmpty ? index.matches(wanted, node) : isWanted[record.name]
    }
  }
}

extension XMLIndex.Name {
  /// Whether this name matches a name of a path.
  func matches(_ wanted: XMLPath.Name) -> Bool {
    switch wanted {
    case .any: true
    case .local(let local, let namespace):
      self.local == local && (namespace == nil || namespace == self.namespace ?? "")
    }
  }
}

extension XMLPath.Name {
  /// Whether the value of an attribute of this name is the wanted one, for a relation in any of its
  /// spellings.
  func hasValue(_ written: UnsafeBufferPointer<UInt8>, _ wanted: String) -> Bool {
    guard case .local("rel", _) = self else { return written.elementsEqual(wanted.utf8) }
    return LinkRelation.areSame(written, wanted.utf8)
  }
}

/// The spellings of a link's relation.
package enum LinkRelation {
  /// What stands in front of the name of a registered relation in its URI, which has to be taken for
  /// the name alone (RFC 4287, section 4.2.7.2).
  private static let registry = "http://www.iana.org/assignments/relation/"

  /// Returns the bytes of a relation without those of the registry.
  package static func name<Bytes: Collection<UInt8>>(_ relation: Bytes) -> Bytes.SubSequence {
    relation.dropFirst(relation.starts(with: registry.utf8) ? registry.utf8.count : 0)
  }

  /// Whether two relations are the same; their case does not count (RFC 8288, section 2.1.1).
  static func areSame(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
    name(one).elementsEqual(name(other)) { XMLText.lowercased($0) == XMLText.lowercased($1) }
  }
}

extension XMLIndex.Context {
  var isDocument: Bool { if case .document = self { true } else { false } }
}

extension XMLPath.Predicate {
  fileprivate var isPositional: Bool {
    switch self {
    case .position, .last: true
    case .equals, .exists, .contains, .not: false
    }
  }
}

extension XMLIndex {
  /// Returns the path from an item to a node; empty for the item itself.
  func path(to node: Int, below item: Int) -> String {
    var steps: [String] = []
    var node = node
    while node > item {
      let isElement = records[node].kind == .element
      steps.append((isElement ? "/" : "/@") + name(of: node).qualified + suffix(of: node))
      node = Int(records[node].parent)
    }
    return steps.reversed().joined()
  }

  /// Returns `[n]` for one of several siblings of the same name.
  private func suffix(of node: Int) -> String {
    guard records[node].kind == .element else { return "" }
    let name = records[node].name
    let same = children(of: Int(records[node].parent)).filter { records[$0].name == name }
    guard same.count > 1, let position = same.firstIndex(of: node) else { return "" }
    return "[\(position + 1)]"
  }
}

/// Finding the items.
extension XMLIndex {
  /// Returns the elements that are the page's items, in order; none for an empty page.
  ///
  /// In XML, only the element around an empty list shows that the list is there, so that element
  /// must exist: `/feed/entry` may match nothing, but `//entry` may not, unless the selector is
  /// optional. Throws `shape`.
  func items(of selector: Pagination.Items) throws -> [Int] {
    guard ![.members, .columns].contains(selector.arrangement) else {
      throw PageError(
        .shape, "The page is XML, and the items are members or columns, which only JSON has.")
    }
    var all: [Int] = []
    var hasContainer = false
    for path in selector.paths {
      try checkPrefix(of: path)
      guard let xml = path.xml else { continue }
      let found = try items(at: xml, path)
      if selector.takesFirst, !found.isEmpty { return found }
      all += found
      hasContainer = hasContainer || !found.isEmpty || hasPlace(for: xml)
    }
    let canBeEmpty = selector.absentMeansEmpty && selector.paths.contains { $0.xml != nil }
    guard hasContainer || canBeEmpty else { throw missing(selector) }
    return all
  }

  /// Throws `shape` for a path with a prefix of the page's names, because it would find nothing.
  func checkPrefix(of path: PagePath) throws {
    guard let fault = path.prefixFault, names.contains(where: { $0.prefix == fault.prefix }) else {
      return
    }
    throw fault.error
  }

  /// Returns the items of a page that should have some. Even if they are optional, the root element
  /// must be the one in the selector, and not hold text alone: another kind of page is not an empty
  /// page.
  func pageItems(of selector: Pagination.Items) throws -> [Int] {
    let items = try items(of: selector)
    guard items.isEmpty else { return items }
    // An empty list shows only its container, which an error page may have as well.
    let isError = !selector.absentMeansEmpty && outline.failureWords?.isError == true
    guard hasRoot(for: selector), !isError, !isText else { throw missing(selector) }
    return []
  }

  /// Whether the page is an element around a text, such as a notice in place of a page.
  private var isText: Bool { hasWords(0) && !hasChildren(0) }

  /// Returns the matches of a path in the document, except those inside items.
  ///
  /// An item itself matches, because its presence may mean something. Its attributes and its text
  /// do not, unless the selector has an empty path, which makes every child of the root an item.
  func matches(of path: XMLPath, outsideItemsOf selector: Pagination.Items) -> Matches {
    var matches = matches(of: path, from: .document)
    // If there are no items, no match can be inside one.
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

  /// Whether the root element is the one with which a path of the selector starts.
  private func hasRoot(for selector: Pagination.Items) -> Bool {
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

  /// Whether the element that would hold the items exists.
  private func hasPlace(for xml: XMLPath) -> Bool {
    if xml.steps.isEmpty { return true }
    guard xml.steps.count > 1 else { return false }
    let container = XMLPath(startsAnywhere: xml.startsAnywhere, steps: xml.steps.dropLast())
    return !matches(of: container, from: .document).elements.isEmpty
  }

  private func missing(_ selector: Pagination.Items) -> PageError {
    let paths = selector.paths.map(\.place).joined(separator: " or ")
    if let words = outline.failureWords, words.isError {
      return PageError(.shape, "The page has no items at \(paths). \(words.sentence)")
    }
    if isText {
      return PageError(
        .shape,
        "The page has no items at \(paths). Its root element \"\(ServerText(name(of: 0).qualified))\" holds "
          + "only the text \"\(ServerText(trimmedText(of: 0) ?? "", limit: 200))\".")
    }
    let found = outline.listsNearRoot.map(\.path)
    let words =
      found.isEmpty
      ? "Its root element is \"\(ServerText(name(of: 0).qualified))\"."
      : "Found lists at \(found.map { ServerText($0).description }.joined(separator: ", "))."
    // A path with `//` does not show where the items would be.
    let searches = selector.paths.contains { $0.xml?.startsAnywhere == true }
    let advice =
      searches ? " Where no item can be a right answer, write the path from the root down." : ""
    return PageError(
      .shape, "The page has no items at \(paths). \(words)\(advice)",
      remedies: [.items(at: found)].compactMap(\.self)
        + (selector.absentMeansEmpty || selector.paths.allSatisfy { $0.xml == nil }
          ? [] : [.optional(selector, condition: "for a server that leaves an empty list out")]))
  }
}

/// A matcher that finds by its start tag whether an element is an item of the page.
///
/// That is possible for a single path whose predicates, if any, are about attributes. A state is a
/// set of bits: bit n of an element is set if the first n steps of the path lead to it.
struct XMLItemMatcher {
  private struct Step {
    let name: XMLPath.Name
    let predicates: [XMLPath.Predicate]
  }

  /// The path of the items.
  let path: XMLPath
  private let steps: [Step]
  /// The steps of the path that each name of the page matches, as bits.
  private var fits: [UInt64] = []
  /// The states of the document and of each open element, from the root down.
  private var states: [UInt64] = [1]

  /// Fails if the path cannot be matched by start tags alone.
  init?(_ selector: Pagination.Items) {
    guard selector.paths.count == 1, let path = selector.paths[0].xml, path.steps.count < 63 else {
      return nil
    }
    var steps: [Step] = []
    for step in path.steps {
      guard case .element(let name, let predicates) = step, predicates.allSatisfy(\.isOfAttribute)
      else { return nil }
      steps.append(Step(name: name, predicates: predicates))
    }
    self.path = path
    // Without steps, the items are the root element's children.
    let any = Step(name: .any, predicates: [])
    self.steps = steps.isEmpty ? [any, any] : steps
  }

  /// Enters an element, and returns whether the path leads to it.
  mutating func opened(
    name: UInt32, in names: XMLNameTable, has: (XMLPath.Predicate) -> Bool
  ) -> Bool {
    while fits.count <= Int(name) { fits.append(fit(of: names.entries.base[fits.count])) }
    let around = states[states.count - 1] | (path.startsAnywhere ? 1 : 0)
    var reached = around & fits[Int(name)]
    if reached != 0 {
      for (number, step) in steps.enumerated()
      where reached & 1 << number != 0 && !step.predicates.allSatisfy(has) {
        reached &= ~(1 << number)
      }
    }
    states.append(reached << 1)
    return reached & 1 << (steps.count - 1) != 0
  }

  /// Leaves the innermost element.
  mutating func closed() { states.removeLast() }

  private func fit(of entry: XMLNameTable.Entry) -> UInt64 {
    var fits: UInt64 = 0
    for (number, step) in steps.enumerated() where entry.matches(step.name) { fits |= 1 << number }
    return fits
  }
}

extension XMLPath.Predicate {
  fileprivate var isOfAttribute: Bool {
    if case .equals(.attribute, _) = self { true } else { false }
  }
}
