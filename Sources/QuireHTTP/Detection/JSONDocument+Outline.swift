import QuireCore

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
    names(of: object).prefix(PageOutline.longest).compactMap { name in
      guard let text = try? text(at: name), PageOutline.keeps(name: text) else { return nil }
      var child = PageOutline.Node(
        parent.path + PagePath.pointer(to: text), name: text, .scalar, depth: parent.depth + 1)
      child.isInList = parent.isInList
      describe(name + 1, in: &child)
      return (name + 1, child)
    }
  }

  /// The first element of a list, and its links to the next page.
  private func first(of list: Int, _ parent: PageOutline.Node) -> [Child] {
    var children: [Child] = []
    for element in elements(of: list).prefix(1) {
      var child = PageOutline.Node(
        parent.path + "/0", name: parent.name, .scalar, depth: parent.depth + 1)
      child.isInList = true
      describe(element, in: &child)
      children.append((element, child))
    }
    guard !parent.isInList else { return children }
    for element in elements(of: list).prefix(PageOutline.longestLinkList) {
      guard let link = linkByRelation(element, parent) else { continue }
      children.append(link)
    }
    return children
  }

  private func linkByRelation(_ element: Int, _ parent: PageOutline.Node) -> Child? {
    for (relation, target) in [("rel", "href"), ("relation", "url")] {
      let path = "\(parent.path)[\(relation)=next]/\(target)"
      guard case .node(let node)? = try? find("/\(target)", from: element),
        case .node(let kind)? = try? find("/\(relation)", from: element),
        let names = try? value(of: kind), names == "next" || names == ["next"]
      else { continue }
      var child = PageOutline.Node(path, name: "next", .scalar, depth: parent.depth + 1)
      describe(node, in: &child)
      return (node, child)
    }
    return nil
  }

  private func find(_ text: String, from node: Int) throws -> Lookup {
    try find(PagePath(text), from: node)
  }

  /// Fills in kind, count and value.
  private func describe(_ node: Int, in outline: inout PageOutline.Node) {
    let word = word(at: node)
    switch word.kind {
    case .array:
      outline.kind = .list
      outline.count = word.length
      outline.holdsObjects =
        elements(of: node).first { _ in true }
        .map { self.word(at: $0).kind.isContainer } ?? false
    case .object:
      outline.kind = .object
      outline.count = word.length
      for name in ["/href", "/url", "/@id"] {
        guard case .node(let link)? = try? find(name, from: node),
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
