import QuireCore

/// Saying what does not fit, and where.
extension XMLItemContext {
  /// The keys from the item down to a node; elements that share their name with others carry their
  /// number, as they would in an array.
  func codingPath(to node: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var node = node
    while node > item {
      if index.records[node].kind == .element {
        let position = self.position(of: node)
        if let position { path.append(XMLKey(intValue: position)) }
        path.append(XMLKey(stringValue: index.name(of: node).local))
      } else {
        path.append(XMLKey(stringValue: "@" + index.name(of: node).qualified))
      }
      node = Int(index.records[node].parent)
    }
    return path.reversed()
  }

  /// The number of an element among those of its name; nil when it is the only one.
  private func position(of node: Int) -> Int? {
    let parent = Int(index.records[node].parent)
    let name = index.records[node].name
    let same = index.children(of: parent).lazy.filter { self.index.records[$0].name == name }
    guard same.prefix(2).reduce(0, { count, _ in count + 1 }) > 1 else { return nil }
    return same.prefix { $0 < node }.reduce(0) { count, _ in count + 1 }
  }

  func mismatch(
    _ type: Any.Type, _ value: XMLValue, _ reason: String? = nil
  ) -> DecodingError {
    failedNode = value.node
    let found =
      reason
      ?? withBytes(of: value) { bytes in
        "found \"\(ServerText(bytes: XMLText.trimmed(bytes), limit: 64))\""
      }
    return DecodingError.typeMismatch(
      type,
      .init(
        codingPath: codingPath(to: value.node), debugDescription: "Expected \(type), but \(found).")
    )
  }

  func missing(_ key: any CodingKey, in node: Int) -> DecodingError {
    failedNode = node
    let sought = name(for: key.stringValue)
    return DecodingError.keyNotFound(
      key,
      .init(
        codingPath: codingPath(to: node),
        debugDescription: "There is neither an element nor an attribute \"\(sought)\"."))
  }
}

/// A key made of what stands in the page.
struct XMLKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }
}
