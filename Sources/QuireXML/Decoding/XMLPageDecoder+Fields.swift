import QuireCore
package import QuireHTTP

extension XMLPageDecoder: FieldDecoder {
  /// Elements become a value as those below an item do; of several that match, the first near the root
  /// counts, and with those of its name beside it becomes an array.
  package func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    guard let document = document as? XMLDocument else { return nil }
    guard let value = path.xml.flatMap({ document.index.place(of: $0) }) else { return .some(nil) }
    let context = XMLItemContext(
      document.index, options, numberLength: DecodingLimits.api.numberLength)
    context.item = value.node
    guard !context.isNil(value) else { return .some(nil) }
    do {
      return try context.decode(type, value)
    } catch let error as DecodingError {
      let node = context.failedNode ?? value.node
      var places = XMLPlaceFinder(document.index)
      throw PageError.field(
        at: path, place: document.index.path(to: node, below: value.node),
        "\(XMLItemFailure.words(of: error)) It stands at \(places.place(of: node)).",
        underlying: error)
    }
  }
}

extension XMLIndex {
  /// What a path leads to, for a decoder; nil where that is nothing.
  fileprivate func place(of path: XMLPath) -> XMLValue? {
    guard let node = place(for: path, from: .document) else { return nil }
    switch matches(of: path, from: .document).tail {
    case .attribute(let name)?:
      return attributes(of: node).first { matches(name, $0) }
        .map { XMLValue(node: $0, role: .attribute) }
    case .text?: return XMLValue(node: node, role: .text)
    case .element?, nil: return XMLValue(node: node, role: .member)
    }
  }
}
