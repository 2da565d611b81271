/// Decodes pages whose items a closure makes.
///
/// ```swift
/// let decoder = ClosurePageDecoder { item in try Row(item.value) }
/// ```
/// An item whose closure throws is a bad item, and goes where `BadItemPolicy` says.
public struct ClosurePageDecoder<Item: Sendable>: PageDecoder {
  private let base: any PageDecoder<RawItem>
  private let decode: @Sendable (RawItem) throws -> Item

  /// A decoder that splits pages like `base`, JSON by default, and makes each item with `decode`.
  public init(
    _ base: any PageDecoder<RawItem> = JSONRawPageDecoder(),
    _ decode: @escaping @Sendable (RawItem) throws -> Item
  ) {
    self.base = base
    self.decode = decode
  }

  /// As the decoder below it.
  public var isSelfDelimiting: Bool { base.isSelfDelimiting }

  /// Starts one page.
  ///
  /// Throws what the decoder below throws.
  public func begin(_ context: DecodingContext) throws -> any PageDecoding<Item> {
    Session(base: try base.begin(context), policy: context.badItems, decode: decode)
  }

  /// As the decoder below it.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try base.value(type, of: body, context)
  }

  private struct Session: PageDecoding {
    var base: any PageDecoding<RawItem>
    let policy: BadItemPolicy
    let decode: @Sendable (RawItem) throws -> Item
    /// Items of the page that were seen, bad ones included.
    var seen = 0

    mutating func receive(_ slice: [UInt8]) throws { try base.receive(slice) }

    mutating func finish() throws -> any PageDocument { try base.finish() }

    mutating func readyItems() throws -> DecodedItems<Item> { try make(base.readyItems()) }

    mutating func items() throws -> DecodedItems<Item> { try make(base.items()) }

    private mutating func make(_ raw: DecodedItems<RawItem>) throws -> DecodedItems<Item> {
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
      var result = DecodedItems(items, badItems: badItems)
      result.digests = digests
      result.fingerprint = raw.fingerprint
      result.sample = raw.sample
      return result
    }
  }
}
