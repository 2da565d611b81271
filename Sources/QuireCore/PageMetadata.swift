/// What came with a page besides its items, found by type.
///
/// A source attaches values, the consumer asks for them: `page.metadata[Envelope.self]`. Transforms
/// carry them along.
public struct PageMetadata: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// No metadata.
  public init() {}

  /// The attached value of that type; nil when the source attached none.
  public subscript<Value: Sendable>(type: Value.Type) -> Value? {
    get { values[ObjectIdentifier(type)] as? Value }
    set { values[ObjectIdentifier(type)] = newValue }
  }
}
