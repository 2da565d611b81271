import QuireXML

/// Finds the entries of a feed, also where its format has none.
extension FeedXMLReader {
  /// Returns the entries of a document, in order, without those within entries. Those that are
  /// elsewhere than the format says count as repairs. If there are too many, returns none, and sets
  /// `isBeyondLimit`.
  mutating func entries(of root: XMLTreeNode) -> [XMLTreeNode] {
    // Counted first, so that refused elements take no memory.
    var (count, misplaced) = (0, 0)
    forEachEntry(in: root, depth: 0) { _, isInPlace in
      count += 1
      if !isInPlace { misplaced += 1 }
    }
    guard count <= limit else {
      isBeyondLimit = true
      return []
    }
    repairs.add(.misplacedEntry, misplaced)
    var found: [XMLTreeNode] = []
    found.reserveCapacity(count)
    forEachEntry(in: root, depth: 0) { node, _ in found.append(node) }
    return found
  }

  /// Calls `visit` with the entries below an element, and whether they are where entries belong: in
  /// the root, in a channel of it, or, if the root is a channel as in RSS 1.1, in a list of it.
  private func forEachEntry(
    in parent: XMLTreeNode, depth: Int, _ visit: (_ entry: XMLTreeNode, _ isInPlace: Bool) -> Void
  ) {
    let root = element(document.root)
    // Some feeds have items beside the channel, as in RSS 1.0.
    let hasChannel =
      depth == 0 && root == .rss && parent.children.contains { element($0) == .channel }
    let isInPlace =
      switch depth {
      case 0: root != .sitemapindex && (root != .rss || hasChannel)
      case 1 where root == .channel: parent.localName == "items"
      case 1: element(parent) == .channel
      default: false
      }
    for child in parent.children {
      if isEntry(child, root) {
        visit(child, isInPlace)
      } else if child.hasChildren {
        forEachEntry(in: child, depth: depth + 1, visit)
      }
    }
  }

  private func isEntry(_ node: XMLTreeNode, _ root: FeedElement?) -> Bool {
    switch element(node) {
    case .item?, .entry?: true
    case .sitemapURL?, .url?: root == .urlset || root == .sitemapindex
    default: false
    }
  }

  /// Returns the namespace of the first element below `parent` that has the name of an entry; nil
  /// if there is none.
  func namespaceOfEntries(in parent: XMLTreeNode) -> String? {
    let root = element(document.root)
    for child in parent.children {
      let isNamed =
        switch child.localName.lowercased() {
        case "item", "entry": root != .urlset && root != .sitemapindex
        case "url": root == .urlset
        case "sitemap": root == .sitemapindex
        default: false
        }
      if isNamed, let namespace = child.namespace { return namespace }
      if let namespace = namespaceOfEntries(in: child) { return namespace }
    }
    return nil
  }

  /// Returns the entries directly within those that were read, and forgets them.
  mutating func takeNested() -> [XMLTreeNode] {
    guard !nested.isEmpty else { return [] }
    defer { nested = [] }
    repairs.add(.misplacedEntry, nested.count)
    return nested
  }
}
