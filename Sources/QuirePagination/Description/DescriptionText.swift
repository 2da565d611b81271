import QuireCore

/// A formatter of JSON for people: a value that fits on a line stays on it, except for an outermost
/// object, and members follow the order of the documentation.
struct DescriptionText {
  private let width: Int
  private static let order = [
    "next", "send", "request", "end", "items", "size", "total", "policy", "previous", "resume",
    "formats",
    "from", "name", "of", "source",
    "when", "status", "value", "equals", "class", "rel", "where", "failure", "links",
  ]

  /// Creates a formatter for lines of up to `width` characters.
  init(width: Int = 100) { self.width = width }

  /// Returns `value` as text, without a line end behind it.
  func text(_ value: JSONValue) -> String { text(value, indent: "", room: width) }

  private func text(_ value: JSONValue, indent: String, room: Int) -> String {
    let line = Self.line(value)
    if line.count <= room && !(indent.isEmpty && line.first == "{") { return line }
    let inner = indent + "  "
    switch value {
    case .array(let elements) where !elements.isEmpty:
      let lines = elements.map {
        inner + text($0, indent: inner, room: width - inner.count - 1)
      }
      return "[\n" + lines.joined(separator: ",\n") + "\n" + indent + "]"
    case .object(let members) where !members.isEmpty:
      let lines = Self.sorted(members).map { member in
        let name = inner + JSONValue.string(member.name).description + ": "
        return name + text(member.value, indent: inner, room: width - name.count - 1)
      }
      return "{\n" + lines.joined(separator: ",\n") + "\n" + indent + "}"
    default: return line
    }
  }

  private static func line(_ value: JSONValue) -> String {
    switch value {
    case .array(let elements): "[" + elements.map(line).joined(separator: ", ") + "]"
    case .object(let members):
      "{"
        + sorted(members).map { JSONValue.string($0.name).description + ": " + line($0.value) }
        .joined(separator: ", ") + "}"
    default: value.description
    }
  }

  private static func sorted(_ members: [JSONValue.Member]) -> [JSONValue.Member] {
    func rank(_ member: JSONValue.Member) -> Int {
      order.firstIndex(of: member.name) ?? order.count
    }
    return members.sorted { (rank($0), $0.name) < (rank($1), $1.name) }
  }
}
