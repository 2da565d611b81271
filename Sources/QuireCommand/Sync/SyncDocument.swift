import Foundation
import Quire
import QuireCore
import QuirePagination
import Yams

/// The parsed text of a sync file, with the line and column of each name.
struct SyncDocument {
  let value: JSONValue
  /// The YAML nodes, which have lines and columns; nil for JSON.
  private let root: Node?

  /// Parses YAML or JSON. Throws `SyncFileError` if the text is neither.
  init(_ bytes: [UInt8], isJSON: Bool) throws {
    let text = try Self.text(bytes)
    guard text.contains(where: { !$0.isWhitespace }) else { throw Self.empty }
    if isJSON {
      root = nil
      value = try SyncFileError.at("the file") { try JSONValue(parsing: text) }
      return
    }
    do {
      root = try Yams.compose(yaml: text)
    } catch let error as YamlError {
      throw SyncFileError("the file", error.sentence)
    }
    var count = 0
    value = try root.map { try Self.value(of: $0, &count) } ?? .null
    if value == .null { throw Self.empty }
  }

  private static let empty = SyncFileError("the file", "It is empty.")

  /// Returns the error with the line and column of its place, if they are known.
  func located(_ error: SyncFileError) -> SyncFileError {
    guard !error.isLocated, let mark = root.flatMap({ Self.mark(of: error.path[...], in: $0) })
    else { return error }
    return SyncFileError(mark, error.description)
  }

  /// Returns the mark of the name at a dotted path, or of the last name on that path that exists.
  private static func mark(of path: Substring, in node: Node) -> Mark? {
    guard case .mapping(let mapping) = node else { return nil }
    for (key, child) in mapping {
      // A place contains names as `ServerText` escapes them.
      for name in [key.string ?? "", "\(ServerText(key.string ?? ""))"] where path.hasPrefix(name) {
        let rest = path.dropFirst(name.count)
        if rest.isEmpty { return key.mark }
        if rest.hasPrefix(".") { return mark(of: rest.dropFirst(), in: child) ?? key.mark }
      }
    }
    return nil
  }

  // MARK: Characters

  private static func text(_ bytes: [UInt8]) throws -> String {
    // Some editors write a byte order mark in front of UTF-8.
    let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    guard !bytes.prefix(4).contains(0), !bytes.starts(with: [0xFF, 0xFE]),
      !bytes.starts(with: [0xFE, 0xFF])
    else { throw SyncFileError("the file", "It is in UTF-16 or UTF-32. Save it as UTF-8.") }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    var decoder = UTF8()
    var rest = bytes.makeIterator()
    var (line, column) = (1, 1)
    while case .scalarValue(let scalar) = decoder.decode(&rest) {
      (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
    }
    throw SyncFileError(
      "the file",
      "It is not in UTF-8: line \(line), column \(column) has a character of another encoding, such as Latin-1 "
        + "or Windows-1252. Save it as UTF-8.")
  }

  // MARK: YAML

  /// The most nodes in a file: far more than a sync file has, but fewer than nested aliases can
  /// expand to.
  private static let mostNodes = 100_000

  private static func value(
    of node: Node, _ count: inout Int, isExact: Bool = false
  ) throws -> JSONValue {
    count += 1
    guard count < mostNodes else { throw SyncFileError("the file", "It is too large.") }
    switch node {
    case .mapping(let mapping): return try value(of: mapping, &count, isExact: isExact)
    case .sequence(let sequence):
      var elements: [JSONValue] = []
      for child in sequence { elements.append(try value(of: child, &count, isExact: isExact)) }
      return .array(elements)
    case .scalar(let scalar):
      // YAML 1.1 also reads no, off and y as truth values. Here they are texts: NO is Norway.
      let isTruth = ["true", "false"].contains(scalar.string.lowercased())
      if isTruth, let flag = node.bool { return .bool(flag) }
      if node.null != nil { return .null }
      // A number only if JSON writes it the same way; a date or a version stays a text.
      guard node.int != nil || node.float != nil else { return .string(scalar.string) }
      if case .number? = try? JSONValue(parsing: scalar.string) {
        return .number(scalar.string)
      }
      // Times such as 12:30 are base-60 numbers in YAML 1.1 only.
      guard isExact, !scalar.string.contains(":") else { return .string(scalar.string) }
      throw SyncFileError(
        scalar.mark,
        "JSON has no number \(ServerText(scalar.string)), and a body and a description are JSON. Write it in "
          + "digits, or in quotes, as a text.")
    case .alias: throw SyncFileError("the file", "An alias has no anchor.")
    }
  }

  /// With `isExact`, for members that are JSON, a number without a JSON form is an error, not a
  /// text.
  private static func value(
    of mapping: Node.Mapping, _ count: inout Int, isExact: Bool
  ) throws -> JSONValue {
    var members: [JSONValue.Member] = []
    for (key, child) in mapping where key.string != "<<" {
      guard let name = key.string else {
        throw SyncFileError(key.mark, "A name is a text, no list and no mapping.")
      }
      let isJSON = isExact || name == "body" || name == "pagination"
      members.append(.init(name, try value(of: child, &count, isExact: isJSON)))
    }
    // Merged members (YAML 1.1, merge type) follow the mapping's own members, which take
    // precedence.
    if let merged = mapping.first(where: { $0.key.string == "<<" })?.value {
      for source in merged.sequence.map(Array.init) ?? [merged] {
        guard case .object(let more) = try value(of: source, &count, isExact: isExact) else {
          throw SyncFileError(source.mark, "<< merges mappings, such as an alias of one.")
        }
        members += more.filter { new in !members.contains { $0.name == new.name } }
      }
    }
    return .object(members)
  }
}

extension SyncFileError {
  /// Creates an error for a line and a column.
  fileprivate init(_ mark: Mark?, _ text: String) {
    let place = mark.map { "line \($0.line), column \($0.column)" }
    self.init(place ?? "the file", text)
    isLocated = true
  }
}

extension YamlError {
  /// The error in a sentence, with its place.
  fileprivate var sentence: String {
    switch self {
    case .composer(_, let problem, let mark, _) where problem.contains("another document"):
      return
        "line \(mark.line): Another document begins here, and a sync file is one. Write a file for each."
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      let isStray = problem.contains("cannot start any token")
      return "It is no YAML: line \(mark.line), column \(mark.column): \(ServerText(problem))."
        + (isStray
          ? " Indent by blanks, not tabs, and put what begins with @, % or ` in quotes." : "")
    case .duplicatedKeysInMapping(let names, let context):
      let names = names.map { "\(ServerText($0))" }.joined(separator: ", ")
      return "\(names) is there twice, in what begins at line \(context.mark.line). Keep one."
    default:
      let reason = "\(self)".split(separator: "\n").first ?? "its text cannot be read"
      return "It is no YAML: \(ServerText(String(reason)))."
    }
  }
}
