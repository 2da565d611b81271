import Quire

/// The formats that a listing may come in.
enum PageFormat: CaseIterable {
  case json, xml

  var contentType: String { self == .json ? "application/json" : "application/xml" }

  /// The page written in this format: in XML an object is an element with a child for each member,
  /// a list one with a child `i` for each element, and the root is `page`.
  func bytes(_ page: JSONValue) -> [UInt8] {
    Array((self == .json ? page.description : Self.element("page", page)).utf8)
  }

  private static func element(_ name: String, _ value: JSONValue) -> String {
    let content =
      switch value {
      case .null: ""
      case .bool(let flag): flag ? "true" : "false"
      case .number(let text), .string(let text): text
      case .array(let elements): elements.map { element("i", $0) }.joined()
      case .object(let members): members.map { element($0.name, $0.value) }.joined()
      }
    return "<\(name)>\(content)</\(name)>"
  }
}
