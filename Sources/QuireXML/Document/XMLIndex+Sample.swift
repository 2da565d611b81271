import QuireCore
import QuireHTTP

/// Knowing items again.
extension XMLIndex {
  /// Takes note of an item's attributes, its text and what is in its elements.
  func look(at node: Int, _ item: inout PageSample.Item) {
    look(at: node, (path: 0, name: ""), 0, &item)
  }

  private func look(
    at node: Int, _ place: (path: Int, name: String), _ depth: Int, _ item: inout PageSample.Item
  ) {
    for attribute in attributes(of: node) where !item.isFull {
      let name = name(of: attribute)
      item.add(
        Self.digest("@" + name.local, place.path), holding: Self.digest(value(of: attribute)),
        named: Self.join(place.name, "@" + name.qualified))
    }
    withText(of: node) { text in
      let text = XMLText.trimmed(text)
      guard !text.isEmpty else { return }
      item.add(place.path, holding: Self.digest(text), named: place.name)
    }
    for child in children(of: node) where !item.isFull {
      let name = name(of: child)
      let path = Self.digest(name.local, place.path)
      let full = Self.join(place.name, name.qualified)
      if depth < PageSample.Item.deepest {
        look(at: child, (path, full), depth + 1, &item)
      } else {
        item.add(path, holding: Self.digest(value(of: child)), named: full)
      }
    }
  }

  private static func join(_ prefix: String, _ name: String) -> String {
    prefix.isEmpty ? name : prefix + "/" + name
  }

  private static func digest(_ name: String, _ seed: Int) -> Int {
    var name = name
    return name.withUTF8 { digest($0, seed) }
  }

  private static func digest(_ bytes: UnsafeBufferPointer<UInt8>, _ seed: Int = 0) -> Int {
    var digest = ContentDigest()
    withUnsafeBytes(of: seed) { digest.add($0) }
    digest.add(UnsafeRawBufferPointer(bytes))
    return digest.value
  }
}
