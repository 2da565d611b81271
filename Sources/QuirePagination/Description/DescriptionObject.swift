/// One object of a description being read: refuses names it does not know, and says what it
/// expected.
///
/// A misspelt key must never be ignored: a walk without its end rule looks like a walk that works.
package struct DescriptionObject {
  /// Any name; descriptions check names themselves, to say more about a wrong one.
  struct Name: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringLiteral value: String) { stringValue = value }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private let fields: KeyedDecodingContainer<Name>
  private let subject: String

  /// Opens the object and checks its names. `subject` is what messages call it: "An end rule".
  init(_ decoder: any Decoder, _ subject: String, names: [String]) throws {
    self.subject = subject
    do {
      fields = try decoder.container(keyedBy: Name.self)
    } catch {
      throw Self.error(
        decoder.codingPath,
        "\(subject) is an object with \(Self.list(names))\(Self.shortForm(of: subject)).")
    }
    try check(names: names)
  }

  /// What else than an object a part of a description may be, as an example.
  private static func shortForm(of subject: String) -> String {
    let forms = [
      "An end rule": "\"emptyPage\"", "A next source": "\"linkHeader\"",
      "A placement": "\"url\"", "A link header source": "\"next\"", "A keep rule": "\"none\"",
      "A step": "\"pageSize\"", "An encoding": "\"strict\"",
      "An expiry rule": "\"fail\"", "A value source": "a path such as \"/total\"",
      "A flag": "a path such as \"/has_more\"", "A total": "a path such as \"/total\"",
      "An item selector that is no path": "a path such as \"/items\"",
    ]
    return forms[subject].map { ", or in its short form \($0)" } ?? ""
  }

  private func check(names: [String]) throws {
    for key in fields.allKeys where !names.contains(key.stringValue) {
      let words = NearestName.words(among: names)
      let hint = NearestName.hint(key.stringValue, in: names, words: words)
      throw Self.error(
        fields.codingPath,
        "\(subject) has no \"\(key.stringValue)\"; expected \(Self.list(names)).\(hint)")
    }
  }

  /// Opens an object that says by one of `kinds` which of several things it is.
  static func oneOf(
    _ decoder: any Decoder, _ subject: String, kinds: [String], options: [String] = []
  ) throws -> (kind: String, object: DescriptionObject) {
    let object = try DescriptionObject(decoder, subject, names: kinds + options)
    let found = kinds.filter(object.has)
    guard found.count == 1, let kind = found.first else {
      throw error(decoder.codingPath, "\(subject) has exactly one of \(list(kinds)).")
    }
    return (kind, object)
  }

  private init(_ fields: KeyedDecodingContainer<Name>, _ subject: String, names: [String]) throws {
    self.fields = fields
    self.subject = subject
    try check(names: names)
  }

  func has(_ name: String) -> Bool { fields.contains(Name(stringValue: name)) }

  /// The object that is the member `name`, with its names checked in turn.
  func object(_ name: String, _ subject: String, names: [String]) throws -> DescriptionObject {
    let key = Name(stringValue: name)
    do {
      return try DescriptionObject(
        fields.nestedContainer(keyedBy: Name.self, forKey: key), subject, names: names)
    } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
      throw Self.error(
        fields.codingPath + [key], "\(subject) is an object with \(Self.list(names)).")
    }
  }

  func callAsFunction<Value: Decodable>(
    _ name: String, as type: Value.Type = Value.self
  ) throws -> Value {
    guard let value = try optional(name, as: type) else {
      throw Self.error(fields.codingPath, "\(subject) needs \"\(name)\".")
    }
    return value
  }

  func optional<Value: Decodable>(
    _ name: String, as type: Value.Type = Value.self
  ) throws -> Value? {
    let key = Name(stringValue: name)
    guard fields.contains(key) else { return nil }
    do {
      return try fields.decode(type, forKey: key)
    } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
      throw Self.error(
        fields.codingPath + [key], "\(subject): \"\(name)\" is not \(Self.describe(type)).")
    }
  }

  /// An error at this object.
  func error(_ message: String) -> DecodingError { Self.error(fields.codingPath, message) }

  static func error(_ path: [any CodingKey], _ message: String) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: message))
  }

  /// The short form: a text in place of an object; nil when there is none.
  static func text(_ decoder: any Decoder) -> String? {
    (try? decoder.singleValueContainer()).flatMap { try? $0.decode(String.self) }
  }

  static func list(_ names: [String]) -> String {
    let quoted = names.map { "\"\($0)\"" }
    guard quoted.count > 1, let last = quoted.last else { return quoted.first ?? "nothing" }
    return quoted.dropLast().joined(separator: ", ") + " or " + last
  }

  private static func describe(_ type: any Decodable.Type) -> String {
    switch type {
    case is String.Type: "a text"
    case is Int.Type: "a whole number"
    case is Double.Type: "a number"
    case is Bool.Type: "true or false"
    case is [String].Type: "a list of texts"
    case is [Int].Type: "a list of whole numbers"
    case is [String: String].Type: "an object of texts"
    default: "of the right kind"
    }
  }
}

/// The known name a misspelt one was meant to be.
package enum NearestName {
  /// The name with the fewest edits from `name`, at most two or a third of its length;
  /// nil when none is near.
  ///
  /// Costs the product of both lengths per candidate.
  package static func find(_ name: String, in candidates: [String]) -> String? {
    let wanted = Array(name.lowercased())
    let scored = candidates.map { (name: $0, edits: edits(wanted, Array($0.lowercased()))) }
    guard let best = scored.min(by: { $0.edits < $1.edits }) else { return nil }
    return best.edits <= max(wanted.count > 3 ? 2 : 1, wanted.count / 3) ? best.name : nil
  }

  /// " Did you mean …?" for a name that is none of `candidates`: the name that `words` has for it, else
  /// the nearest; empty where there is none.
  package static func hint(
    _ name: String, in candidates: [String], words: [String: String] = [:]
  ) -> String {
    let meant = words[name].flatMap { candidates.contains($0) ? $0 : nil }
    return (meant ?? find(name, in: candidates)).map { " Did you mean \"\($0)\"?" } ?? ""
  }

  /// The words of the command line for one of these kinds of names, by what only that kind has.
  static func words(among names: [String]) -> [String: String] {
    if names.contains("jsonBody") { return placements }
    if names.contains("lastItem") { return sources }
    return names.contains("lastPage") ? ends : [:]
  }

  /// What the command line calls a placement, and what a file does.
  static let placements = ["body": "jsonBody", "link": "url", "json": "jsonBody", "xml": "xmlBody"]

  /// What the command line calls a source of continuations or values, and what a file does.
  static let sources = ["last": "lastItem", "page": "pageNumber", "link": "linkHeader"]

  /// What the command line calls an end rule, and what a file does.
  static let ends = [
    "empty": "emptyPage", "short": "shortPage", "same": "sameCursor", "last": "flag",
    "pages": "total", "sentinel": "noNext",
  ]

  /// Insertions, deletions, replacements, and swaps of neighbours that turn one text into the other
  /// (the optimal string alignment of Damerau and Levenshtein).
  private static func edits(_ left: [Character], _ right: [Character]) -> Int {
    var (before, row) = ([Int](), Array(0...right.count))
    for (index, character) in left.enumerated() {
      var next = [index + 1]
      for column in right.indices {
        let replaced = row[column] + (right[column] == character ? 0 : 1)
        var edits = min(replaced, row[column + 1] + 1, next[column] + 1)
        if index > 0, column > 0, character == right[column - 1], left[index - 1] == right[column] {
          edits = min(edits, before[column - 1] + 1)
        }
        next.append(edits)
      }
      (before, row) = (row, next)
    }
    return row[right.count]
  }
}
