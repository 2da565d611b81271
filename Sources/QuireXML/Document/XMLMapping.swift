import QuirePagination
import QuireCore

/// An element as JSON, without loss; `XMLItem.value` says how.
struct XMLMapping {
  private let index: XMLIndex

  init(_ index: XMLIndex) { self.index = index }

  func value(of node: Int) throws -> JSONValue {
    var text: [UInt8] = []
    append(node, to: &text)
    return try JSONValue(parsing: text)
  }

  /// Appends the element as JSON text without white space.
  func append(_ node: Int, to output: inout [UInt8]) {
    let hasHeading = hasHeading(node)
    let children = groups(of: node)
    if !hasHeading, case .none = children {
      return appendText(of: node, to: &output)
    }
    var members = Members(index: index)
    appendHeading(of: node, &members, to: &output)
    switch children {
    case .none:
      if index.hasText(node) {
        members.begin("#text", to: &output)
        appendText(of: node, to: &output)
      }
    case .named(let groups):
      for group in groups {
        members.begin(index.name(of: group[0]).qualified, to: &output)
        appendList(group, to: &output)
      }
    case .mixed:
      members.begin("#content", to: &output)
      appendContent(of: node, to: &output)
    }
    members.end(to: &output)
  }

  // MARK: Shapes

  private enum Children {
    case none
    /// Elements by name, in order.
    case named([[Int]])
    /// Text between elements, or a name that comes back after another one.
    case mixed
  }

  private func groups(of node: Int) -> Children {
    var groups: [[Int]] = []
    var names: Set<Int> = []
    var last: Int?
    for child in index.children(of: node) {
      let name = index.record(child).name
      if name == last {
        groups[groups.count - 1].append(child)
      } else {
        guard names.insert(name).inserted else { return .mixed }
        groups.append([child])
        last = name
      }
    }
    if groups.isEmpty { return .none }
    return index.hasWords(node) ? .mixed : .named(groups)
  }

  private func hasHeading(_ node: Int) -> Bool {
    guard node + 1 < Int(index.record(node).next) else { return false }
    switch index.record(node + 1).kind {
    case .namespace, .attribute, .composedAttribute: return true
    case .element, .text, .composedText, .space, .composedSpace: return false
    }
  }

  // MARK: Parts

  /// Namespaces and attributes.
  private func appendHeading(of node: Int, _ members: inout Members, to output: inout [UInt8]) {
    var child = node + 1
    while child < Int(index.record(node).next) {
      let name = index.name(of: child)
      switch index.record(child).kind {
      case .namespace:
        members.begin(name.local.isEmpty ? "@xmlns" : "@xmlns:" + name.local, to: &output)
      case .attribute, .composedAttribute: members.begin("@" + name.qualified, to: &output)
      case .element, .text, .composedText, .space, .composedSpace: return
      }
      Self.append(quoted: index.value(of: child), to: &output)
      child += 1
    }
  }

  private func appendList(_ nodes: [Int], to output: inout [UInt8]) {
    guard nodes.count > 1 else { return append(nodes[0], to: &output) }
    output.append(UInt8(ascii: "["))
    for (position, node) in nodes.enumerated() {
      if position > 0 { output.append(UInt8(ascii: ",")) }
      append(node, to: &output)
    }
    output.append(UInt8(ascii: "]"))
  }

  private func appendContent(of node: Int, to output: inout [UInt8]) {
    var isFirst = true
    output.append(UInt8(ascii: "["))
    var child = node + 1
    while child < Int(index.record(node).next) {
      let kind = index.record(child).kind
      if kind == .element || kind.isText {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
      }
      if kind == .element {
        var members = Members(index: index)
        members.begin(index.name(of: child).qualified, to: &output)
        append(child, to: &output)
        members.end(to: &output)
      } else if kind.isText {
        Self.append(quoted: index.value(of: child), to: &output)
      }
      child = Int(index.record(child).next)
    }
    output.append(UInt8(ascii: "]"))
  }

  private func appendText(of node: Int, to output: inout [UInt8]) {
    index.withText(of: node) { Self.append(quoted: $0, to: &output) }
  }

  // MARK: JSON

  /// An object being written.
  private struct Members {
    let index: XMLIndex
    var isEmpty = true

    mutating func begin(_ name: String, to output: inout [UInt8]) {
      output.append(isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
      isEmpty = false
      var name = name
      name.withUTF8 { XMLMapping.append(quoted: $0, to: &output) }
      output.append(UInt8(ascii: ":"))
    }

    func end(to output: inout [UInt8]) {
      if isEmpty { output.append(UInt8(ascii: "{")) }
      output.append(UInt8(ascii: "}"))
    }
  }

  /// Appends a string of valid UTF-8 as JSON (RFC 8259, section 7).
  private static func append(quoted text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    var start = 0
    for (place, byte) in text.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
      output.append(contentsOf: text[start..<place])
      start = place + 1
      switch byte {
      case 0x22, 0x5C: output += [0x5C, byte]
      case 0x0A: output += "\\n".utf8
      case 0x0D: output += "\\r".utf8
      case 0x09: output += "\\t".utf8
      default:
        let digits = String(byte, radix: 16)
        output += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
      }
    }
    output.append(contentsOf: text[start...])
    output.append(UInt8(ascii: "\""))
  }
}

extension XMLIndex {
  /// Whether an element has text of its own, white space included.
  func hasText(_ node: Int) -> Bool { has(node) { $0.isText } }

  /// Whether an element has text of its own that is more than white space.
  func hasWords(_ node: Int) -> Bool { has(node) { $0 == .text || $0 == .composedText } }

  private func has(_ node: Int, _ isWanted: (XMLRecord.Kind) -> Bool) -> Bool {
    var child = node + 1
    while child < Int(records[node].next) {
      if isWanted(records[child].kind) { return true }
      child = Int(records[child].next)
    }
    return false
  }
}
