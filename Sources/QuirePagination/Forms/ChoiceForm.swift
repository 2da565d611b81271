import QuireCore

/// One of the alternatives in which a block can be written.
package struct FormCase<Value: Sendable>: Sendable {
  /// How the case is recognized.
  enum Kind: Equatable, Sendable {
    /// One fixed word.
    case word(String)
    /// An object with the first of these members, and optionally the others.
    case keys([String])
    /// A value that no other case matches: a text, or any value.
    case bare(onlyText: Bool)
  }

  let kind: Kind
  /// Older words of the command line, each with the text that it appends to its argument.
  let aliases: [String: String]
  /// A description of a command-line argument, such as "a whole number", and an example of one.
  var argument = (noun: "", sample: "")
  let schema: JSONValue
  let row: FormRow
  /// Reads the whole value; the text is the block's name in messages.
  let read: @Sendable (JSONValue, String) throws(FormFailure) -> Value
  let write: @Sendable (Value) -> JSONValue?
  /// The JSON for a command-line argument of the case.
  let expand: @Sendable (String) throws(FormFailure) -> JSONValue
  let abbreviate: @Sendable (Value) -> String?

  /// Returns a case for a word that stands for `value`.
  static func word(
    _ word: String, _ value: Value, also aliases: [String: String] = [:], _ note: String = ""
  ) -> FormCase where Value: Equatable {
    FormCase(
      kind: .word(word), aliases: aliases, schema: .string(word),
      row: FormRow(json: "\"\(word)\"", note: note), read: { _, _ in value },
      write: { $0 == value ? .string(word) : nil }, expand: { _ in .string(word) },
      abbreviate: { $0 == value ? word : nil })
  }

  /// Returns a case for an object with the member `name`, whose form is `form`.
  static func key<Payload>(
    _ name: String, _ form: Form<Payload>, example: String? = nil,
    also aliases: [String: String] = [:],
    _ embed: @escaping @Sendable (Payload) -> Value,
    _ extract: @escaping @Sendable (Value) -> Payload?, _ note: String = ""
  ) -> FormCase {
    let member = FormMember<Payload?>(
      name, form, isRequired: true, example: example, "", get: { $0 }, set: { $1 = $0 },
      isWritten: { _, _ in true })
    return .keys(
      nil, [member], also: aliases,
      { payload in
        guard let payload else { preconditionFailure("A required member is read, or throws.") }
        return embed(payload)
      }, { extract($0).map(Optional.some) }, note)
  }

  static func key<Payload: Formed>(
    _ name: String, example: String? = nil, also aliases: [String: String] = [:],
    _ embed: @escaping @Sendable (Payload) -> Value,
    _ extract: @escaping @Sendable (Value) -> Payload?, _ note: String = ""
  ) -> FormCase {
    .key(name, Payload.inner, example: example, also: aliases, embed, extract, note)
  }

  /// Returns a case for an object with several members, the first of which identifies the case.
  package static func keys<Root>(
    _ plain: Root, _ list: [FormMember<Root>], also aliases: [String: String] = [:],
    _ embed: @escaping @Sendable (Root) -> Value,
    _ extract: @escaping @Sendable (Value) -> Root?, _ note: String = ""
  ) -> FormCase {
    let members = FormMembers(plain: plain, members: list)
    return FormCase(
      kind: .keys(members.names), aliases: aliases,
      argument: list.first.map { ($0.argument, $0.sample) } ?? ("", ""), schema: members.schema,
      row: FormRow(json: members.example, note: note),
      read: { value, subject throws(FormFailure) in embed(try members.read(value, subject)) },
      write: { extract($0).map(members.write) },
      expand: { text throws(FormFailure) in try members.expand(text) },
      abbreviate: { extract($0).flatMap(members.abbreviate) })
  }

  /// Returns a case for a value of another form. Objects match only if `onlyText` is false.
  package static func bare<Payload: Formed>(
    onlyText: Bool = true, _ embed: @escaping @Sendable (Payload) -> Value,
    _ extract: @escaping @Sendable (Value) -> Payload?, _ note: String = ""
  ) -> FormCase {
    let form = Payload.inner
    return FormCase(
      kind: .bare(onlyText: onlyText), aliases: [:], argument: (form.argument, form.sample),
      schema: form.schema,
      row: FormRow(json: form.example, note: note),
      read: { value, subject throws(FormFailure) in
        do throws(FormFailure) {
          return embed(try form.read(value))
        } catch {
          throw error.message == nil ? FormFailure("\(subject) is not \(form.noun).") : error
        }
      },
      write: { extract($0).map(form.write) }, expand: form.expand,
      abbreviate: { extract($0).flatMap(form.abbreviate) })
  }
}

extension Form {
  /// Returns a form with several cases. A value is written by the first case that matches it.
  ///
  /// `subject` names the block in messages: "An end rule". `check` may object to a value.
  package static func oneOf(
    _ subject: String, _ cases: [FormCase<Value>],
    check: @escaping @Sendable (Value) -> String? = { _ in nil }
  ) -> Form {
    let choice = ChoiceForm(subject: subject, cases: cases)
    let noun = subject.prefix(1).lowercased() + subject.dropFirst()
    return Form(
      noun: noun, nouns: "objects", example: cases.map(\.row.json).joined(separator: " or "),
      argument: noun, sample: cases.first?.argument.sample ?? "", schema: choice.schema,
      read: { value throws(FormFailure) in
        let result = try choice.read(value)
        if let message = check(result) { throw FormFailure(message) }
        return result
      },
      write: { value in cases.lazy.compactMap { $0.write(value) }.first ?? .null },
      expand: { text throws(FormFailure) in try choice.expand(text) },
      abbreviate: { choice.abbreviate($0) }, rows: choice.rows)
  }
}

/// A form with several cases, which finds the case of a value.
private struct ChoiceForm<Value: Sendable>: Sendable {
  let subject: String
  let cases: [FormCase<Value>]
  private let words: [String]
  private let objects: [FormCase<Value>]
  private let bare: FormCase<Value>?
  /// The member names that identify the cases that are objects.
  private let kinds: [String]
  /// The names of all members.
  private let known: [String]

  init(subject: String, cases: [FormCase<Value>]) {
    self.subject = subject
    self.cases = cases
    words = cases.compactMap(\.word)
    objects = cases.filter { !$0.names.isEmpty }
    bare = cases.first(where: \.isBare)
    kinds = objects.compactMap(\.names.first)
    known = kinds + objects.flatMap { $0.names.dropFirst() }
  }

  private var names: [String] {
    (words + kinds).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// The subject without its article: "next source".
  private var noun: String { String(subject.drop { $0 != " " }.dropFirst()) }

  private var expected: String {
    var forms = words.isEmpty ? [] : [FormFailure.list(words)]
    if let bare { forms.append(bare.argument.noun) }
    if !kinds.isEmpty { forms.append("an object with \(FormFailure.list(kinds))") }
    return forms.joined(separator: ", or ")
  }

  /// The older words, each with its present name and the text that it appends to an argument.
  private var aliases: [String: (name: String, rest: String)] {
    cases.reduce(into: [:]) { result, one in
      for (alias, rest) in one.aliases { result[alias] = (one.name ?? "", rest) }
    }
  }

  private func hint(_ text: String) -> String {
    NearestName.hint(text, in: names, words: aliases.mapValues(\.name))
  }

  // MARK: Files

  func read(_ value: JSONValue) throws(FormFailure) -> Value {
    switch value {
    case .string(let text):
      guard let one = cases.first(where: { $0.word == text }) ?? bare else {
        throw FormFailure("\"\(text)\" is no \(noun); expected \(expected).\(hint(text))")
      }
      return try one.read(value, subject)
    case .object(let members):
      return try object(members.map(\.name)).read(value, subject)
    case .null, .bool, .number, .array:
      throw FormFailure("\(subject) is \(expected).")
    }
  }

  /// Returns the case of an object with these member names; throws unless there is exactly one.
  private func object(_ found: [String]) throws(FormFailure) -> FormCase<Value> {
    if let bare, case .bare(onlyText: false) = bare.kind, !found.contains(where: known.contains) {
      return bare
    }
    try NearestName.check(found, in: known, subject, words: aliases.mapValues(\.name))
    if objects.count == 1 { return objects[0] }
    let telling = kinds.filter(found.contains)
    guard telling.count == 1, let one = objects.first(where: { $0.names.first == telling[0] })
    else { throw FormFailure("\(subject) has exactly one of \(FormFailure.list(kinds)).") }
    if let strange = found.first(where: { !one.names.contains($0) }) {
      throw FormFailure(
        "\(subject) with \"\(telling[0])\" has no \"\(strange)\"; leave it out.", member: strange)
    }
    return one
  }

  var schema: JSONValue {
    // A bare text may be any text, including the words.
    let texts =
      bare.map { [$0.schema] }
      ?? (words.isEmpty ? [] : [["enum": .array(words.map(JSONValue.string))]])
    return ["oneOf": .array(texts + objects.map { $0.schema.described($0.row.note) })]
  }

  /// A word that only abbreviates an object shares that object's row.
  var rows: [FormRow] {
    cases.compactMap { one in
      if let word = one.word { return kinds.contains(word) && one.row.note.isEmpty ? nil : one.row }
      var row = one.row
      if let name = one.names.first, words.contains(name) {
        row.json = "\"\(name)\"`, `" + row.json
      }
      return row
    }
  }

  // MARK: Command lines

  func expand(_ text: String) throws(FormFailure) -> JSONValue {
    let head = String(text.prefix { $0 != ":" })
    let alias = aliases[head]
    let named = cases.filter { alias == nil ? $0.name == head : $0.aliases[head] != nil }
    guard let first = named.first else { return try expand(unnamed: text, head) }
    guard text != head else {
      if let word = named.first(where: { $0.word != nil }) { return try word.expand("") }
      throw needed(head, first)
    }
    guard let one = named.first(where: { $0.word == nil }) else {
      throw FormFailure("\"\(head)\" takes nothing after it.")
    }
    do throws(FormFailure) {
      return try one.expand(text.dropFirst(head.count + 1) + (alias?.rest ?? ""))
    } catch {
      throw error.message == nil ? needed(head, one) : error
    }
  }

  /// Expands an argument without a case's name: the value of another form, possibly with further
  /// members.
  private func expand(unnamed text: String, _ head: String) throws(FormFailure) -> JSONValue {
    if objects.count == 1, let object = try? objects[0].expand(text),
      case .object(let members) = object, members.count > 1
    {
      return object
    }
    if let bare, bare.kind == .bare(onlyText: false) || text.isEmpty || text.hasPrefix("/") {
      return try bare.expand(text)
    }
    if bare != nil, objects.count == 1 { return try objects[0].expand(text) }
    throw FormFailure("\"\(head)\" is none of \(names.joined(separator: ", ")).\(hint(head))")
  }

  private func needed(_ word: String, _ one: FormCase<Value>) -> FormFailure {
    FormFailure(
      "\"\(word)\" needs \(one.argument.noun), such as \(word):\(one.argument.sample).")
  }

  func abbreviate(_ value: Value) -> String? {
    // Words first: `offset` is shorter than `offset:0`.
    for one in cases where one.word != nil {
      if let word = one.abbreviate(value) { return word }
    }
    guard let one = cases.first(where: { $0.write(value) != nil }) else { return nil }
    guard let name = one.name, objects.count > 1 else { return one.abbreviate(value) }
    return one.abbreviate(value).map { "\(name):\($0)" }
  }
}

extension FormCase {
  fileprivate var word: String? { if case .word(let word) = kind { word } else { nil } }
  fileprivate var names: [String] { if case .keys(let names) = kind { names } else { [] } }
  fileprivate var isBare: Bool { if case .bare = kind { true } else { false } }
  /// The name of the case on the command line.
  fileprivate var name: String? { word ?? names.first }
}
