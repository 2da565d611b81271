import QuirePagination

/// Finds the secrets in a text of XML by the names of its elements and attributes, in one pass. All
/// texts and attributes below an element with the name of a secret are secrets, too. The name may
/// also be in an attribute, as in `<param name="token">`, or in an element before that of the value,
/// as in `<name>token</name><value>…</value>`.
///
/// The text is the caller's own and need not be well-formed: what is no markup is skipped.
struct XMLSecrets {
  /// The names and the decoded values of the secrets.
  private(set) var found: [(name: String, value: String)] = []

  private let bytes: [UInt8]
  private var place = 0
  /// The number of open elements.
  private var depth = 0
  /// The outermost open element with the name of a secret, and the number of elements open in it.
  private var secret: (name: String, depth: Int)?
  /// The text of that element since the last tag, all of it, and the number of its parts.
  private var part: [UInt8] = []
  private var whole: [UInt8] = []
  private var parts = 0
  /// The innermost open element whose text is the name of its next sibling's value.
  private var naming: (text: [UInt8], depth: Int)?
  /// The name of a secret that such an element held, and the number of elements open in siblings.
  private var named: (secret: String, depth: Int)?

  init(_ text: String) {
    bytes = Array(text.utf8)
    while place < bytes.count { readNext() }
    endPart()
    depth = 0
    endElement()
  }

  private mutating func readNext() {
    if bytes[place] != UInt8(ascii: "<") {
      let end = bytes[place...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
      if secret != nil || naming != nil { addText(Self.decoded(bytes[place..<end])) }
      place = end
    } else if let text = skip("<![CDATA[", to: "]]>") {
      addText(text)
    } else if skip("<!--", to: "-->") == nil, skip("<?", to: "?>") == nil,
      skip("<!", to: ">") == nil
    {
      endPart()
      if skip("</", to: ">") != nil { endElement() } else { readTag() }
    }
  }

  /// Skips markup with this beginning and this end. Returns its content; nil for other markup.
  private mutating func skip(_ opening: String, to closing: String) -> ArraySlice<UInt8>? {
    guard bytes[place...].starts(with: opening.utf8) else { return nil }
    let start = place + opening.utf8.count
    var end = start
    while end < bytes.count, !bytes[end...].starts(with: closing.utf8) { end += 1 }
    place = min(bytes.count, end + closing.utf8.count)
    return bytes[start..<end]
  }

  // MARK: Elements

  /// Reads a start tag. A `<` ends it as well, because no tag contains one.
  private mutating func readTag() {
    place += 1
    let name = Self.localName(readName())
    depth += 1
    let sibling = named?.depth == depth && NamedSecret.isValue(name) ? named?.secret : nil
    let ownName = SecretName.matches(name) ? name : sibling
    if secret == nil, let ownName { secret = (ownName, depth) }
    if NamedSecret.isName(name) { naming = ([], depth) }
    let isWithin = secret != nil
    var attributes: [(name: String, value: String)] = []
    var isEmpty = false
    while place < bytes.count, bytes[place] != UInt8(ascii: "<") {
      let byte = bytes[place]
      if byte == UInt8(ascii: ">") {
        place += 1
        break
      }
      isEmpty = byte == UInt8(ascii: "/")
      if Self.endsName(byte) {
        place += 1
      } else if let attribute = readAttribute() {
        attributes.append(attribute)
      }
    }
    if secret == nil {
      let name = attributes.first { NamedSecret.isName($0.name) && NamedSecret.matches($0.value) }
      secret = name.map { (name: $0.value, depth: depth) }
    }
    for (name, value) in attributes
    where isWithin || SecretName.matches(name) || secret != nil && NamedSecret.isValue(name) {
      add(name, value)
    }
    if isEmpty { endElement() }
  }

  /// Returns the local name and the value of an attribute; nil for a declaration of a namespace and
  /// for what is no attribute.
  private mutating func readAttribute() -> (name: String, value: String)? {
    let name = readName()
    skipBlanks()
    guard place < bytes.count, bytes[place] == UInt8(ascii: "=") else { return nil }
    place += 1
    skipBlanks()
    guard place < bytes.count, "\"'".utf8.contains(bytes[place]) else { return nil }
    let (quote, start) = (bytes[place], place + 1)
    place = start
    while place < bytes.count, bytes[place] != quote, bytes[place] != UInt8(ascii: "<") {
      place += 1
    }
    let value = Self.decoded(bytes[start..<place])
    if place < bytes.count, bytes[place] == quote { place += 1 }
    guard !name.starts(with: "xmlns".utf8) else { return nil }
    return (Self.localName(name), String(decoding: value, as: UTF8.self))
  }

  private mutating func endElement() {
    if let naming, naming.depth >= depth {
      let text = String(decoding: naming.text, as: UTF8.self).trimmingBlanks
      named = NamedSecret.matches(text) ? (secret: text, depth: naming.depth) : nil
      self.naming = nil
    } else if let named, named.depth > depth {
      self.named = nil
    }
    depth = max(0, depth - 1)
    guard let secret, depth < secret.depth else { return }
    if parts > 1 {
      add(secret.name, String(decoding: whole, as: UTF8.self).trimmingBlanks)
    }
    (self.secret, whole, parts) = (nil, [], 0)
  }

  private mutating func addText(_ text: some Sequence<UInt8>) {
    if secret != nil { part += text }
    naming?.text += text
  }

  private mutating func endPart() {
    guard let secret, !part.isEmpty else { return }
    let text = String(decoding: part, as: UTF8.self).trimmingBlanks
    add(secret.name, text)
    if !text.isEmpty { parts += 1 }
    whole += part
    part = []
  }

  private mutating func add(_ name: String, _ value: String) {
    if !value.isEmpty { found.append((name, value)) }
  }

  // MARK: Names and texts

  private mutating func readName() -> ArraySlice<UInt8> {
    let start = place
    while place < bytes.count, bytes[place] != UInt8(ascii: "<"), !Self.endsName(bytes[place]) {
      place += 1
    }
    return bytes[start..<place]
  }

  private mutating func skipBlanks() {
    while place < bytes.count, bytes[place] <= 0x20 { place += 1 }
  }

  private static func endsName(_ byte: UInt8) -> Bool { byte <= 0x20 || "=/>".utf8.contains(byte) }

  private static func localName(_ name: ArraySlice<UInt8>) -> String {
    String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? name, as: UTF8.self)
  }

  /// Returns a text with its references replaced by what they stand for.
  private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    text.withUnsafeBufferPointer { text in
      var result: [UInt8] = []
      var index = 0
      while index < text.count {
        if text[index] == UInt8(ascii: "&"),
          let (value, end) = SecretPattern.entity(text, at: index)
        {
          result += value
          index = end
        } else {
          result.append(text[index])
          index += 1
        }
      }
      return result
    }
  }
}
