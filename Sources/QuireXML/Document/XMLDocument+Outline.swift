import QuireCore
package import QuireHTTP

extension XMLDocument: OutlinedDocument {
  package var outline: PageOutline { index.outline }
}

extension XMLIndex {
  /// What the page holds, by local names; of elements of one name side by side, the first.
  fileprivate var outline: PageOutline {
    let name = name(of: 0).local
    let root = described(0, PageOutline.Node("/" + name, name: name, .scalar, depth: 1))
    return PageOutline(of: (0, root)) { node, parent in
      attributes(of: node, parent) + elements(in: node, parent)
    }
  }

  private typealias Child = PageOutline.Child

  private func attributes(of node: Int, _ parent: PageOutline.Node) -> [Child] {
    attributes(of: node).prefix(PageOutline.longest).compactMap { attribute in
      let name = name(of: attribute).local
      guard PageOutline.keeps(name: name) else { return nil }
      var child = PageOutline.Node(
        "\(parent.path)/@\(name)", name: name, .scalar, depth: parent.depth + 1)
      child.isInList = parent.isInList
      let text = value(of: attribute)
      if text.count <= PageOutline.longestText {
        child.value = .string(String(decoding: text, as: UTF8.self))
      }
      return (attribute, child)
    }
  }

  private func elements(in node: Int, _ parent: PageOutline.Node) -> [Child] {
    var groups: [(name: String, nodes: [Int])] = []
    var places: [String: Int] = [:]
    for child in children(of: node) {
      let name = name(of: child).local
      guard PageOutline.keeps(name: name) else { continue }
      if let place = places[name] {
        groups[place].nodes.append(child)
      } else if groups.count < PageOutline.longest {
        places[name] = groups.count
        groups.append((name, [child]))
      }
    }
    return groups.flatMap { group -> [Child] in
      let node = PageOutline.Node(
        "\(parent.path)/\(group.name)", name: group.name, .scalar, depth: parent.depth + 1)
      return links(in: group.nodes, node, parent) + [child(group.nodes, node, parent)]
    }
  }

  private func child(
    _ nodes: [Int], _ outline: PageOutline.Node, _ parent: PageOutline.Node
  ) -> Child {
    var child = described(nodes[0], outline)
    child.isInList = parent.isInList || parent.kind == .list
    guard nodes.count > 1 else { return (nodes[0], child) }
    child.holdsObjects = child.kind == .object
    child.kind = .list
    child.value = nil
    child.count = nodes.count
    return (nodes[0], child)
  }

  /// The link to the next page among elements of one name, as Atom has them.
  private func links(
    in nodes: [Int], _ outline: PageOutline.Node, _ parent: PageOutline.Node
  ) -> [Child] {
    guard outline.name == "link", !parent.isInList, parent.kind != .list else { return [] }
    for node in nodes.prefix(PageOutline.longestLinkList) {
      let own = attributes(of: node).map { (name(of: $0).local, string(of: $0)) }
      guard own.contains(where: { $0 == ("rel", "next") }),
        let target = own.first(where: { $0.0 == "href" })?.1, PageOutline.keeps(target)
      else { continue }
      var child = PageOutline.Node(
        outline.path + "[@rel='next']/@href", name: "next", .scalar, depth: outline.depth)
      child.value = .string(target)
      return [(node, child)]
    }
    return []
  }

  private func described(_ node: Int, _ outline: PageOutline.Node) -> PageOutline.Node {
    var outline = outline
    let count = children(of: node).prefix(PageOutline.longest).reduce(0) { count, _ in count + 1 }
    let attributes = attributes(of: node).prefix(1).reduce(0) { count, _ in count + 1 }
    if count + attributes > 0 {
      outline.kind = .object
      outline.count = count
    }
    if count == 0, let text = trimmedText(of: node), PageOutline.keeps(text) {
      outline.value = .string(text)
    }
    return outline
  }
}
