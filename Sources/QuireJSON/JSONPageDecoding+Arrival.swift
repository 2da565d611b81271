import QuireCore
import QuirePagination

/// Items as they arrive: decoded by the batch that a slice completes, and forgotten.
extension JSONPageDecoding {
  mutating func readyItems() throws -> DecodedItems<Item> {
    if let broken { throw broken }
    guard splitter != nil else { return DecodedItems([]) }
    guard splitter?.hasItems == true else {
      if let fault = splitter?.fault { throw fault }
      return DecodedItems([])
    }
    return try takeItems()
  }

  /// The items that are whole; what breaks one of them is thrown after those before it.
  mutating func takeItems() throws -> DecodedItems<Item> {
    guard var whole = splitter?.takeItems(), !whole.isEmpty else { return DecodedItems([]) }
    let first = handedOut
    handedOut += whole.count
    guard handedOut <= context.limits.items else { throw Self.tooMany(context.limits.items) }
    var batch: JSONDocument
    do {
      batch = try JSONDocument(Self.list(of: whole), limits: batchLimits)
    } catch {
      let good = whole.prefix { (try? JSONDocument(Array($0), limits: itemLimits)) != nil }.count
      guard good < whole.count else { throw error }
      broken = Self.located(error, in: first + good, whole[good], itemLimits)
      whole.removeLast(whole.count - good)
      guard good > 0, broken != nil else { throw broken ?? error }
      batch = try JSONDocument(Self.list(of: whole), limits: batchLimits)
    }
    batch.isPage = false
    return try decode([0], in: batch, from: first, withDigests: true)
  }

  private static func list(of items: [ArraySlice<UInt8>]) -> [UInt8] {
    var list: [UInt8] = []
    list.reserveCapacity(items.reduce(0) { $0 + $1.count + 1 } + JSONScanner.padding + 2)
    list.append(UInt8(ascii: "["))
    for item in items {
      if list.count > 1 { list.append(UInt8(ascii: ",")) }
      list += item
    }
    list.append(UInt8(ascii: "]"))
    return list
  }

  /// The error of one item by itself, with its number.
  private static func located(
    _ error: any Error, in number: Int, _ item: ArraySlice<UInt8>, _ limits: DecodingLimits
  ) -> PageError? {
    do {
      _ = try JSONDocument(Array(item), limits: limits)
      return error as? PageError
    } catch let error as PageError {
      return PageError(
        error.code, "Item \(number) of the page, counted from 0: \(error.message)",
        remedies: error.remedies)
    } catch {
      return nil
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
    if isPlain || bytes.count >= 4096 { try begin() }
  }

  /// Looks at the beginning of the page.
  mutating func begin() throws {
    guard !hasBegun else { return }
    hasBegun = true
    try JSONMediaType.check(bytes, contentType: context.contentType)
    let start = try JSONPrologue.length(of: bytes)
    splitter?.skip(bytes[..<start])
    splitter?.receive(bytes[start...])
    bytes = []
  }

  /// The envelope of a page whose items were forgotten.
  mutating func finishArrival() throws -> JSONDocument {
    try begin()
    guard let splitter else { preconditionFailure("A page that arrives has a splitter.") }
    if let fault = broken ?? splitter.fault ?? splitter.truncation { throw fault }
    let envelope = splitter.envelope
    let left = splitter.bytes - envelope.count
    let document = try JSONDocument(
      envelope, limits: context.limits,
      shift: splitter.hasList ? (from: splitter.listOffset, by: left) : nil)
    return splitter.hasList
      ? try document.forgetting(splitter.count, of: context.items) : document
  }
}
