import QuireCore
import QuireHTTP

/// Answering paths.
extension XMLIndex {
  /// The value that `value(at:)` promises.
  func value(at path: XMLPath, from context: Context) throws -> JSONValue? {
    try value(of: matches(of: path, from: context))
  }

  /// The value of the match that counts.
  func value(of matches: Matches) throws -> JSONValue? {
    guard let node = nearest(matches) else { return nil }
    switch matches.tail {
    case .attribute(.any)?:
      return .object(
        attributes(of: node).map { .init(name(of: $0).qualified, .string(string(of: $0))) })
    case .attribute(let name)?:
      let attribute = attributes(of: node).first { self.matches(name, $0) }
      return attribute.flatMap { trimmed(value(of: $0)) }
    case .text?: return trimmedText(of: node).map(JSONValue.string)
    case .element?, nil:
      if children(of: node).contains(where: { _ in true }) {
        return try XMLMapping(self).value(of: node)
      }
      return trimmedText(of: node).map(JSONValue.string)
    }
  }

  /// The element that a path's value comes from.
  func place(for path: XMLPath, from context: Context) -> Int? {
    nearest(matches(of: path, from: context))
  }

  private func trimmed(_ bytes: UnsafeBufferPointer<UInt8>) -> JSONValue? {
    let trimmed = XMLText.trimmed(bytes)
    return trimmed.isEmpty ? nil : .string(String(decoding: trimmed, as: UTF8.self))
  }

  /// The match nearest to the root, of those the first; one that has the attribute it is about.
  func nearest(_ matches: Matches) -> Int? {
    var best: (node: Int, depth: Int)?
    for node in matches.elements {
      if case .attribute(let name)? = matches.tail,
        !attributes(of: node).contains(where: { self.matches(name, $0) })
      {
        continue
      }
      let depth = depth(of: node)
      if best.map({ depth < $0.depth }) ?? true { best = (node, depth) }
      if depth == 0 { break }
    }
    return best?.node
  }

  private func depth(of node: Int) -> Int {
    var depth = 0
    var node = node
    while node != 0 {
      node = Int(records[node].parent)
      depth += 1
    }
    return depth
  }

  /// The matches that are not within another one.
  func outermost(_ matches: Matches) -> [Int] {
    var result: [Int] = []
    var end = 0
    for node in matches.elements where node >= end {
      switch matches.tail {
      case .attribute(let name)?:
        // Attributes are not within each other.
        if attributes(of: node).contains(where: { self.matches(name, $0) }) { result.append(node) }
      case .text?, .element?, nil:
        result.append(node)
        end = Int(records[node].next)
      }
    }
    return result
  }

  // MARK: Bases

  private static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

  /// The `xml:base` in force at an element, put together from the inside out (XML Base, section 3).
  func base(of node: Int) -> String? {
    var base: String?
    var node = node
    while true {
      let own = attributes(of: node).first {
        let name = name(of: $0)
        return name.local == "base" && name.namespace == Self.xmlNamespace
      }
      if let own { base = Self.resolve(base, against: string(of: own)) }
      if node == 0 { return base }
      node = Int(records[node].parent)
    }
  }

  private static func resolve(_ reference: String?, against base: String) -> String {
    guard let reference else { return base }
    guard let inner = try? URLReference(reference), let outer = try? URLReference(base) else {
      return reference
    }
    return inner.resolved(against: outer).text
  }
}
