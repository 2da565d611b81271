package import QuireCore

/// The names and kinds of what a page holds, cut to a size that no page can exceed.
///
/// What a detector looks through in place of the page: the envelope down to a few names deep, of each
/// list its length and its first element, no long text. Nearest to the root first.
package struct PageOutline: Sendable {
  /// One value of the page.
  package struct Node: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case scalar, list, object }

    /// The path that finds it in the page.
    package var path: String
    /// Its own name, without what only the format adds; for a link by relation, the relation.
    package var name: String
    package var kind: Kind
    /// A scalar's value, if it is short; for an object, the link in it, if it is one.
    package var value: JSONValue?
    /// Elements of a list, members of an object.
    package var count = 1
    /// Whether the elements of a list are objects or elements with content.
    package var holdsObjects = false
    /// How many names lead to it.
    package var depth: Int
    /// Whether it is in an element of a list: most likely an item.
    package var isInList = false

    package init(_ path: String, name: String, _ kind: Kind, depth: Int) {
      self.path = path
      self.name = name
      self.kind = kind
      self.depth = depth
    }
  }

  /// Most values an outline has. An envelope has some dozens.
  package static let longest = 1_000
  /// Most names that lead to a value.
  package static let deepest = 6
  /// Most bytes of a text that is kept, as `CursorCheck` has it for what can be sent.
  package static let longestText = 8 << 10
  /// Most elements of a list that are searched for a link with a relation.
  package static let longestLinkList = 50

  package var nodes: [Node] = []
  /// Whether the page has more than `longest` values that are not in items.
  package var isCut = false

  package init() {}

  /// A value of a page: what the page calls it, and how it is outlined.
  package typealias Child = (node: Int, outline: Node)

  /// The outline of the page below `root`, the values nearest to it first. `children` says what a list
  /// or an object holds.
  package init(of root: Child, children: (Int, Node) -> [Child]) {
    _ = append(root.outline)
    var level = root.outline.kind == .scalar ? [] : [root]
    while !level.isEmpty {
      var below: [Child] = []
      for (node, parent) in level where parent.depth < Self.deepest {
        for child in children(node, parent) {
          guard append(child.outline) else { return }
          if child.outline.kind != .scalar { below.append(child) }
        }
      }
      level = below
    }
  }

  /// Whether the root element holds elements of one name and nothing else, and they are no mere wrap
  /// around a list.
  package var isListOfOne: Bool {
    let below = nodes.filter { $0.depth == 2 && !$0.path.contains("@") }
    guard below.count == 1, let only = below.first else { return false }
    return only.kind == .list
      || !nodes.contains { $0.kind == .list && $0.path.hasPrefix(only.path + "/") }
  }

  /// Adds a value; false when there is no room for it.
  private mutating func append(_ node: Node) -> Bool {
    guard nodes.count < Self.longest else {
      isCut = true
      return false
    }
    nodes.append(node)
    return true
  }

  /// Whether the text of a value may be kept.
  package static func keeps(_ text: String) -> Bool { text.utf8.count <= longestText }

  /// Whether a name can stand in a path as it is, and in a message.
  package static func keeps(name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 200 && !name.hasSuffix("]") && !name.contains(" | ")
      && name != "-1" && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
  }
}

/// A document that can be outlined.
package protocol OutlinedDocument: PageDocument {
  /// What the page holds. Bounded, whatever the page; what cannot be read is left out.
  var outline: PageOutline { get }
}
