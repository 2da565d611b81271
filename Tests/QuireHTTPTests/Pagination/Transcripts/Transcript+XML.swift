import HTTPTypes
import QuireCore
import QuireTesting

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// The same listing in the other format: what JSON says, said in XML, and paths that lead there.
///
/// An object becomes an element with a child for each member, a list one with a child `i` for each
/// element; the root is `page`.
extension Transcript {
  /// What XML cannot say, or cannot say alike.
  struct Inexpressible: Error { var reason: String }

  /// The transcript with answers in XML; nil where they are no JSON to begin with.
  func inXML() throws -> Transcript? {
    let bodies = exchanges.map(\.answerBody).filter { !$0.isEmpty }
    guard !isBytes, ![.members, .columns].contains(pagination.items.arrangement), !bodies.isEmpty,
      !bodies.contains(where: Self.isXML)
    else {
      return nil
    }
    if !pagination.items.absentMeansEmpty, bodies.contains(where: hasNullItems) {
      throw Inexpressible(reason: "null for a list")
    }
    var copy = self
    for index in exchanges.indices where !exchanges[index].answerBody.isEmpty {
      copy.exchanges[index].answerBody = try Self.xml(exchanges[index].answerBody)
      copy.exchanges[index].answer.headerFields[.contentType] = "application/xml"
    }
    let description = try JSONDocument(Array(pagination.json.utf8)).value(at: "")
    let rewritten = try Self.rewrite(description ?? .null, under: "")
    copy.pagination = try Pagination(json: rewritten.description.utf8)
    if id.text.hasPrefix("/") { copy.id = try PagePath(Self.path(id.text, from: "")) }
    copy.pagination.formats = []
    return copy
  }

  private static func isXML(_ body: String) -> Bool {
    body.unicodeScalars.first { $0 != "\u{FEFF}" } == "<"
  }

  private func hasNullItems(_ body: String) -> Bool {
    guard let page = try? JSONDocument(Array(body.utf8)) else { return false }
    return pagination.items.paths.contains { (try? page.value(at: $0)) == .some(.null) }
  }

  // MARK: Pages

  private static func xml(_ text: String) throws -> String {
    let value: JSONValue?
    do { value = try JSONDocument(Array(text.utf8)).value(at: "") } catch {
      throw Inexpressible(reason: "broken JSON")
    }
    return try element("page", value ?? .null)
  }

  private static func element(_ name: String, _ value: JSONValue) throws -> String {
    try checkName(name)
    let content =
      switch value {
      case .null: ""
      case .bool(let flag): flag ? "true" : "false"
      case .number(let text): text
      case .string(let text): try escaped(text)
      case .array(let elements): try elements.map { try element("i", $0) }.joined()
      case .object(let members): try members.map { try element($0.name, $0.value) }.joined()
      }
    return "<\(name)>\(content)</\(name)>"
  }

  private static func escaped(_ text: String) throws -> String {
    guard !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
      throw Inexpressible(reason: "control characters")
    }
    return text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
      .replacing(">", with: "&gt;")
  }

  private static func checkName(_ name: String) throws {
    guard name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_.-]*/) != nil else {
      throw Inexpressible(reason: "names that no element has")
    }
  }

  // MARK: Descriptions

  /// Below these, texts are no paths into a page.
  private static let untouched = [
    "jsonBody", "form", "query", "header", "path", "always", "equals", "notEquals", "isOneOf",
    "contains", "linkHeader", "template", "first", "keep", "where", "then", "open", "close",
    "bodyMerge", "reanchor", "scope",
  ]

  private static func rewrite(_ value: JSONValue, under name: String) throws -> JSONValue {
    switch value {
    case _ where untouched.contains(name): return value
    case .string(let text) where name.hasPrefix("items"):
      return .string(try path(text, from: "/page") + "/i")
    case .string(let text) where ["lastItem", "firstItem", "maxItem", "by"].contains(name):
      return .string(try path(text, from: ""))
    case .string(let text):
      return text.hasPrefix("/") ? .string(try path(text, from: "/page")) : value
    case .array(let elements):
      return .array(try elements.map { try rewrite($0, under: name) })
    case .object(let members):
      return .object(
        try members.map {
          let inside = name.hasPrefix("items") ? "items" : $0.name
          return .init($0.name, try rewrite($0.value, under: inside))
        })
    case .null, .bool, .number: return value
    }
  }

  private static func path(_ text: String, from root: String) throws -> String {
    try PagePath(text.split(separator: " | ").first.map(String.init) ?? "").steps
      .reduce(root) { path, step in
        switch step {
        case .last: return path + "/i[last()]"
        case .each: return path + "/*"
        case .filter(let name, let value): return path + "/i[\(name)='\(value)']"
        case .name(let name):
          if let index = Int(name) { return path + "/i[\(index + 1)]" }
          try checkName(name)
          return path + "/\(name)"
        }
      }
  }
}
