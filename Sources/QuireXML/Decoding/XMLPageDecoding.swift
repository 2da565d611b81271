import QuirePagination
import QuireCore

/// One page of XML being decoded into items of any type.
struct XMLPageDecoding<Item: Sendable>: PageDecoding {
  /// Returns, for the nodes of a page's items, a function that makes the nth item.
  typealias Strategy = (XMLIndex, [Int]) throws -> (Int) throws -> Item

  private let context: DecodingContext
  private let strategy: Strategy
  private let parser: XMLPushParser
  private let matcher: XMLItemMatcher?
  private var index: XMLIndex?
  /// The items of the complete page, once they were found.
  private var nodes: [Int]?
  /// The number of items delivered before the page was complete, bad items included.
  private var deliveredCount = 0
  /// The number of bytes that bad items have beyond `growth` times their size in the page.
  private var excess = 0
  /// Whether the page has a fault, which is thrown by the first call after its items are delivered.
  private var hasFault = false

  init(
    _ context: DecodingContext, limits: XMLLimits, leniency: XMLLeniency,
    strategy: @escaping Strategy
  ) throws {
    self.context = context
    self.strategy = strategy
    matcher = context.delivery == .asItArrives ? XMLItemMatcher(context.items) : nil
    let type = MediaType(context.contentType)
    parser = try XMLPushParser(
      limits: limits, decoding: context.limits, leniency: leniency, charset: type.charset,
      isDeclaredHTML: type.isHTML, items: matcher)
  }

  mutating func receive(_ slice: [UInt8]) throws {
    do throws(XMLFault) {
      try parser.receive(slice)
    } catch {
      // Items before the fault are delivered first, so that the ends of slices make no difference.
      if matcher == nil || hasFault { throw try finalError(for: error) }
      hasFault = true
    }
  }

  mutating func readyItems() throws -> DecodedItems<Item> {
    let items = try takeItems(all: hasFault)
    if items.count == 0, let fault = parser.fault { throw fault.pageError }
    return items
  }

  /// Returns the error of the page, after decoding the items before it, which may throw another.
  private mutating func finalError(for fault: XMLFault) throws -> PageError {
    hasFault = true
    while try takeItems(all: true).count > 0 {}
    return fault.pageError
  }

  private mutating func takeItems(all: Bool) throws -> DecodedItems<Item> {
    guard matcher != nil else { return DecodedItems([]) }
    let isTooLarge = parser.openItemBytes > context.limits.itemBytes
    if let (index, nodes) = parser.takeItems(all: all || isTooLarge) {
      return try decode(nodes, in: index)
    }
    if isTooLarge { throw context.limits.tooLarge(item: deliveredCount) }
    return DecodedItems([])
  }

  mutating func finish() throws -> any PageDocument {
    do throws(XMLFault) {
      try parser.finish()
    } catch {
      throw try finalError(for: error)
    }
    let index = parser.takeIndex()
    self.index = index
    return XMLDocument(
      index: index, forgotten: matcher.map { ($0.path, parser.forgottenItems) })
  }

  mutating func itemCount() throws -> Int? { try find().nodes.count }

  mutating func items() throws -> DecodedItems<Item> {
    let (nodes, index) = try find()
    return try decode(nodes, in: index)
  }

  private mutating func find() throws -> (nodes: [Int], index: XMLIndex) {
    guard let index else {
      preconditionFailure(
        "A page was asked for its items before finish(), which makes the document.")
    }
    let found =
      try nodes ?? (deliveredCount > 0 ? parser.wholeItems : index.pageItems(of: context.items))
    nodes = found
    return (found, index)
  }

  // MARK: Items

  private mutating func decode(_ nodes: [Int], in index: XMLIndex) throws -> DecodedItems<Item> {
    let make = try strategy(index, nodes)
    var items: [Item] = []
    items.reserveCapacity(nodes.count)
    var badItems: [BadItem] = []
    var places = XMLPlaceFinder(index)
    var digests: [Int]? = matcher == nil ? nil : []
    var sample = PageSample()
    sample.edges.reserve(for: nodes.count)
    for (number, node) in nodes.enumerated() {
      sample.add(itemAt: deliveredCount + number) { index.look(at: node, &$0) }
      if PageEdges.takes(deliveredCount + number, of: deliveredCount + nodes.count) {
        let written = UnsafeRawBufferPointer(index.value(of: node))
        sample.edges.add(ContentDigest.sketch(of: written))
      }
      do {
        try check(number, node, in: index)
        items.append(try make(number))
        digests?.append(Self.digest(CollectionOfOne(node), in: index))
      } catch let failure as XMLItemFailure {
        let item = try failure.settle(
          context.badItems, number: deliveredCount + number, item: node, in: index, places: &places)
        try checkGrowth(item.bytes.count, of: Int(index.record(node).length))
        badItems.append(item)
      }
    }
    deliveredCount += nodes.count
    var result = DecodedItems(items, badItems: badItems)
    result.digests = digests
    if !nodes.isEmpty { result.sample = sample }
    if matcher == nil, !nodes.isEmpty { result.fingerprint = Self.digest(nodes, in: index) }
    return result
  }

  private static func digest(_ nodes: some Sequence<Int>, in index: XMLIndex) -> Int {
    var digest = ContentDigest.stored
    for node in nodes { digest.add(UnsafeRawBufferPointer(index.value(of: node))) }
    return digest.value
  }

  private func check(_ number: Int, _ node: Int, in index: XMLIndex) throws {
    guard deliveredCount + number < context.limits.items else {
      throw context.limits.tooManyItems()
    }
    if Int(index.record(node).length) > context.limits.itemBytes {
      var places = XMLPlaceFinder(index)
      throw context.limits.tooLarge(
        item: deliveredCount + number, "at \(places.place(of: node)), ")
    }
  }

  /// The factor by which bad items may grow, because each gets a copy of the namespaces around it.
  /// No honest page grows by more.
  private static var growth: Int { 64 }

  private mutating func checkGrowth(_ bytes: Int, of ownBytes: Int) throws {
    excess += bytes - Self.growth * ownBytes
    guard excess > context.limits.itemBytes else { return }
    throw PageError(
      .limitExceeded,
      """
      With the namespaces around them, the bad items of the page are more than \(Self.growth) times \
      as large as they are in it.
      """, remedies: [.raise(.init("DecodingLimits.itemBytes"))])
  }
}
