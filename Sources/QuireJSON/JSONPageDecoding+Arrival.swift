import QuireCore
import QuirePagination

/// Items as they arrive: decoded by the batch that a slice completes, and forgotten.
extension JSONPageDecoding {
  mutating func readyItems() throws -> DecodedItems<Item> {
    if let broken { throw broken }
    guard splitter != nil else { return DecodedItems([]) }
    guard splitter?.hasItems == true else {
      if let fault = splitter?.fault { throw cause(of: fault) }
      return DecodedItems([])
    }
    return try takeItems()
  }

  /// The items that are whole; what breaks one of them is thrown after those before it.
  mutating func takeItems() throws -> DecodedItems<Item> {
    guard let batch = splitter?.takeItems() else { return DecodedItems([]) }
    let first = handedOut
    handedOut += batch.ends.count
    guard handedOut <= context.limits.items else { throw context.limits.tooManyItems() }
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
      broken = fault
      document = try batch.prefix(bad).document(batchLimits)
    }
    document.isPage = false
    return try decode([0], in: document, from: first, withDigests: true)
  }

  /// What is wrong with a page that ends within an item, or whose item is too large: where the item is no JSON as
  /// far as it has come, that is. Behind a stray quote all that follows looks like a part of it.
  private func cause(of fault: PageError) -> any Error {
    guard let splitter else { return fault }
    let cause = Self.located(fault, in: splitter.count, splitter.openItem, itemLimits)
    return (cause as? PageError)?.code == .truncated ? fault : cause
  }

  /// The error of one item by itself, with its number.
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

  /// A batch is a list like the one in the page, without the objects around that.
  private var batchLimits: DecodingLimits {
    var limits = context.limits
    limits.depth -= context.items.paths.first?.steps.count ?? 0
    return limits
  }

  /// An item by itself has no list around it.
  private var itemLimits: DecodingLimits {
    var limits = batchLimits
    limits.depth -= 1
    return limits
  }

  /// Takes bytes of a page whose items are wanted as they arrive.
  mutating func arrive(_ slice: [UInt8]) throws {
    if hasBegun {
      splitter?.receive(slice[...])
      return
    }
    bytes += slice
    let first = bytes.first { ![0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
    let isPlain = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    // An encoding shows in the first four bytes.
    if isPlain && bytes.count >= 4 || bytes.count >= 4096 { try begin() }
  }

  /// Looks at the beginning of the page.
  mutating func begin() throws {
    guard !hasBegun else { return }
    hasBegun = true
    try JSONMediaType.check(bytes, contentType: context.contentType)
    let start = try JSONPrologue.length(of: bytes[...])
    splitter?.skip(bytes[..<start])
    splitter?.receive(bytes[start...])
    bytes = []
  }

  /// The envelope of a page whose items were forgotten.
  mutating func finishArrival() throws -> JSONDocument {
    try begin()
    guard let splitter else { preconditionFailure("A page that arrives has a splitter.") }
    if let broken { throw broken }
    if let fault = splitter.fault ?? splitter.truncation { throw cause(of: fault) }
    let envelope = splitter.envelope
    let left = splitter.bytes - envelope.count
    let document = try JSONDocument(
      padded: envelope + repeatElement(0, count: JSONScanner.padding), end: envelope.count,
      limits: context.limits,
      shift: splitter.hasList ? (from: splitter.listOffset, by: left) : nil)
    return splitter.hasList
      ? try document.forgetting(splitter.count, of: context.items) : document
  }
}
