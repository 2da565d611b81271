import QuireCore

/// An XML request body in which values are replaced; every other byte stays unchanged.
///
/// It finds places by names alone, in one pass over the caller's own text. It need not be a parser,
/// because only values come from outside, and they are escaped.
package struct XMLTemplate {
  private let bytes: [UInt8]

  package init(_ text: String) { bytes = Array(text.utf8) }

  /// Returns the text or attribute at a path; nil if there is none.
  func value(at path: PagePath) throws(PageError) -> String? {
    guard let place = try place(of: path) else { return nil }
    return place.isNew ? nil : text(of: place.range)
  }

  /// Returns the body with `value` at a path.
  ///
  /// Throws `invalidArgument` if the path has predicates, namespaces or `*`, or if the body lacks
  /// the element.
  func setting(_ value: String, at path: PagePath) throws(PageError) -> String {
    guard let place = try place(of: path) else {
      throw PageError(
        .invalidArgument,
        "The request body has no element at \"\(path)\" without elements of its own, where a value goes. "
          + "Write it into the body, empty or with the value of the first page.")
    }
    let text = place.before + Self.escape(value) + place.after
    return String(
      decoding: bytes[..<place.range.lowerBound] + text.utf8 + bytes[place.range.upperBound...],
      as: UTF8.self)
  }

  /// Returns the paths and values of elements without child elements, and of attributes that
  /// declare no namespace. A path that occurs again is left out, and at most `most` are returned.
  package func leaves(most: Int) -> [(path: PagePath, name: String, value: String)] {
    var leaves: [(path: PagePath, name: String, value: String)] = []
    var known: Set<String> = []
    func add(_ open: [String], _ attribute: String?, _ value: Range<Int>) {
      let text = "/" + (open + (attribute.map { ["@\($0)"] } ?? [])).joined(separator: "/")
      guard let name = attribute ?? open.last, let path = try? PagePath(text),
        known.insert(text).inserted
      else { return }
      leaves.append((path, name, self.text(of: value)))
    }
    _ = firstTag { tag, open in
      for (name, value) in attributes(of: tag) where !isNamespace(name) {
        add(open, localName(name), value)
      }
      if let place = content(of: tag) { add(open, nil, place.isNew ? 0..<0 : place.range) }
      return leaves.count >= most
    }
    return Array(leaves.prefix(most))
  }

  private func isNamespace(_ name: Range<Int>) -> Bool { bytes[name].starts(with: "xmlns".utf8) }

  /// The bytes that a value replaces, and the markup to write around a new value.
  private struct Place {
    var range: Range<Int>
    var before = ""
    var after = ""
    var isNew = false
  }

  /// The names of a path's elements, and of the attribute at its end.
  private struct Names {
    var elements: [String] = []
    var attribute: String?
    var isAnywhere: Bool

    init(_ path: PagePath) throws(PageError) {
      guard let xml = path.xml, !xml.steps.isEmpty else { throw Self.misfit(path) }
      isAnywhere = xml.startsAnywhere
      for step in xml.steps {
        switch step {
        case .element(.local(let name, namespace: nil), let predicates) where predicates.isEmpty:
          elements.append(name)
        case .attribute(.local(let name, namespace: nil)): attribute = name
        case .text: break
        default: throw Self.misfit(path)
        }
      }
      if elements.isEmpty { throw Self.misfit(path) }
    }

    private static func misfit(_ path: PagePath) -> PageError {
      PageError(
        .invalidArgument,
        "The path \"\(path)\" leads into a body of XML, where paths are names of elements and at "
          + "the end perhaps of an attribute: no predicates, no namespaces, no \"*\".")
    }

    func match(_ open: [String]) -> Bool {
      isAnywhere ? open.suffix(elements.count).elementsEqual(elements) : open == elements
    }
  }

  /// A start tag: `<name attributes>` or `<name attributes/>`.
  private struct Tag {
    /// The name as written, with its prefix.
    var name: Range<Int>
    /// The index behind the closing bracket.
    var end: Int
    var isEmpty: Bool
  }
}

// MARK: - Finding places

extension XMLTemplate {
  private func place(of path: PagePath) throws(PageError) -> Place? {
    let names = try Names(path)
    guard let tag = firstTag(where: { _, open in names.match(open) }) else { return nil }
    return names.attribute.map { attribute($0, in: tag) } ?? content(of: tag)
  }

  /// Returns the first start tag that `isMeant` accepts, which also gets the local names of the
  /// open elements, the tag's own last.
  private func firstTag(where isMeant: (_ tag: Tag, _ open: [String]) -> Bool) -> Tag? {
    var open: [String] = []
    var index = 0
    while let start = self.index(of: UInt8(ascii: "<"), from: index) {
      if let end = endOfMarkup(at: start) {
        if bytes[start...].starts(with: "</".utf8) { _ = open.popLast() }
        index = end
        continue
      }
      guard let tag = tag(at: start) else { return nil }
      open.append(localName(tag.name))
      if isMeant(tag, open) { return tag }
      if tag.isEmpty { open.removeLast() }
      index = tag.end
    }
    return nil
  }

  /// Returns the end of an end tag, comment, CDATA section, instruction or declaration; else nil.
  private func endOfMarkup(at start: Int) -> Int? {
    let kinds = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"), ("</", ">")]
    for (opening, closing) in kinds where bytes[start...].starts(with: opening.utf8) {
      let closing = Array(closing.utf8)
      var index = start + opening.utf8.count
      while index < bytes.count, !bytes[index...].starts(with: closing) { index += 1 }
      return min(bytes.count, index + closing.count)
    }
    return nil
  }

  private func tag(at start: Int) -> Tag? {
    var index = start + 1
    while index < bytes.count, !Self.endsName(bytes[index]) { index += 1 }
    let name = start + 1..<index
    var quote: UInt8?
    while index < bytes.count {
      let byte = bytes[index]
      if quote == byte {
        quote = nil
      } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if quote == nil, byte == UInt8(ascii: ">") {
        return Tag(name: name, end: index + 1, isEmpty: bytes[index - 1] == UInt8(ascii: "/"))
      }
      index += 1
    }
    return nil
  }

  private func attribute(_ wanted: String, in tag: Tag) -> Place {
    let alike = attributes(of: tag).filter { localName($0.name) == wanted }
    // A path names an attribute without a prefix, as most are; one with a prefix is taken for want
    // of it.
    if let found = alike.first(where: { $0.name.count == wanted.utf8.count }) ?? alike.first {
      return Place(range: found.value)
    }
    let end = Self.endOfAttributes(tag)
    return Place(range: end..<end, before: " \(wanted)=\"", after: "\"", isNew: true)
  }

  private static func endOfAttributes(_ tag: Tag) -> Int { tag.end - (tag.isEmpty ? 2 : 1) }

  /// Returns the names and values of a tag's attributes.
  private func attributes(of tag: Tag) -> [(name: Range<Int>, value: Range<Int>)] {
    var found: [(name: Range<Int>, value: Range<Int>)] = []
    var index = tag.name.upperBound
    let end = Self.endOfAttributes(tag)
    while index < end {
      while index < end, bytes[index].isWhiteSpace { index += 1 }
      let start = index
      while index < end, !Self.endsName(bytes[index]) { index += 1 }
      let name = start..<index
      while index < end, !Self.isQuote(bytes[index]) { index += 1 }
      guard index < end else { break }
      let quote = bytes[index]
      let value = index + 1
      index = value
      while index < end, bytes[index] != quote { index += 1 }
      found.append((name, value..<index))
      index += 1
    }
    return found
  }

  /// Returns the content of an element; nil if it has child elements or no end.
  private func content(of tag: Tag) -> Place? {
    if tag.isEmpty {
      let name = String(decoding: bytes[tag.name], as: UTF8.self)
      return Place(
        range: tag.end - 2..<tag.end, before: ">", after: "</\(name)>", isNew: true)
    }
    var index = tag.end
    while let start = self.index(of: UInt8(ascii: "<"), from: index) {
      if bytes[start...].starts(with: "</".utf8) { return Place(range: tag.end..<start) }
      guard let end = endOfMarkup(at: start) else { return nil }
      index = end
    }
    return nil
  }

  /// Returns the text in a range: that of CDATA sections as it stands, without comments and
  /// instructions.
  private func text(of range: Range<Int>) -> String {
    var text = ""
    var index = range.lowerBound
    while index < range.upperBound {
      let start = min(self.index(of: UInt8(ascii: "<"), from: index) ?? .max, range.upperBound)
      text += Self.unescape(String(decoding: bytes[index..<start], as: UTF8.self))
      guard start < range.upperBound, let end = endOfMarkup(at: start) else { break }
      let opening = "<![CDATA[".utf8
      if bytes[start...].starts(with: opening) {
        let first = start + opening.count
        text += String(decoding: bytes[first..<max(first, end - 3)], as: UTF8.self)
      }
      index = end
    }
    return text
  }

  private func index(of byte: UInt8, from start: Int) -> Int? {
    bytes[min(start, bytes.count)...].firstIndex(of: byte)
  }

  private func localName(_ range: Range<Int>) -> String {
    let name = bytes[range]
    let colon = name.firstIndex(of: UInt8(ascii: ":"))
    return String(decoding: colon.map { name[($0 + 1)...] } ?? name, as: UTF8.self)
  }

  private static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
  }

  private static func endsName(_ byte: UInt8) -> Bool {
    byte.isWhiteSpace || byte == UInt8(ascii: "=") || byte == UInt8(ascii: "/")
      || byte == UInt8(ascii: ">")
  }
}

// MARK: - Escaping

extension XMLTemplate {
  private static let entities: [(character: Unicode.Scalar, text: String)] = [
    ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&apos;"),
  ]

  /// Returns `text` with the five special characters of XML escaped.
  static func escape(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      if let entity = entities.first(where: { $0.character == scalar }) {
        result += entity.text
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }

  private static func unescape(_ text: String) -> String {
    entities.reversed().reduce(text) { text, entity in
      text.replacing(entity.text, by: String(Character(entity.character)))
    }
  }
}
