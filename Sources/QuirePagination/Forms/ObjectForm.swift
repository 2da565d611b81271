import QuireCore

/// A member of an object, and the property that it sets.
package struct FormMember<Root: Sendable>: Sendable {
  let name: String
  let isRequired: Bool
  let noun: String
  /// A description of a command-line argument, and an example of one.
  let argument: String
  let sample: String
  let schema: JSONValue
  let row: FormRow
  /// Reads the member's value into the root.
  let read: @Sendable (JSONValue, inout Root) throws(FormFailure) -> Void
  /// Returns the member's value in a root, compared with a root of defaults; nil if it is omitted.
  let write: @Sendable (Root, Root) -> JSONValue?
  let expand: @Sendable (String) throws(FormFailure) -> JSONValue
  let abbreviate: @Sendable (Root) -> String?

  init<Value>(
    _ name: String, _ form: Form<Value>, isRequired: Bool, example: String?, _ note: String,
    get: @escaping @Sendable (Root) -> Value?, set: @escaping @Sendable (Value, inout Root) -> Void,
    isWritten: @escaping @Sendable (Root, Root) -> Bool
  ) {
    self.name = name
    self.isRequired = isRequired
    noun = form.noun
    argument = form.argument
    sample = (example ?? form.sample).filter { !"[]\"".contains($0) }
    schema = form.schema.described(note)
    row = FormRow(json: "\"\(name)\": \(example ?? form.example)", note: note)
    read = { value, root throws(FormFailure) in set(try form.read(value), &root) }
    write = { root, plain in isWritten(root, plain) ? get(root).map(form.write) : nil }
    expand = form.expand
    abbreviate = { get($0).flatMap(form.abbreviate) }
  }

  /// Returns a required member.
  package static func required<Value: Formed>(
    _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, example: String? = nil,
    _ note: String = ""
  ) -> FormMember {
    FormMember(
      name, Value.inner, isRequired: true, example: example, note, get: { $0[keyPath: path] },
      set: { $1[keyPath: path] = $0 }, isWritten: { _, _ in true })
  }

  /// Returns a member that is omitted if it has its default value, or as `isWritten` decides.
  package static func optional<Value: Formed & Equatable>(
    _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, example: String? = nil,
    _ note: String = "", isWritten: (@Sendable (Root) -> Bool)? = nil
  ) -> FormMember {
    FormMember(
      name, Value.inner, isRequired: false, example: example, note, get: { $0[keyPath: path] },
      set: { $1[keyPath: path] = $0 },
      isWritten: { root, plain in
        isWritten?(root) ?? (root[keyPath: path] != plain[keyPath: path])
      })
  }

  /// Returns a required member of another form than its type's own.
  package static func required<Value>(
    _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, as form: Form<Value>,
    _ note: String = ""
  ) -> FormMember {
    FormMember(
      name, form, isRequired: true, example: nil, note, get: { $0[keyPath: path] },
      set: { $1[keyPath: path] = $0 }, isWritten: { _, _ in true })
  }

  /// Returns a member of another form than its type's own, which is nil if it is omitted.
  package static func optional<Value>(
    _ name: String, _ path: any WritableKeyPath<Root, Value?> & Sendable, as form: Form<Value>,
    _ note: String = ""
  ) -> FormMember {
    FormMember(
      name, form, isRequired: false, example: nil, note, get: { $0[keyPath: path] },
      set: { $1[keyPath: path] = $0 }, isWritten: { _, _ in true })
  }

  /// Returns one of several members that set the same property.
  static func alternative<Value: Formed, Property>(
    _ name: String, _ path: any WritableKeyPath<Root, Property> & Sendable,
    _ embed: @escaping @Sendable (Value) -> Property,
    _ extract: @escaping @Sendable (Property) -> Value?, _ note: String = ""
  ) -> FormMember {
    FormMember(
      name, Value.inner, isRequired: false, example: nil, note,
      get: { extract($0[keyPath: path]) }, set: { $1[keyPath: path] = embed($0) },
      isWritten: { _, _ in true })
  }
}

/// The members of an object, in order, and a root of defaults.
struct FormMembers<Root: Sendable>: Sendable {
  let plain: Root
  let members: [FormMember<Root>]

  var names: [String] { members.map(\.name) }

  var example: String { "{" + members.map(\.row.json).joined(separator: ", ") + "}" }

  var schema: JSONValue { .schema(of: members.map { ($0.name, $0.schema, $0.isRequired) }) }

  func read(_ object: JSONValue, _ subject: String) throws(FormFailure) -> Root {
    var root = plain
    if case .object(let found) = object,
      let name = names.first(where: { name in found.count { $0.name == name } > 1 })
    {
      throw FormFailure(
        "\(subject) has \"\(name)\" twice; which of the two counts cannot be known.", member: name)
    }
    for member in members {
      guard let value = object[member.name] else {
        if member.isRequired { throw FormFailure("\(subject) needs \"\(member.name)\".") }
        continue
      }
      do throws(FormFailure) {
        try member.read(value, &root)
      } catch {
        throw error.described(in: subject, member: member.name, member.noun)
      }
    }
    return root
  }

  func write(_ root: Root) -> JSONValue {
    .object(
      members.compactMap { member in member.write(root, plain).map { .init(member.name, $0) } })
  }

  /// Returns the JSON for a command-line argument: the value of the first member, followed by other
  /// members by name, as in `0,step:pageSize`.
  func expand(_ text: String) throws(FormFailure) -> JSONValue {
    var parts: [(name: String, text: String)] = []
    for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
      let name = piece.prefix { $0 != ":" }
      if parts.isEmpty {
        parts.append((members.first?.name ?? "", String(piece)))
      } else if piece.contains(":"), names.dropFirst().contains(String(name)) {
        parts.append((String(name), String(piece.dropFirst(name.count + 1))))
      } else {
        parts[parts.count - 1].text += "," + piece
      }
    }
    var found: [JSONValue.Member] = []
    for part in parts {
      guard let member = members.first(where: { $0.name == part.name }) else { continue }
      do throws(FormFailure) {
        found.append(.init(part.name, try member.expand(part.text)))
      } catch {
        if found.isEmpty { throw error }
        throw FormFailure(error.message ?? "\"\(part.name)\" needs \(member.argument).")
      }
    }
    return .object(found)
  }

  func abbreviate(_ root: Root) -> String? {
    let written = members.filter { $0.write(root, plain) != nil }
    guard written.first?.name == members.first?.name else { return nil }
    var parts: [String] = []
    for member in written {
      guard let text = member.abbreviate(root) else { return nil }
      parts.append(parts.isEmpty ? text : "\(member.name):\(text)")
    }
    return parts.joined(separator: ",")
  }
}

extension Form {
  /// Returns a form for an object with these members. `check` gets the value and the names of the
  /// members that were read, and returns an objection, or nil.
  ///
  /// - Parameters:
  ///   - subject: The name of the object in messages: "An end rule".
  ///   - plain: A value whose optional members have their defaults.
  package static func object(
    _ subject: String, _ plain: Value, _ list: [FormMember<Value>],
    check: @escaping @Sendable (Value, [String]) -> String? = { _, _ in nil }
  ) -> Form {
    let members = FormMembers(plain: plain, members: list)
    return Form(
      noun: subject.prefix(1).lowercased() + subject.dropFirst(), nouns: "objects",
      example: members.example, argument: list.first?.argument ?? "",
      sample: list.first?.sample ?? "",
      schema: members.schema,
      read: { value throws(FormFailure) in
        guard case .object(let found) = value else {
          throw FormFailure("\(subject) is an object with \(FormFailure.list(members.names)).")
        }
        let names = found.map(\.name)
        try NearestName.check(names, in: members.names, subject)
        let result = try members.read(value, subject)
        if let message = check(result, names) { throw FormFailure(message) }
        return result
      },
      write: { members.write($0) },
      expand: { text throws(FormFailure) in try members.expand(text) },
      abbreviate: { members.abbreviate($0) }, rows: list.map(\.row))
  }
}

extension JSONValue {
  /// Returns the JSON Schema of an object that has no other members than these.
  fileprivate static func schema(
    of members: [(name: String, schema: JSONValue, isRequired: Bool)]
  ) -> JSONValue {
    var schema: [Member] = [
      .init("type", "object"),
      .init("properties", .object(members.map { .init($0.name, $0.schema) })),
      .init("additionalProperties", false),
    ]
    let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
    if !required.isEmpty { schema.append(.init("required", .array(required))) }
    return .object(schema)
  }

  /// Returns the schema with a description.
  func described(_ note: String) -> JSONValue {
    guard !note.isEmpty, case .object(let members) = self else { return self }
    return .object(members + [.init("description", .string(note))])
  }
}
