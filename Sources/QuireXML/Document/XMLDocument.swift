public import QuireCore
public import QuireHTTP

/// A page of XML: its elements, attributes and texts in one compact index, and the paths of a
/// pagination description answered from it.
///
/// The index keeps the page once, as UTF-8, and 20 bytes for each element, attribute and text; there
/// is no object for a node. Source: XML 1.0, fifth edition; Namespaces in XML 1.0.
public struct XMLDocument: PageDocument {
  let index: XMLIndex

  /// The items that are no longer in the index.
  private let forgotten: (path: XMLPath, count: Int)?

  init(index: XMLIndex, forgotten: (path: XMLPath, count: Int)? = nil) {
    self.index = index
    self.forgotten = forgotten
  }

  /// Reads a whole page.
  ///
  /// Throws `truncated` when the root element is not closed, `malformed` when the page is not
  /// well-formed or declares entities, `limitExceeded` where a limit is reached.
  public init(
    _ bytes: [UInt8], limits: XMLLimits = .api, decoding: DecodingLimits = .api,
    leniency: XMLLeniency = []
  ) throws {
    let parser = try XMLPushParser(limits: limits, decoding: decoding, leniency: leniency)
    do throws(XMLFault) {
      try parser.receive(bytes)
      try parser.finish()
    } catch {
      throw error.pageError
    }
    index = parser.takeIndex()
    forgotten = nil
  }

  /// What had to be forgiven.
  public var repairs: XMLLeniency { index.repairs }

  // MARK: Paths

  /// The value at `path`, or nil where there is none: a string without white space around it, an
  /// object for an element that holds others (`XMLItem.value` tells how) and for `@*`.
  ///
  /// Of several places that match, the one nearest to the root counts, and of those the first.
  public func value(at path: PagePath) throws -> JSONValue? {
    try path.xml.flatMap { try index.value(at: $0, from: .document) }
  }

  /// How many elements `path` leads to, those within each other counted once; nil for none. For the
  /// empty path, how many the root element holds.
  public func count(at path: PagePath) -> Int? {
    guard let xml = path.xml else { return nil }
    let forgotten = forgotten.map { $0.path == xml ? $0.count : 0 } ?? 0
    if xml.steps.isEmpty {
      return index.children(of: 0).reduce(forgotten) { count, _ in count + 1 }
    }
    let count = forgotten + index.outermost(index.matches(of: xml, from: .document)).count
    return count == 0 ? nil : count
  }

  /// The value at `path` that the page says of itself: what is in an item, an attribute of its start
  /// tag included, does not count where the path has `//` or `*`.
  public func value(
    at path: PagePath, outsideItemsOf items: ItemSelector
  ) throws -> JSONValue? {
    guard let xml = path.xml, xml.searches else { return try value(at: path) }
    return try index.value(of: index.matches(of: xml, outsideItemsOf: items))
  }

  /// How many elements `path` leads to, those in items left out as in `value(at:outsideItemsOf:)`; the
  /// items themselves are elements like others.
  public func count(at path: PagePath, outsideItemsOf items: ItemSelector) -> Int? {
    guard let xml = path.xml, xml.searches else { return count(at: path) }
    let forgotten = forgotten.map { $0.path == xml ? $0.count : 0 } ?? 0
    let found = index.outermost(index.matches(of: xml, outsideItemsOf: items)).count
    return forgotten + found == 0 ? nil : forgotten + found
  }

  /// The value at `path` below the last item of the page, or nil where there is none.
  public func value(at path: PagePath, inLastItemOf items: ItemSelector) throws -> JSONValue? {
    guard let xml = path.xml, let last = try index.items(of: items).last else { return nil }
    return try index.value(at: xml, from: .element(last))
  }

  /// The value at `path` below each item of the page, in order; nil for an item that has none there.
  public func values(at path: PagePath, inItemsOf items: ItemSelector) throws -> [JSONValue?] {
    guard let xml = path.xml else { return [] }
    return try index.items(of: items).map { try index.value(at: xml, from: .element($0)) }
  }

  /// The `xml:base` in force where `path` finds its value, itself resolved against those around it;
  /// nil when there is none.
  public func base(at path: PagePath) -> String? {
    path.xml.flatMap { index.place(for: $0, from: .document) }.flatMap { index.base(of: $0) }
  }

  /// The `xml:base` in force where `value(at:outsideItemsOf:)` finds its value.
  public func base(at path: PagePath, outsideItemsOf items: ItemSelector) -> String? {
    guard let xml = path.xml, xml.searches else { return base(at: path) }
    return index.nearest(index.matches(of: xml, outsideItemsOf: items)).flatMap {
      index.base(of: $0)
    }
  }
}
