import QuireCore

extension JSONValue {
  /// The value at a path of names and indices; nil where there is none.
  func value(at path: PagePath) -> JSONValue? {
    path.steps.reduce(self as JSONValue?) { found, step in
      switch (found, step) {
      case (.object?, .name(let name)): found?[name]
      case (.array(let elements)?, .name(let name)):
        Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
      case (.array(let elements)?, .last): elements.last
      default: nil
      }
    }
  }

  /// This value with another one at a path; objects on the way are made where nothing is.
  ///
  /// Throws `invalidArgument` where the path leads through something that has no members.
  func setting(_ value: JSONValue, at path: PagePath) throws(PageError) -> JSONValue {
    do {
      return try setting(value, at: path.steps[...])
    } catch {
      throw PageError(
        .invalidArgument,
        "The request body has no place for a value at \"\(path)\": something on the way is "
          + "neither an object nor a list that long.")
    }
  }

  /// This value without the member at a path of names.
  func removing(_ path: PagePath) -> JSONValue { removing(path.steps[...]) }

  private func removing(_ steps: ArraySlice<PagePath.Step>) -> JSONValue {
    guard case .object(var members) = self, case .name(let name)? = steps.first,
      let index = members.firstIndex(where: { $0.name == name })
    else { return self }
    if steps.count == 1 {
      members.remove(at: index)
    } else {
      members[index].value = members[index].value.removing(steps.dropFirst())
    }
    return .object(members)
  }

  private struct NoPlace: Error {}

  private func setting(
    _ value: JSONValue, at steps: ArraySlice<PagePath.Step>
  ) throws(NoPlace) -> JSONValue {
    guard let step = steps.first else { return value }
    let rest = steps.dropFirst()
    switch (self, step) {
    case (.object(var members), .name(let name)):
      if let index = members.firstIndex(where: { $0.name == name }) {
        members[index].value = try members[index].value.setting(value, at: rest)
      } else {
        members.append(Member(name, try JSONValue.object([]).setting(value, at: rest)))
      }
      return .object(members)
    case (.null, .name):
      return try JSONValue.object([]).setting(value, at: steps)
    case (.array(var elements), _):
      let place: Int? = if case .name(let name) = step { Int(name) } else { elements.count - 1 }
      guard let place, elements.indices.contains(place) else { throw NoPlace() }
      elements[place] = try elements[place].setting(value, at: rest)
      return .array(elements)
    default:
      throw NoPlace()
    }
  }
}
