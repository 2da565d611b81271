import QuireCore

/// Names that occur twice.
extension JSONDocument {
  /// Checks that no object outside the items has a name twice: a cursor that two parsers read
  /// differently is no cursor (RFC 8259 section 4 leaves it open).
  ///
  /// Everything but the arrays at the selector's paths is envelope, all of it where there are none.
  /// Objects within items are their decoder's business; Foundation's takes the first of two. Throws
  /// `shape` that quotes the name and its byte. Linear in the envelope, against hash flooding too.
  package func checkEnvelope(outside selector: ItemSelector) throws {
    var items: Set<Int> = []
    for path in selector.paths {
      if case .node(let node) = try find(path),
        word(at: node).kind == .array || selector.admitsOne && node > 0
      {
        items.insert(node)
      }
    }
    var node = 0
    while node < tape.count {
      if items.contains(node) {
        node = next(after: node)
        continue
      }
      let kind = word(at: node).kind
      if kind == .object { try checkNames(of: node) }
      node += kind.isContainer ? 2 : 1
    }
  }

  private func checkNames(of object: Int) throws {
    if word(at: object).length <= 16 {
      try checkPairs(of: object)
    } else {
      var seen: Set<Name> = []
      for name in names(of: object) where !seen.insert(self.name(at: name)).inserted {
        throw duplicate(name, in: object)
      }
    }
  }

  /// Compares each with each; names that differ in length cost one comparison of two words.
  private func checkPairs(of object: Int) throws {
    let names = Array(names(of: object))
    let isEscaped = names.contains { word(at: $0).kind != .string }
    for (index, name) in names.enumerated() {
      for other in names[..<index] {
        guard isEscaped || word(at: name).length == word(at: other).length else { continue }
        if self.name(at: name) == self.name(at: other) { throw duplicate(name, in: object) }
      }
    }
  }

  /// A name's text as UTF-8; bytes that are no text count as themselves.
  private func name(at node: Int) -> Name {
    let word = word(at: node)
    return word.kind == .escapedString
      ? Name(bytes: unescaped(word.content)[...]) : Name(bytes: bytes[word.content])
  }

  /// Hashed with the process's random seed, so that nobody can choose names that collide.
  private struct Name: Hashable {
    let bytes: ArraySlice<UInt8>

    func hash(into hasher: inout Hasher) {
      bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
  }
}
