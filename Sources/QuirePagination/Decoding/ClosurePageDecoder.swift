/// A page decoder that makes each item by a closure.
///
/// ```swift
/// let decoder = ClosurePageDecoder(JSONRawPageDecoder()) { item in try Row(item.value) }
/// ```
/// An item for which the closure throws is a bad item, which `BadItemPolicy` handles; a
/// `CancellationError` is rethrown.
public struct ClosurePageDecoder<Item: Sendable>: PageDecoder {
  let base: any PageDecoder<RawItem>
  private let decode: @Sendable (RawItem) throws -> Item

  /// Creates a decoder that splits pages as `base` does and makes each item with `decode`.
  public init(
    _ base: any PageDecoder<RawItem>,
    _ decode: @escaping @Sendable (RawItem) throws -> Item
  ) {
    self.base = base
    self.decode = decode
  }

  /// Whether the base decoder notices that the end of a document is missing.
  public var isSelfDelimiting: Bool { base.isSelfDelimiting }

  /// Starts decoding a page.
  ///
  /// Throws what the base decoder throws.
  public func begin(_ context: DecodingContext) throws -> any PageDecoding<Item> {
    let (policy, decode) = (context.badItems, decode)
    // The number of items in the parts of the page before this one, bad ones included.
    var seen = 0
    return MappedDecoding<RawItem, Item>(base: try base.begin(context)) { raw in
      let missing = Set(raw.badItems.map(\.index))
      let indices = (seen..<seen + raw.count).lazy.filter { !missing.contains($0) }
      seen += raw.count
      var items: [Item] = []
      var badItems = raw.badItems
      var digests: [Int]? = raw.digests == nil ? nil : []
      for (place, (index, item)) in zip(indices, raw.items).enumerated() {
        do {
          items.append(try decode(item))
          if let digest = raw.digests?[place] { digests?.append(digest) }
        } catch let error as CancellationError {
          throw error
        } catch {
          badItems.append(try ItemFailure(error, at: index).settle(policy, bytes: item.bytes))
        }
      }
      badItems.sort { $0.index < $1.index }
      return raw.replaced(by: DecodedItems(items, badItems: badItems), digests)
    }
  }

  /// Decodes a single value with the base decoder; the closure is not used.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try base.value(type, of: body, context)
  }
}

/// A page decoder whose only item is the page's whole body; an empty body has no item.
///
/// The page has no document, so the next page must come from a header field, a Link header, an
/// offset or a page number.
public struct BytesPageDecoder: PageDecoder {
  /// Creates a decoder; it has no settings.
  public init() {}

  /// Starts collecting the bytes of a page.
  public func begin(_ context: DecodingContext) -> any PageDecoding<[UInt8]> { Session() }

  private struct Session: PageDecoding {
    var bytes: [UInt8] = []

    mutating func receive(_ slice: [UInt8]) {
      if bytes.isEmpty { bytes = slice } else { bytes += slice }
    }

    mutating func finish() -> any PageDocument { EmptyDocument() }

    mutating func items() -> DecodedItems<[UInt8]> {
      guard !bytes.isEmpty else { return DecodedItems([]) }
      var digest = ContentDigest.stored
      bytes.withUnsafeBytes { digest.add($0) }
      var items = DecodedItems([bytes])
      items.fingerprint = digest.value
      return items
    }
  }
}
