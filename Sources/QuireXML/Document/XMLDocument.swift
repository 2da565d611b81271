public import QuireCore
public import QuirePagination

/// A page of XML: a compact index of its elements, attributes and texts, which is queried by the
/// paths of a pagination description.
///
/// The index keeps the page once, as UTF-8, and 20 bytes for each element, attribute and text;
/// there is no object for a node. Source: XML 1.0, fifth edition; Namespaces in XML 1.0.
public struct XMLDocument: PageDocument {
  let index: XMLIndex

  /// The path and the number of the items that were delivered and are no longer in the index.
  private let forgotten: (path: XMLPath, count: Int)?

  init(index: XMLIndex, forgotten: (path: XMLPath, count: Int)? = nil) {
    self.index = index
    self.forgotten = forgotten
  }

  /// Parses a complete page.
  ///
  /// Throws `truncated` when the root element is not closed, `malformed` when the page is not
  /// well-formed or declares entities, `limitExceeded` when it exceeds a limit.
  public init(
    _ bytes: [UInt8], limits: XMLLimits = .api, decoding: DecodingLimits = .api,
    leniency: XMLLeniency = []
  ) throws {
    let parser = try XMLPushParser(limits: limits, decoding: decoding, leniency: leniency)
    self.init(index: try parser.index(of: bytes))
  }

  /// The breaches in the page that leniency accepted.
  public var repairs: XMLLeniency { index.repairs }

  // MARK: Paths

  /// Returns the value at `path`, nil if there is none: a string without white space around it, or
  /// an object for an element with child elements (as `XMLItem.value` maps it) and for `@*`.
  ///
  /// Of several matches, the first of those nearest the root counts. Throws `shape` for a path with
  /// a prefix of the page's names.
  public func value(at path: PagePath) throws -> JSONValue? {
    try index.checkPrefix(of: path)
    return try path.xml.flatMap { try index.value(at: $0, from: .document) }
  }

  /// Returns the number of elements at `path`, without matches inside another match; nil for none.
  /// For the empty path, returns the number of the root's child elements.
  public func count(at path: PagePath) -> Int? {
    guard let xml = path.xml else { return nil }
    let forgotten = forgotten.map { $0.path == xml ? $0.count : 0 } ?? 0
    if xml.steps.isEmpty {
      return index.children(of: 0).reduce(forgotten) { count, _ in count + 1 }
    }
    let count = forgotten + index.outermost(index.matches(of: xml, from: .document)).count
    return count == 0 ? nil : count
  }

  /// Returns the value at `path` outside the items: if the path has `//` or `*`, matches inside an
  /// item do not count, nor do the attributes of its start tag.
  public func value(
    at path: PagePath, outsideItemsOf items: Pagination.Items
  ) throws -> JSONValue? {
    guard let xml = path.xml, xml.searches else { return try value(at: path) }
    return try index.value(of: index.matches(of: xml, outsideItemsOf: items))
  }

  /// Returns the number of elements at `path` outside the items, as in `value(at:outsideItemsOf:)`;
  /// items themselves count.
  public func count(at path: PagePath, outsideItemsOf items: Pagination.Items) -> Int? {
    guard let xml = path.xml, xml.searches else { return count(at: path) }
    let forgotten = forgotten.map { $0.path == xml ? $0.count : 0 } ?? 0
    let found = index.outermost(index.matches(of: xml, outsideItemsOf: items)).count
    return forgotten + found == 0 ? nil : forgotten + found
  }

  /// Returns the value at `path` in the last item of the page, nil if there is none.
  public func value(at path: PagePath, inLastItemOf items: Pagination.Items) throws -> JSONValue? {
    try index.checkPrefix(of: path)
    guard let xml = path.xml, let last = try index.items(of: items).last else { return nil }
    return try index.value(at: xml, from: .element(last))
  }

  /// Returns the value at `path` in each item of the page, in order; nil for an item without one.
  public func values(at path: PagePath, inItemsOf items: Pagination.Items) throws -> [JSONValue?] {
    try index.checkPrefix(of: path)
    guard let xml = path.xml else { return [] }
    return try index.items(of: items).map { try index.value(at: xml, from: .element($0)) }
  }

  /// Returns the `xml:base` in force at the value of `path`, resolved against those around it; nil
  /// if there is none.
  public func base(at path: PagePath) -> String? {
    path.xml.flatMap { index.place(for: $0, from: .document) }.flatMap { index.base(of: $0) }
  }

  /// Returns the `xml:base` in force at the value that `value(at:outsideItemsOf:)` returns.
  public func base(at path: PagePath, outsideItemsOf items: Pagination.Items) -> String? {
    guard let xml = path.xml, xml.searches else { return base(at: path) }
    return index.nearest(index.matches(of: xml, outsideItemsOf: items)).flatMap {
      index.base(of: $0)
    }
  }
}

extension XMLDocument: OutlinedDocument {
  package var outline: PageOutline { index.outline }
}

extension XMLIndex {
  /// An outline of the page by local names; of sibling elements of one name, it has the first.
  var outline: PageOutline {
    let name = name(of: 0).local
    let root = described(0, PageOutline.Node("/" + name, name: name, .scalar, depth: 1))
    return PageOutline(of: (0, root)) { node, parent in
      attributes(of: node, parent) + elements(in: node, parent)
    }
  }

  private typealias Child = PageOutline.Child

  private func attributes(of node: Int, _ parent: PageOutline.Node) -> [Child] {
    attributes(of: node).prefix(PageOutline.mostNodes).compactMap { attribute in
      let name = name(of: attribute).local
      guard PageOutline.keeps(name: name) else { return nil }
      var child = PageOutline.Node(
        "\(parent.path)/@\(name)", name: name, .scalar, depth: parent.depth + 1)
      child.isInList = parent.isInList
      let text = value(of: attribute)
      if text.count <= PageOutline.longestText {
        child.value = .string(String(decoding: text, as: UTF8.self))
      }
      return (attribute, child)
    }
  }

  private func elements(in node: Int, _ parent: PageOutline.Node) -> [Child] {
    var groups: [(name: String, nodes: [Int])] = []
    var places: [String: Int] = [:]
    for child in children(of: node) {
      let name = name(of: child).local
      guard PageOutline.keeps(name: name) else { continue }
      if let place = places[name] {
        groups[place].nodes.append(child)
      } else if groups.count < PageOutline.mostNodes {
        places[name] = groups.count
        groups.append((name, [child]))
      }
    }
    return groups.flatMap { group -> [Child] in
      let node = PageOutline.Node(
        "\(parent.path)/\(group.name)", name: group.name, .scalar, depth: parent.depth + 1)
      return links(in: group.nodes, node, parent) + [child(group.nodes, node, parent)]
    }
  }

  private func child(
    _ nodes: [Int], _ outline: PageOutline.Node, _ parent: PageOutline.Node
  ) -> Child {
    var child = described(nodes[0], outline)
    child.isInList = parent.isInList || parent.kind == .list
    guard nodes.count > 1 else { return (nodes[0], child) }
    child.holdsObjects = child.kind == .object
    child.kind = .list
    child.value = nil
    child.count = nodes.count
    return (nodes[0], child)
  }

  /// Returns the link to the next page among sibling elements, as in Atom.
  private func links(
    in nodes: [Int], _ outline: PageOutline.Node, _ parent: PageOutline.Node
  ) -> [Child] {
    guard outline.name.lowercased() == "link", !parent.isInList, parent.kind != .list else {
      return []
    }
    for node in nodes.prefix(PageOutline.longestLinkList) {
      let own = attributes(of: node).map { (name(of: $0).local, string(of: $0)) }
      guard own.contains(where: { $0.0 == "rel" && LinkRelation.areSame($0.1.utf8, "next".utf8) }),
        let target = own.first(where: { $0.0 == "href" })?.1, PageOutline.keeps(target)
      else { continue }
      var child = PageOutline.Node(
        outline.path + "[@rel='next']/@href", name: "next", .scalar, depth: outline.depth)
      child.value = .string(target)
      return [(node, child)]
    }
    return []
  }

  private func described(_ node: Int, _ outline: PageOutline.Node) -> PageOutline.Node {
    var outline = outline
    let count = children(of: node).prefix(PageOutline.mostNodes).reduce(0) { count, _ in count + 1 }
    let attributes = attributes(of: node).prefix(1).reduce(0) { count, _ in count + 1 }
    if count + attributes > 0 {
      outline.kind = .object
      outline.count = count
    }
    if count == 0, let text = trimmedText(of: node), PageOutline.keeps(text) {
      outline.value = .string(text)
    }
    return outline
  }
}

/// A finder of the places of nodes, in one pass over the page for many nodes in order: a page may
/// be full of bad items.
struct XMLPlaceFinder {
  private let index: XMLIndex
  /// The place of the byte `offset` of the source.
  private var place: XMLPlace
  private var offset = 0

  init(_ index: XMLIndex) {
    self.index = index
    place = index.origin
  }

  mutating func place(of node: Int) -> XMLPlace {
    let start = min(Int(index.record(node).start), index.source.count)
    if start < offset { self = XMLPlaceFinder(index) }
    place.advance(over: UnsafeBufferPointer(rebasing: index.source[offset..<start]))
    offset = start
    return place
  }
}

/// A place in a page, counted in its UTF-8 text.
struct XMLPlace: CustomStringConvertible {
  /// The number of bytes before the place.
  var offset = 0
  /// The line, from 1.
  var line = 1
  /// The column in bytes, from 1.
  var column = 1

  var description: String { "line \(line), column \(column)" }

  /// Moves past these bytes, in linear time.
  mutating func advance(over bytes: UnsafeBufferPointer<UInt8>) {
    var lines = 0
    for byte in bytes where byte == UInt8(ascii: "\n") { lines += 1 }
    offset += bytes.count
    line += lines
    let last = lines == 0 ? nil : bytes.lastIndex(of: UInt8(ascii: "\n"))
    column = last.map { bytes.count - $0 } ?? column + bytes.count
  }
}
