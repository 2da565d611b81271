/// A page decoder that transforms the items of another decoder.
package struct MappedPageDecoder<Base: Sendable, Item: Sendable>: PageDecoder {
  let base: any PageDecoder<Base>
  private let transform: @Sendable (Base) throws -> Item

  /// Creates a decoder that makes each item from one of `base`'s items; an error of `transform`
  /// fails the page.
  package init(
    _ base: any PageDecoder<Base>, _ transform: @escaping @Sendable (Base) throws -> Item
  ) {
    self.base = base
    self.transform = transform
  }

  package var isSelfDelimiting: Bool { base.isSelfDelimiting }

  package func begin(_ context: DecodingContext) throws -> any PageDecoding<Item> {
    let transform = transform
    return MappedDecoding<Base, Item>(base: try base.begin(context)) { items in
      items.replaced(
        by: DecodedItems(try items.items.map(transform), badItems: items.badItems), items.digests)
    }
  }

  package func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try base.value(type, of: body, context)
  }
}

/// A page being decoded by another decoder, whose items `map` transforms.
struct MappedDecoding<Base: Sendable, Item: Sendable>: PageDecoding {
  var base: any PageDecoding<Base>
  let map: (DecodedItems<Base>) throws -> DecodedItems<Item>

  mutating func receive(_ slice: [UInt8]) throws { try base.receive(slice) }

  mutating func finish() throws -> any PageDocument { try base.finish() }

  mutating func readyItems() throws -> DecodedItems<Item> { try map(base.readyItems()) }

  mutating func itemCount() throws -> Int? { try base.itemCount() }

  mutating func items() throws -> DecodedItems<Item> { try map(base.items()) }
}

extension DecodedItems {
  /// Returns `others` with the given digests, and the fingerprint and sample of these items.
  func replaced<Other: Sendable>(
    by others: DecodedItems<Other>, _ digests: [Int]?
  ) -> DecodedItems<Other> {
    var others = others
    others.digests = digests
    others.fingerprint = fingerprint
    others.sample = sample
    return others
  }
}
