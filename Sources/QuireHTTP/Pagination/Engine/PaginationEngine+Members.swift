import QuireCore

/// Whether an answer without items is a page at all.
extension PaginationEngine {
  /// Throws `shape` for a page without items, where they are optional, that has none of the members
  /// that the description names either: an error in the place of a page ends no walk.
  func checkMembers(of answer: PageAnswer) throws {
    guard items.absentMeansEmpty, !(answer.document is EmptyDocument),
      try !isBlank(answer.document), try !hasNamedMember(answer)
    else { return }
    let paths = items.paths.map(\.place).joined(separator: " or ")
    throw PageError(
      .shape,
      "The page has neither items at \(paths) nor anything else that the description names, so that it "
        + "may be an error and no page. Where an empty page of this API looks so, name what it has in "
        + "policy.marks, or its total.")
  }

  /// Whether there is nothing at all: `{}` is how protocol buffers write a message of defaults.
  private func isBlank(_ document: any PageDocument) throws -> Bool {
    guard try document.count(at: "") ?? 0 == 0 else { return false }
    return try document.value(at: "")?.isBlank ?? true
  }

  private func hasNamedMember(_ answer: PageAnswer) throws -> Bool {
    if try (items.paths + pagination.policy.marks).contains(where: { try has($0, answer) }) {
      return true
    }
    let sources =
      (routes + backwardRoutes).map(\.next) + [pagination.resume?.next].compactMap(\.self)
    if try sources.contains(where: { try has($0, answer) }) { return true }
    if try pagination.size?.echo.map({ try has($0, answer) }) ?? false { return true }
    var values = totalSources.map(\.source) + pagination.request.carry.values.map(\.from)
    for rule in pagination.end {
      switch rule {
      case .flag(let flag): values.append(flag.source)
      case .lastPage(let condition): values += [condition.value].compactMap(\.self)
      default: break
      }
    }
    return try values.contains { try has($0, answer) }
  }

  private func has(_ source: ValueSource, _ answer: PageAnswer) throws -> Bool {
    switch source {
    case .body(let path), .count(let path): try has(path, answer)
    case .firstOf(let sources): try sources.contains { try has($0, answer) }
    default: try answer.value(at: source, items: items) != nil
    }
  }

  private func has(_ source: NextSource, _ answer: PageAnswer) throws -> Bool {
    switch source {
    case .linkHeader(let rel, let conditions):
      answer.links.first(relation: rel, where: conditions) != nil
    case .header(let name): answer.field(name) != nil
    case .body(let path), .offset(_, .body(let path)), .index(let path, _, _):
      try has(path, answer)
    case .pageNumber(_, let path): try path.map { try has($0, answer) } ?? false
    case .contentRange: answer.contentRange != nil
    case .transformed(let source, _): try has(source, answer)
    case .all(let sources): try sources.values.contains { try has($0, answer) }
    case .firstOf(let routes): try routes.contains { try has($0.next, answer) }
    case .lastItem, .firstItem, .maxItem, .offset: false
    }
  }

  /// Whether a path leads somewhere, or what it starts with is there: the object around a member, the
  /// root element.
  private func has(_ path: PagePath, _ answer: PageAnswer) throws -> Bool {
    if try answer.document.value(at: path) != nil { return true }
    if try answer.document.count(at: path) ?? 0 > 0 { return true }
    for way in path.text.split(separator: " | ") where way.hasPrefix("/") && !way.hasPrefix("//") {
      let name = way.dropFirst().prefix { $0 != "/" && $0 != "[" }
      guard !name.isEmpty, name != "*", let start = try? PagePath("/" + name) else { continue }
      if try answer.document.value(at: start) != nil { return true }
      if try answer.document.count(at: start) ?? 0 > 0 { return true }
    }
    return false
  }
}
