package import HTTPTypes

/// The links of an answer's Link header fields, in order.
///
/// The parser accepts what servers send beyond the standard: several field lines, commas and
/// semicolons inside targets and quotes, relations without quotes or in single ones. Text that it
/// cannot read is skipped up to the next link, and kept: a next link in it must not be taken for
/// none. Parsing takes linear time. Source: RFC 8288, §3 and appendix B.
package struct LinkHeader {
  /// A link: its target byte for byte, and its parameters in order, with names in lower case.
  package struct Link: Hashable {
    package var target: String
    var parameters: [(name: String, value: String)]

    /// The first parameter with the name; the RFC demands to ignore others.
    package subscript(name: String) -> String? { value(named: name.lowercased()) }

    /// Returns the first parameter with a name that is in lower case already.
    func value(named name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// Whether the link leads by the relation from the page itself, and not from another resource,
    /// which an anchor names. Relations are a list, compared without case.
    func leads(by relation: String) -> Bool {
      guard let written = value(named: "rel"), value(named: "anchor") == nil else { return false }
      if written == relation { return true }
      let (list, relation) = (written.lowercased(), relation.lowercased())
      guard list.utf8.contains(where: Reader.isBlank) else { return list == relation }
      return list.utf8.split(whereSeparator: Reader.isBlank).contains { Substring($0) == relation }
    }

    package static func == (left: Link, right: Link) -> Bool {
      left.target == right.target && left.parameters.elementsEqual(right.parameters, by: ==)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(target) }
  }

  let links: [Link]
  /// The field lines with text that is no link.
  private let broken: [String]

  /// Reads the links in the fields of the answer from `url`, which an anchor may name, too.
  package init(_ fields: HTTPFields, of url: String = "") {
    var (links, broken): ([Link], [String]) = ([], [])
    for field in fields where field.name.canonicalName == "link" {
      var reader = Reader(rest: Array(field.value.utf8)[...])
      links += reader.links()
      if reader.isBroken { broken.append(field.value) }
    }
    for index in links.indices {
      if let anchor = links[index].value(named: "anchor"), Self.names(anchor, url) {
        links[index].parameters.removeAll { $0.name == "anchor" }
      }
    }
    (self.links, self.broken) = (links, broken)
  }

  /// Returns whether an anchor names the page itself.
  private static func names(_ anchor: String, _ url: String) -> Bool {
    if anchor.isEmpty || anchor == url { return true }
    guard let page = try? URLReference(url), let named = try? URLReference(anchor) else {
      return false
    }
    return named.resolved(against: page).text == page.text
  }

  /// Returns a field line that mentions the relation and has text that is no link; nil if there is
  /// none.
  func brokenField(mentioning relation: String) -> String? {
    let relation = relation.lowercased()
    return broken.first { $0.lowercased().contains(relation) }
  }

  /// Returns the first link with the relation whose parameters equal all `conditions`, without those
  /// about another resource.
  package func first(relation: String, where conditions: [String: String] = [:]) -> Link? {
    links.first { link in
      link.leads(by: relation) && conditions.allSatisfy { link[$0.key] == $0.value }
    }
  }

  /// Returns the links with the relation, in order, without those about another resource.
  package func all(relation: String) -> [Link] {
    links.filter { $0.leads(by: relation) }
  }

  /// A parser of one field line.
  private struct Reader {
    var rest: ArraySlice<UInt8>
    /// Whether text was skipped that is no link.
    private(set) var isBroken = false

    init(rest: ArraySlice<UInt8>) { self.rest = rest }

    mutating func links() -> [Link] {
      var links: [Link] = []
      while !rest.isEmpty {
        skip { Self.isBlank($0) || $0 == UInt8(ascii: ",") }
        guard let target = target() else {
          skipLink()
          continue
        }
        links.append(Link(target: target, parameters: parameters()))
        skipLink()
      }
      return links
    }

    private mutating func target() -> String? {
      guard rest.first == UInt8(ascii: "<") else { return nil }
      guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else {
        // No target is closed from here on, so the rest contains no link.
        rest = []
        isBroken = true
        return nil
      }
      let target = String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self)
      rest = rest[(end + 1)...]
      return target
    }

    private mutating func parameters() -> [(name: String, value: String)] {
      var parameters: [(name: String, value: String)] = []
      while true {
        skip(Self.isBlank)
        guard rest.first == UInt8(ascii: ";") else { return parameters }
        rest.removeFirst()
        skip(Self.isBlank)
        let name = text { !Self.isBlank($0) && !Self.isDelimiter($0) }
        skip(Self.isBlank)
        var value = ""
        if rest.first == UInt8(ascii: "=") {
          rest.removeFirst()
          skip(Self.isBlank)
          value =
            rest.first == UInt8(ascii: "\"")
            ? quoted()
            : text { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ";") }.withoutSingleQuotes
        }
        if name.utf8.contains(UInt8(ascii: "\"")) { isBroken = true }
        if !name.isEmpty { parameters.append((name.lowercased(), value)) }
      }
    }

    private mutating func quoted() -> String {
      var bytes: [UInt8] = []
      rest.removeFirst()
      while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
        if byte == UInt8(ascii: "\\"), let next = rest.popFirst() {
          bytes.append(next)
        } else {
          bytes.append(byte)
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func text(_ belongs: (UInt8) -> Bool) -> String {
      var bytes = rest.prefix(while: belongs)
      rest = rest[bytes.endIndex...]
      while let last = bytes.last, Self.isBlank(last) { bytes.removeLast() }
      return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func skipLink() {
      while let byte = rest.first, byte != UInt8(ascii: ",") {
        if !Self.isBlank(byte) { isBroken = true }
        if byte == UInt8(ascii: "\"") { _ = quoted() } else { rest.removeFirst() }
      }
    }

    private mutating func skip(_ belongs: (UInt8) -> Bool) {
      rest = rest.drop(while: belongs)
    }

    static func isBlank(_ byte: UInt8) -> Bool {
      byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
      byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "=")
    }
  }
}

extension String {
  /// The text without a pair of single quotes around it, which some servers write for double ones.
  fileprivate var withoutSingleQuotes: String {
    count > 1 && first == "'" && last == "'" ? String(dropFirst().dropLast()) : self
  }
}
