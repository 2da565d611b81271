import QuireCore

/// Knowing items again.
extension JSONDocument {
  /// What some of the items of these arrays hold.
  func sample(of lists: [Int]) -> PageSample {
    var sample = PageSample()
    bytes.withUnsafeBytes { bytes in
      for (index, item) in lists.lazy.flatMap({ elements(of: $0) }).enumerated() {
        sample.add(itemAt: index) { look(at: item, (path: 0, name: ""), 0, bytes, &$0) }
      }
    }
    return sample
  }

  /// Takes note of a value, or of what is in it.
  private func look(
    at node: Int, _ place: (path: Int, name: String), _ depth: Int,
    _ bytes: UnsafeRawBufferPointer, _ item: inout PageSample.Item
  ) {
    let kind = word(at: node).kind
    // A list is one value, but for an item that is a row of them.
    if kind == .object, depth < PageSample.Item.deepest {
      for name in names(of: node) where !item.isFull {
        let written = UnsafeRawBufferPointer(rebasing: bytes[word(at: name).content])
        let path = Self.digest(written, place.path)
        step(to: name + 1, path, { String(decoding: written, as: UTF8.self) }, place.name)
      }
    } else if kind == .array, depth == 0 {
      for (index, element) in elements(of: node).enumerated() where !item.isFull {
        step(to: element, index, { String(index) }, place.name)
      }
    } else {
      let written = UnsafeRawBufferPointer(rebasing: bytes[range(of: node)])
      item.add(place.path, holding: Self.digest(written, 0), named: place.name)
    }

    func step(to node: Int, _ path: Int, _ name: () -> String, _ prefix: String) {
      guard word(at: node).kind == .object else {
        let written = UnsafeRawBufferPointer(rebasing: bytes[range(of: node)])
        item.add(
          path, holding: Self.digest(written, 0),
          named: prefix.isEmpty ? name() : prefix + "/" + name())
        return
      }
      let full = prefix.isEmpty ? name() : prefix + "/" + name()
      look(at: node, (path, full), depth + 1, bytes, &item)
    }
  }

  private static func digest(_ bytes: UnsafeRawBufferPointer, _ seed: Int) -> Int {
    var digest = ContentDigest()
    withUnsafeBytes(of: seed) { digest.add($0) }
    digest.add(bytes)
    return digest.value
  }
}
