import QuirePagination
import QuireCore

/// One page of JSON being decoded into items of any type.
struct JSONPageDecoding<Item: Sendable>: PageDecoding {
  /// The way in which items are made.
  struct Strategy: Sendable {
    /// Which unpaired surrogates in escapes are accepted.
    var surrogates = JSONDocument.Surrogates.inValues
    /// Returns, for a page, a function that makes the item at a node.
    var makeItemDecoder: @Sendable (JSONDocument) -> (Int) throws -> Item
  }

  let context: DecodingContext
  private let strategy: Strategy
  /// The page so far; with a splitter, only its beginning.
  var bytes: [UInt8] = []
  private var document: JSONDocument?
  /// The lists of the page's items and the document that holds them, once they were found.
  private var arranged: (document: JSONDocument, lists: [Int])?
  /// The splitter of the page; nil unless items are delivered as they arrive, and are in one list.
  var splitter: JSONItemSplitter?
  /// Whether the splitter has received the beginning of the page.
  var hasBegun = false
  /// The number of items delivered before the page was complete, bad items included.
  var deliveredCount = 0
  /// The error of the next item, to be thrown after the items before it.
  var pendingError: (any Error)?

  init(_ context: DecodingContext, _ strategy: Strategy) {
    self.context = context
    self.strategy = strategy
    if context.delivery == .asItArrives {
      splitter = JSONItemSplitter(context.items, limits: context.limits)
    }
  }

  mutating func receive(_ slice: [UInt8]) throws {
    if splitter != nil {
      try arrive(slice)
    } else if bytes.isEmpty {
      bytes = slice
    } else {
      let expected = min(context.expectedBytes ?? 0, Self.mostExpected) + JSONScanner.padding
      if bytes.capacity < expected { bytes.reserveCapacity(expected) }
      bytes += slice
    }
  }

  /// The most bytes to reserve at once, 16 MiB, because a declared length may be false.
  private static var mostExpected: Int { 16 << 20 }

  mutating func finish() throws -> any PageDocument {
    let document: JSONDocument
    if splitter != nil {
      document = try finishArrival()
    } else {
      // Moved, not copied, so that the padding is appended in place.
      var page: [UInt8] = []
      swap(&page, &bytes)
      try JSONMediaType.check(page, contentType: context.contentType)
      document = try JSONDocument(consume page, limits: context.limits)
    }
    try document.checkEnvelope(outside: context.items)
    self.document = document
    return document
  }

  mutating func itemCount() throws -> Int? {
    guard splitter?.hasList != true else { return nil }
    let (document, lists) = try arrange()
    return document.itemCount(of: lists)
  }

  private mutating func arrange() throws -> (document: JSONDocument, lists: [Int]) {
    if let arranged { return arranged }
    guard let page = document else {
      preconditionFailure(
        "A page was asked for its items before finish(), which makes the document.")
    }
    let found = try page.arranged(for: context.items)
    try checkLimits(found.lists, in: found.document)
    arranged = found
    return found
  }

  mutating func items() throws -> DecodedItems<Item> {
    if splitter?.hasList == true {
      let rest = try takeItems()
      if let pendingError { throw pendingError }
      return rest
    }
    let (document, lists) = try arrange()
    var decoded = try decode(lists, in: document)
    if decoded.count > 0 {
      decoded.fingerprint = document.digest(of: lists)
      decoded.sample = document.sample(of: lists)
    }
    return decoded
  }

  /// Decodes the items of `lists`. `first` is the index in its page of the first item.
  func decode(
    _ lists: [Int], in document: JSONDocument, from first: Int = 0, withDigests: Bool = false
  ) throws -> DecodedItems<Item> {
    let make = strategy.makeItemDecoder(document)
    var items: [Item] = []
    items.reserveCapacity(document.itemCount(of: lists))
    var badItems: [BadItem] = []
    var index = first
    var digests: [Int]? = withDigests ? [] : nil
    for list in lists {
      for node in document.elements(of: list) {
        do {
          if document.hasFlaws {
            try document.refuseFlaws(in: node, ignoring: strategy.surrogates)
          }
          items.append(try make(node))
          digests?.append(document.digest(of: CollectionOfOne(node)))
        } catch let error as CancellationError {
          throw error
        } catch {
          let flaw = flaw(behind: error, in: node, of: document)
          let path = flaw.map { document.pointer(to: $0, from: node) }
          let cause = flaw.map { document.flawError(at: $0) as any Error } ?? error
          badItems.append(
            try ItemFailure(cause, at: index, path: path)
              .settle(context.badItems, bytes: document.bytes[document.range(of: node)]))
        }
        index += 1
      }
    }
    var result = DecodedItems(items, badItems: badItems)
    if withDigests {
      result.digests = digests
      result.sample = document.sample(of: lists, from: first)
    }
    return result
  }

  /// Returns the flawed value that made an item fail, nil if something else did: half a surrogate
  /// pair in text that was not read is not the reason.
  private func flaw(behind error: any Error, in node: Int, of document: JSONDocument) -> Int? {
    if let flaw = document.flaw(in: node, ignoring: strategy.surrogates) { return flaw }
    switch (error as? LocatedDecodingError)?.underlying ?? error {
    case DecodingError.dataCorrupted:
      let path = ItemFailure(error, at: 0).path
      return document.flaw(in: node) {
        path.isEmpty || "\(document.pointer(to: $0, from: node))/".hasPrefix("\(path)/")
      }
    case let error as PageError:
      return document.flaw(in: node) { document.flawError(at: $0).message == error.message }
    default: return nil
    }
  }

  private func checkLimits(_ lists: [Int], in document: JSONDocument) throws {
    let count = document.itemCount(of: lists)
    guard count <= context.limits.items else {
      throw context.limits.tooManyItems(count)
    }
    for (index, node) in lists.lazy.flatMap({ document.elements(of: $0) }).enumerated() {
      let size = document.range(of: node).count
      guard size <= context.limits.itemBytes else {
        throw context.limits.tooLarge(item: index, bytes: size)
      }
    }
  }
}

extension JSONDocument {
  /// Returns the total number of items in `lists`.
  func itemCount(of lists: [Int]) -> Int {
    lists.reduce(0) { $0 + word(at: $1).length }
  }
}
