/// A request, byte for byte as it arrived.
package struct ReceivedRequest: Sendable {
  /// The bytes up to and including the empty line.
  package let head: [UInt8]
  /// The bytes that Content-Length announced.
  package let body: [UInt8]
  /// The number of its connection, counted from 1 in the order of acceptance.
  package let connection: Int
  /// The number of this request for its path, counted from 1 over all connections.
  package internal(set) var ordinal = 0

  package let method: String
  /// The target, verbatim: path and query.
  package let target: String
  /// Names as sent, values without surrounding blanks, in order.
  package let headers: [(name: String, value: String)]

  /// The target up to its query.
  package var path: String {
    String(target.prefix { $0 != "?" })
  }

  /// The values of all fields of this name, whatever its case.
  package func values(of name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }
}

extension ReceivedRequest {
  /// Parses a head without validating it, because a test has to see what was sent.
  init(head: [UInt8], body: [UInt8], connection: Int) {
    let lines = Self.lines(of: head)
    let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
    self.head = head
    self.body = body
    self.connection = connection
    method = words.first.map(String.init) ?? ""
    target = words.dropFirst().first.map(String.init) ?? ""
    headers = lines.dropFirst().map(Self.field)
  }

  /// The length of the body that this head announces.
  static func bodyLength(announcedBy head: [UInt8]) -> Int {
    let fields = lines(of: head).dropFirst().map(field)
    return fields.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
  }

  private static func lines(of head: [UInt8]) -> [String] {
    head.split(separator: UInt8(ascii: "\n")).map { line in
      String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }.filter { !$0.isEmpty }
  }

  private static func field(_ line: String) -> (name: String, value: String) {
    let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let value = parts.dropFirst().first ?? ""
    let blanks: Set<Character> = [" ", "\t"]
    let trimmed = value.drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }
    return (String(parts[0]), String(trimmed.reversed()))
  }
}
