/// What came with a page besides its items, found by type.
///
/// A source attaches values, the consumer asks for them: `page.metadata[Envelope.self]`. Transforms
/// carry them along.
public struct PageMetadata: Sendable {
  /// So few that looking at each of them is the fastest way to find one.
  private var entries: [Entry] = []

  private struct Entry: Sendable {
    let type: ObjectIdentifier
    var value: any Sendable
  }

  /// No metadata.
  public init() {}

  /// The attached value of that type; nil when the source attached none.
  public subscript<Value: Sendable>(type: Value.Type) -> Value? {
    get { entries.first { $0.type == ObjectIdentifier(type) }?.value as? Value }
    set {
      entries.removeAll { $0.type == ObjectIdentifier(type) }
      if let newValue { entries.append(Entry(type: ObjectIdentifier(type), value: newValue)) }
    }
  }
}
