import QuireCore

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

extension JSONValue {
  /// The value with another one at a path. What is missing on the way is made: an array where the
  /// path has a number, the last element or a filter, else an object.
  func planting(_ value: JSONValue, at path: PagePath) -> JSONValue {
    planting(value, at: path.steps[...])
  }

  /// The value with items at a path, in the way that a selector finds them.
  func planting(
    _ items: [JSONValue], at path: PagePath, as shape: Pagination.Items.Arrangement
  ) -> JSONValue {
    switch shape {
    case .lists: planting(.array(items), at: path)
    case .members: planting(.object(items.map(\.asMember)), at: path)
    case .columns: planting(Self.columns(of: items), at: path)
    case .matches: items.reduce(self) { $0.planting($1, at: path) }
    }
  }

  /// `{"name": "a", "value": 1}` as a member; an item without such names is one itself.
  private var asMember: Member {
    Member(self["name"]?.plainText ?? self["number"]?.plainText ?? "", self)
  }

  private static func columns(of rows: [JSONValue]) -> JSONValue {
    .object([
      Member("number", .array(rows.compactMap { $0["number"] })),
      Member("double", .array(rows.compactMap { $0["number"] })),
    ])
  }

  private func planting(_ value: JSONValue, at steps: ArraySlice<PagePath.Step>) -> JSONValue {
    guard let step = steps.first else { return value }
    let rest = steps.dropFirst()
    switch step {
    case .name(let name):
      if let index = Int(name), !isObject { return setting(index, to: rest, value) }
      return setting(name, to: rest, value)
    // The items below the first step are one behind the other, those below another in one place.
    case .each where rest.contains(.each):
      return setting(max(0, elements.count - 1), to: rest, value)
    case .each: return setting(elements.count, to: rest, value)
    case .last: return setting(max(0, elements.count - 1), to: rest, value)
    case .filter(let name, let wanted):
      let others = elements.firstIndex { $0[name]?.plainText == wanted }
      let place = others ?? elements.count
      let element = others.map { elements[$0] } ?? .object([.init(name, .string(wanted))])
      return .array(elements.replacing(place, with: element.planting(value, at: rest)))
    }
  }

  private var isObject: Bool { if case .object = self { true } else { false } }

  private var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }

  private func setting(
    _ index: Int, to steps: ArraySlice<PagePath.Step>, _ value: JSONValue
  ) -> JSONValue {
    let old = elements.indices.contains(index) ? elements[index] : .null
    return .array(elements.replacing(index, with: old.planting(value, at: steps)))
  }

  private func setting(
    _ name: String, to steps: ArraySlice<PagePath.Step>, _ value: JSONValue
  ) -> JSONValue {
    var members: [Member] = []
    if case .object(let own) = self { members = own }
    let index = members.firstIndex { $0.name == name }
    let member = Member(
      name, (index.map { members[$0].value } ?? .null).planting(value, at: steps))
    if let index { members[index] = member } else { members.append(member) }
    return .object(members)
  }
}

extension [JSONValue] {
  /// The list with an element in that place, and null in those before it that were not there.
  fileprivate func replacing(_ index: Int, with element: JSONValue) -> [JSONValue] {
    var copy = self
    while copy.count <= index { copy.append(.null) }
    copy[index] = element
    return copy
  }
}
