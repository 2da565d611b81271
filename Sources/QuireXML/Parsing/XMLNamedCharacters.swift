import CXML2

/// The named characters of HTML, for pages whose authors took them for XML's.
///
/// Source: HTML 4.01, section 24.
enum XMLNamedCharacters {
  /// The text of each name.
  private static let texts: [String: String] = {
    let words = table.split(separator: " ")
    var texts: [String: String] = [:]
    for index in stride(from: 0, to: words.count - 1, by: 2) {
      guard let value = UInt32(words[index + 1], radix: 16), let scalar = Unicode.Scalar(value)
      else { continue }
      texts[String(words[index])] = String(scalar)
    }
    return texts
  }()

  /// One entity for each name, in both kinds.
  private struct Entities {
    var inText: [String: xmlEntityPtr] = [:]
    var inValues: [String: xmlEntityPtr] = [:]
  }

  // SAFETY: made once, under the lock of static initialisation; libxml2 only reads predefined
  // entities, and of others whose content was checked, only the name.
  nonisolated(unsafe) private static let entities: Entities = {
    var entities = Entities()
    for (name, text) in texts {
      entities.inText[name] = make(name, text, XML_INTERNAL_PREDEFINED_ENTITY)
      entities.inValues[name] = make(name, text, XML_INTERNAL_GENERAL_ENTITY)
    }
    return entities
  }()

  /// The entity for a name, or nil.
  ///
  /// In text, libxml2 hands on the content of a predefined entity as it is. In an attribute's value
  /// it would take the first byte of it: there, another kind makes it leave the reference alone.
  static func entity(named name: UnsafePointer<xmlChar>, isValue: Bool) -> xmlEntityPtr? {
    let name = String(cString: name)
    return isValue ? entities.inValues[name] : entities.inText[name]
  }

  private static func make(_ name: String, _ text: String, _ kind: xmlEntityType) -> xmlEntityPtr {
    let entity = xmlEntityPtr.allocate(capacity: 1)
    entity.initialize(to: xmlEntity())
    entity.pointee.type = XML_ENTITY_DECL
    entity.pointee.name = UnsafePointer(copy(name))
    entity.pointee.content = copy(text)
    entity.pointee.orig = copy(text)
    entity.pointee.length = Int32(text.utf8.count)
    entity.pointee.etype = kind
    // Keeps libxml2 from parsing the content.
    entity.pointee.checked = 1
    return entity
  }

  private static func copy(_ text: String) -> UnsafeMutablePointer<xmlChar> {
    let bytes = Array(text.utf8) + [0]
    let copy = UnsafeMutablePointer<xmlChar>.allocate(capacity: bytes.count)
    copy.initialize(from: bytes, count: bytes.count)
    return copy
  }

  /// An attribute's value with the references resolved that libxml2 leaves in it: `&#38;`, and names
  /// of this table.
  static func resolve(_ value: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(value.count)
    var index = 0
    while index < value.count {
      guard value[index] == UInt8(ascii: "&"),
        let end = value[index...].firstIndex(of: UInt8(ascii: ";"))
      else {
        result.append(value[index])
        index += 1
        continue
      }
      let name = String(decoding: value[(index + 1)..<end], as: UTF8.self)
      result += name == "#38" ? [UInt8(ascii: "&")] : Array((texts[name] ?? "&\(name);").utf8)
      index = end + 1
    }
    return result
  }
}
