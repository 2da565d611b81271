package import QuireCore

/// An outline of a page: the names and kinds of its values, limited in size.
///
/// A detector searches it instead of the page. It holds the envelope down to a few levels, the
/// length and the first element of each list, and no long texts, nearest to the root first.
package struct PageOutline: Sendable {
  /// A value of the page.
  package struct Node: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case scalar, list, object }

    /// The path of the value in the page.
    package var path: String
    /// The value's own name, without syntax of the format such as the `@` of an attribute; for a
    /// link found by its relation, the relation.
    package var name: String
    package var kind: Kind
    /// The value of a scalar, if it is short; for an object, the URL of its link in JSON, or its
    /// text in XML, if it has one.
    package var value: JSONValue?
    /// The number of elements of a list, or of members of an object.
    package var count = 1
    /// Whether the elements of a list are objects or elements with content.
    package var holdsObjects = false
    /// The number of names from the root to the value.
    package var depth: Int
    /// Whether the value is inside an element of a list, which is most likely an item.
    package var isInList = false

    package init(_ path: String, name: String, _ kind: Kind, depth: Int) {
      self.path = path
      self.name = name
      self.kind = kind
      self.depth = depth
    }
  }

  /// The most values in an outline. An envelope has some dozens.
  package static let mostNodes = 1_000
  /// The most names from the root to a value.
  static let greatestDepth = 6
  /// The most bytes of a text that is kept: a longer one is no continuation.
  package static let longestText = CursorCheck.longest
  /// The most elements of a list that are searched for a link with a relation.
  package static let longestLinkList = 50

  package var nodes: [Node] = []
  /// Whether the page has more than `mostNodes` values that are not in items.
  package var isCut = false

  package init() {}

  /// A value of a page: its number in the document, and its outline.
  package typealias Child = (node: Int, outline: Node)

  /// Creates the outline of the page below `root`, breadth first. `children` returns the contents
  /// of a list or an object.
  package init(of root: Child, children: (Int, Node) -> [Child]) {
    _ = append(root.outline)
    var level = root.outline.kind == .scalar ? [] : [root]
    while !level.isEmpty {
      var below: [Child] = []
      for (node, parent) in level where parent.depth < Self.greatestDepth {
        for child in children(node, parent) {
          guard append(child.outline) else { return }
          if child.outline.kind != .scalar { below.append(child) }
        }
      }
      level = below
    }
  }

  /// Whether the root element contains only elements of one name, which are not just a wrapper
  /// around a list.
  package var rootHasOneKindOfChild: Bool {
    let below = nodes.filter { $0.depth == 2 && !$0.path.contains("@") }
    guard below.count == 1, let only = below.first else { return false }
    return only.kind == .list
      || !nodes.contains { $0.kind == .list && $0.path.hasPrefix(only.path + "/") }
  }

  /// At most five lists near the root that may hold the items, nearest first: lists of links with a
  /// relation (RFC 8288) do not.
  package var listsNearRoot: [Node] {
    let places = Set(nodes.lazy.filter(\.isInList).map(\.path))
    return Array(
      nodes.lazy.filter { node in
        guard node.kind == .list, node.depth <= 3, !node.isInList else { return false }
        func has(_ name: String) -> Bool { places.contains("\(node.path)/0/\(name)") }
        return !(has("rel") || has("relation")) || !(has("href") || has("url"))
      }.prefix(5))
  }

  /// Appends a value; returns false, and marks the outline as cut, if it is full.
  private mutating func append(_ node: Node) -> Bool {
    guard nodes.count < Self.mostNodes else {
      isCut = true
      return false
    }
    nodes.append(node)
    return true
  }

  /// Whether a text is short enough to be kept.
  package static func keeps(_ text: String) -> Bool { text.utf8.count <= longestText }

  /// Whether a name can be written in a path and in a message without escapes.
  package static func keeps(name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 200 && !name.hasSuffix("]") && !name.contains(" | ")
      && name != "-1" && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
  }
}

/// A document that can be outlined.
package protocol OutlinedDocument: PageDocument {
  /// The page's outline, limited in size for any page. Values that cannot be read are left out.
  var outline: PageOutline { get }
}
