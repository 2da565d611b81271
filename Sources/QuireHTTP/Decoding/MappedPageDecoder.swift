/// Decodes pages as another decoder does, and makes something else of each item.
package struct MappedPageDecoder<Base: Sendable, Item: Sendable>: PageDecoder {
  let base: any PageDecoder<Base>
  private let transform: @Sendable (Base) throws -> Item

  /// A decoder that makes each item of one of `base`'s; an error of `transform` fails the page.
  package init(
    _ base: any PageDecoder<Base>, _ transform: @escaping @Sendable (Base) throws -> Item
  ) {
    self.base = base
    self.transform = transform
  }

  package var isSelfDelimiting: Bool { base.isSelfDelimiting }

  package func begin(_ context: DecodingContext) throws -> any PageDecoding<Item> {
    Session(base: try base.begin(context), transform: transform)
  }

  package func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try base.value(type, of: body, context)
  }

  private struct Session: PageDecoding {
    var base: any PageDecoding<Base>
    let transform: @Sendable (Base) throws -> Item

    mutating func receive(_ slice: [UInt8]) throws { try base.receive(slice) }

    mutating func finish() throws -> any PageDocument { try base.finish() }

    mutating func readyItems() throws -> DecodedItems<Item> { try map(base.readyItems()) }

    mutating func items() throws -> DecodedItems<Item> { try map(base.items()) }

    private func map(_ items: DecodedItems<Base>) throws -> DecodedItems<Item> {
      var mapped = DecodedItems(try items.items.map(transform), badItems: items.badItems)
      mapped.digests = items.digests
      mapped.fingerprint = items.fingerprint
      mapped.sample = items.sample
      return mapped
    }
  }
}
