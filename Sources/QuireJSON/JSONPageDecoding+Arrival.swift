import QuireCore
import QuirePagination

/// Items as they arrive: each slice completes a batch of items, which are decoded and dropped.
extension JSONPageDecoding {
  mutating func readyItems() throws -> DecodedItems<Item> {
    if let pendingError { throw pendingError }
    if splitter?.hasItems == false, let fault = splitter?.fault { throw cause(of: fault) }
    return try takeItems()
  }

  /// Decodes the complete items. If one is invalid, returns the items before it and keeps its error
  /// in `pendingError`, to be thrown by the next call.
  mutating func takeItems() throws -> DecodedItems<Item> {
    guard let batch = splitter?.takeItems() else { return DecodedItems([]) }
    let first = deliveredCount
    deliveredCount += batch.ends.count
    guard deliveredCount <= context.limits.items else { throw context.limits.tooManyItems() }
    var document: JSONDocument
    do {
      document = try batch.document(batchLimits)
    } catch {
      let limits = itemLimits
      let bad = batch.ends.indices.first {
        (try? JSONDocument(Array(batch.item($0)), limits: limits)) == nil
      }
      guard let bad else { throw error }
      let fault = Self.located(error, in: first + bad, batch.item(bad), limits)
      guard bad > 0 else { throw fault }
      pendingError = fault
      document = try batch.prefix(bad).document(batchLimits)
    }
    document.isPage = false
    return try decode([0], in: document, from: first, withDigests: true)
  }

  /// Returns the error of a page that ends within an item, or whose item is too large. If the item
  /// so far is not valid JSON, that is the cause: after a stray quote, everything looks like part
  /// of the item.
  private func cause(of fault: PageError) -> any Error {
    guard let splitter else { return fault }
    let cause = Self.located(fault, in: splitter.count, splitter.openItem, itemLimits)
    return (cause as? PageError)?.code == .truncated ? fault : cause
  }

  /// Returns the error of one item alone, with its number; `error` if the item is valid.
  private static func located(
    _ error: any Error, in number: Int, _ item: ArraySlice<UInt8>, _ limits: DecodingLimits
  ) -> any Error {
    do {
      _ = try JSONDocument(Array(item), limits: limits)
      return error
    } catch let error as PageError {
      return PageError(
        error.code, "Item \(number) of the page, counted from 0: \(error.message)",
        remedies: error.remedies)
    } catch {
      return error
    }
  }

  /// The limits for a batch, which is a list without the objects around it in the page.
  private var batchLimits: DecodingLimits {
    var limits = context.limits
    limits.depth -= context.items.paths.first?.steps.count ?? 0
    return limits
  }

  /// The limits for one item, which has no list around it.
  private var itemLimits: DecodingLimits {
    var limits = batchLimits
    limits.depth -= 1
    return limits
  }

  /// Receives bytes of a page whose items are delivered as they arrive.
  mutating func arrive(_ slice: [UInt8]) throws {
    if hasBegun {
      splitter?.receive(slice[...])
      return
    }
    bytes += slice
    let first = bytes.first { !$0.isWhiteSpace && ![0xEF, 0xBB, 0xBF].contains($0) }
    let isPlain = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    // Four bytes show the encoding. A page that does not start with a bracket is checked once 4,096
    // bytes have arrived, or at its end.
    if isPlain && bytes.count >= 4 || bytes.count >= 4096 { try begin() }
  }

  /// Checks the beginning of the page, and passes the bytes so far to the splitter.
  mutating func begin() throws {
    guard !hasBegun else { return }
    hasBegun = true
    try JSONMediaType.check(bytes, contentType: context.contentType)
    let start = try JSONPrologue.length(of: bytes[...])
    splitter?.skip(bytes[..<start])
    splitter?.receive(bytes[start...])
    bytes = []
  }

  /// Returns the envelope of a page whose items were delivered as they arrived.
  mutating func finishArrival() throws -> JSONDocument {
    try begin()
    guard let splitter else { preconditionFailure("A page that arrives has a splitter.") }
    if let pendingError { throw pendingError }
    if let fault = splitter.fault ?? splitter.truncation { throw cause(of: fault) }
    let envelope = splitter.envelope
    let left = splitter.bytes - envelope.count
    let document = try JSONDocument(
      padded: envelope + repeatElement(0, count: JSONScanner.padding), end: envelope.count,
      limits: context.limits,
      shift: splitter.hasList ? (from: splitter.listOffset, by: left) : nil)
    return splitter.hasList
      ? try document.withDeliveredItems(splitter.count, of: context.items) : document
  }
}
