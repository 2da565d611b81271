/// Written out because strings compare by canonical equivalence, and cursors by their bytes.
extension JSONValue {
  /// Whether both are the same, byte for byte.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)), (.string(let left), .string(let right)):
      left.utf8.elementsEqual(right.utf8)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .number(let text): hasher.combine(bytesOf: text, as: 1)
    case .string(let text): hasher.combine(bytesOf: text, as: 2)
    case .array(let elements): hasher.combine(elements)
    case .object(let members): hasher.combine(members)
    }
  }
}

extension JSONValue.Member {
  /// Whether name and value are the same, byte for byte.
  public static func == (left: Self, right: Self) -> Bool {
    left.name.utf8.elementsEqual(right.name.utf8) && left.value == right.value
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(bytesOf: name, as: 3)
    hasher.combine(value)
  }
}

extension Hasher {
  fileprivate mutating func combine(bytesOf text: String, as kind: UInt8) {
    var text = text
    combine(kind)
    combine(text.utf8.count)
    text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
