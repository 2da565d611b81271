import QuireCore
package import QuirePagination

extension JSONDocument: OutlinedDocument {
  package var outline: PageOutline {
    var root = PageOutline.Node("", name: "", .scalar, depth: 0)
    describe(0, in: &root)
    return PageOutline(of: (0, root)) { node, parent in
      parent.kind == .list ? first(of: node, parent) : members(of: node, parent)
    }
  }

  private typealias Child = PageOutline.Child

  private func members(of object: Int, _ parent: PageOutline.Node) -> [Child] {
    names(of: object).prefix(PageOutline.mostNodes).compactMap { name in
      guard let text = try? text(at: name), PageOutline.keeps(name: text) else { return nil }
      var child = PageOutline.Node(
        parent.path + PagePath.pointer(to: text), name: text, .scalar, depth: parent.depth + 1)
      child.isInList = parent.isInList
      describe(name + 1, in: &child)
      return (name + 1, child)
    }
  }

  /// Returns the first element of a list, and those of its first elements that are links to the
  /// next page.
  private func first(of list: Int, _ parent: PageOutline.Node) -> [Child] {
    var children: [Child] = []
    if let element = element(of: list, at: 0) {
      var child = PageOutline.Node(
        parent.path + "/0", name: parent.name, .scalar, depth: parent.depth + 1)
      child.isInList = true
      describe(element, in: &child)
      children.append((element, child))
    }
    guard !parent.isInList else { return children }
    return children
      + elements(of: list).prefix(PageOutline.longestLinkList).compactMap {
        linkByRelation($0, parent)
      }
  }

  private func linkByRelation(_ element: Int, _ parent: PageOutline.Node) -> Child? {
    for (relation, target) in Self.linkNames {
      let path = "\(parent.path)[\(relation)=next]/\(target)"
      guard let node = try? member(named: target, of: element),
        let kind = try? member(named: relation, of: element), let names = try? value(of: kind),
        names == "next" || names == ["next"]
      else { continue }
      var child = PageOutline.Node(path, name: "next", .scalar, depth: parent.depth + 1)
      describe(node, in: &child)
      return (node, child)
    }
    return nil
  }

  /// What the relation and the target of a link are called: XML that became JSON marks attributes by `@`.
  private static let linkNames = [
    ("rel", "href"), ("relation", "url"), ("rel", "uri"), ("@rel", "@href"), ("@ref", "@href"),
    ("@Rel", "@Href"),
  ]

  /// Sets the kind, count and value of `outline`. An object's value is the link in it, if any.
  private func describe(_ node: Int, in outline: inout PageOutline.Node) {
    let word = word(at: node)
    switch word.kind {
    case .array:
      outline.kind = .list
      outline.count = word.length
      outline.holdsObjects =
        element(of: node, at: 0).map { self.word(at: $0).kind.isContainer } ?? false
    case .object:
      outline.kind = .object
      outline.count = word.length
      for name in ["href", "url", "@id"] {
        guard let link = try? member(named: name, of: node),
          range(of: link).count <= PageOutline.longestText, let text = try? value(of: link).string
        else { continue }
        outline.value = .string(text)
        return
      }
    default:
      guard range(of: node).count <= PageOutline.longestText else { return }
      outline.value = try? value(of: node)
    }
  }
}

/// Recognising items.
extension JSONDocument {
  /// Returns a sample of the items of these arrays, by which similar pages are recognised.
  ///
  /// `first` is the index in its page of the first item.
  func sample(of lists: [Int], from first: Int = 0) -> PageSample {
    var sample = PageSample()
    let end = first + itemCount(of: lists)
    sample.edges.reserve(for: end - first)
    bytes.withUnsafeBytes { bytes in
      var number = first
      for list in lists {
        for item in elements(of: list) {
          sample.add(itemAt: number) { look(at: item, 0, 0, bytes, &$0, named: "") }
          if PageEdges.takes(number, of: end) {
            let written = UnsafeRawBufferPointer(rebasing: bytes[range(of: item)])
            sample.edges.add(ContentDigest.sketch(of: written))
          }
          number += 1
        }
      }
    }
    return sample
  }

  /// Adds a value, or the values in it, to the sample of an item. `path` is the hash of the names
  /// that lead to the value, and `name` these names themselves.
  private func look(
    at node: Int, _ path: Int, _ depth: Int, _ bytes: UnsafeRawBufferPointer,
    _ item: inout PageSample.Item, named name: @autoclosure () -> String
  ) {
    let word = word(at: node)
    // A list counts as one value, except an item that is a list itself: a row of values.
    let isRow = word.isKind(.array) && depth == 0
    guard isRow || word.isKind(.object) && depth < PageSample.Item.deepest else {
      let written = UnsafeRawBufferPointer(rebasing: bytes[range(of: node)])
      return item.add(path, holding: ContentDigest.of(written), named: name())
    }
    var child = node + 2
    for index in 0..<word.length {
      if item.isFull { return }
      if isRow {
        look(at: child, index, 1, bytes, &item, named: Self.join(name(), String(index)))
      } else {
        let written = UnsafeRawBufferPointer(rebasing: bytes[self.word(at: child).content])
        child += 1
        look(
          at: child, ContentDigest.of(written, seed: path), depth + 1, bytes, &item,
          named: Self.join(name(), String(decoding: written, as: UTF8.self)))
      }
      child = next(after: child)
    }
  }

  private static func join(_ prefix: String, _ name: String) -> String {
    prefix.isEmpty ? name : prefix + "/" + name
  }
}

/// Duplicate names.
extension JSONDocument {
  /// Checks that no object outside the items has a name twice: RFC 8259 section 4 leaves open which
  /// one counts, so two parsers could read different continuation tokens.
  ///
  /// The envelope is everything except the items at the selector's paths. Objects inside items are
  /// left to their decoder; Foundation's takes the first of two members. Throws `shape` with the
  /// name and its byte. The time is linear in the envelope, even if a server chooses names against
  /// hashing.
  func checkEnvelope(outside selector: Pagination.Items) throws {
    let isMatched = selector.arrangement == .matches
    var items: Set<Int> = []
    for path in selector.paths {
      let nodes =
        try isMatched ? findAll(path) ?? [] : [find(path).node].compactMap(\.self)
      for node in nodes
      where isMatched || word(at: node).kind == .array || selector.admitsOne && node > 0 {
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

  /// Compares all pairs of names; two names of different lengths cost one comparison of integers.
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

  /// Returns a name's text as UTF-8; for an invalid name, its bytes.
  private func name(at node: Int) -> Name {
    let word = word(at: node)
    return word.kind == .escapedString
      ? Name(bytes: unescaped(word.content)[...]) : Name(bytes: bytes[word.content])
  }

  /// A name. Its hash uses the process's random seed, so that a server cannot choose names that
  /// collide.
  private struct Name: Hashable {
    let bytes: ArraySlice<UInt8>

    func hash(into hasher: inout Hasher) {
      bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
  }
}
