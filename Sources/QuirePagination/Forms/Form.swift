package import QuireCore

/// The grammar of one block of the description language.
///
/// A block's form is its only definition: it reads and writes files and expands words of the
/// command line; messages, the JSON Schema and the tables of the reference are derived from it.
package struct Form<Value: Sendable>: Sendable {
  /// The name of a value in messages: "a whole number".
  let noun: String
  /// The plural of `noun`: "whole numbers".
  let nouns: String
  /// A value as the reference shows it: `path`, `{"first": 0}`.
  let example: String
  /// A description of a command-line argument, and an example of one.
  let argument: String
  let sample: String
  /// The JSON Schema of a value.
  package internal(set) var schema: JSONValue
  package let read: @Sendable (JSONValue) throws(FormFailure) -> Value
  let write: @Sendable (Value) -> JSONValue
  /// The JSON for a word of the command line.
  let expand: @Sendable (String) throws(FormFailure) -> JSONValue
  /// The word of the command line for a value; nil if only JSON can express it.
  let abbreviate: @Sendable (Value) -> String?
  /// The rows of the block's table in the reference.
  var rows: [FormRow] = []
}

/// One row of a table in the reference: the JSON of a part, and its meaning.
struct FormRow: Sendable {
  var json: String
  var note: String
}

/// The error of a value that does not match its form.
package struct FormFailure: Error, CustomStringConvertible {
  /// The keys and indexes on the way to the value: `.end[1]`.
  package internal(set) var path = ""
  /// The name at fault among the members of the value; nil if the value itself is at fault.
  package internal(set) var member: String?
  /// The message; nil if the enclosing block has to say what the value should be.
  package internal(set) var message: String?
  /// The unknown word, if one is the failure, and a hint at the word that is meant.
  var unknown: (word: String, hint: String)?

  init(_ message: String? = nil, member: String? = nil) {
    self.message = message
    self.member = member
  }

  init(unknown word: String, hint: String) { unknown = (word, hint) }

  func inside(_ key: String) -> FormFailure {
    var failure = self
    failure.path = key + path
    return failure
  }

  package var description: String {
    let place = path.drop { $0 == "." }
    return (place.isEmpty ? "" : "At \(place): ") + (message ?? "The value is of another kind.")
  }

  /// Returns the failure as one of the member `name` of a block.
  func described(in subject: String, member name: String, _ noun: String) -> FormFailure {
    if message != nil { return inside("." + name) }
    if let unknown {
      return FormFailure(
        "\(subject)'s \"\(name)\" is \(noun), not \"\(unknown.word)\".\(unknown.hint)",
        member: name)
    }
    return FormFailure("\(subject): \"\(name)\" is not \(noun).").inside("." + name)
  }

  static func list(_ names: [String]) -> String {
    names.isEmpty ? "nothing" : names.map { "\"\($0)\"" }.listed("or")
  }
}

/// A type of values in descriptions.
package protocol Formed: Sendable {
  /// The form of a value inside another one.
  static var inner: Form<Self> { get }
}

/// A named part of the language: it is a definition in the schema, and usually a table in the
/// reference.
package protocol Block: Formed {
  static var name: String { get }
  static var grammar: Form<Self> { get }
}

extension Block {
  /// The block's form, looked up on use, because blocks contain each other.
  package static var inner: Form<Self> {
    Form(
      noun: "a " + name, nouns: name + "s", example: name, argument: "a " + name, sample: name,
      schema: ["$ref": .string("#/$defs/" + name)],
      read: { value throws(FormFailure) in try grammar.read(value) },
      write: { grammar.write($0) },
      expand: { text throws(FormFailure) in try grammar.expand(text) },
      abbreviate: { grammar.abbreviate($0) })
  }

  /// Reads a word of the command line, such as `body:/next` or `offset:0,step:pageSize`, or the
  /// block's JSON.
  ///
  /// Throws `invalidArgument` with what is wrong and what was expected.
  package init(words text: String) throws(PageError) {
    let json = text.hasPrefix("{") ? try JSONValue(parsing: text) : nil
    do throws(FormFailure) {
      if let json {
        self = try Self.grammar.read(json)
      } else {
        self = try Self.grammar.read(try Self.grammar.expand(text))
      }
    } catch {
      throw PageError(.invalidArgument, error.message ?? error.description)
    }
  }

  /// The word of the command line; nil if only JSON can express the value.
  package var words: String? { Self.grammar.abbreviate(self) }
}

/// An enumeration whose cases are words.
package protocol FormWord: Formed, RawRepresentable<String>, CaseIterable {}

extension FormWord {
  package static var inner: Form<Self> {
    let words = allCases.map(\.rawValue)
    return Form(
      noun: FormFailure.list(words), nouns: FormFailure.list(words),
      example: words.map { "\"\($0)\"" }.joined(separator: ", "),
      argument: FormFailure.list(words), sample: words.first ?? "",
      schema: ["enum": .array(words.map(JSONValue.string))],
      read: { value throws(FormFailure) in
        guard let text = value.string else { throw FormFailure() }
        guard let known = Self(rawValue: text) else {
          throw FormFailure(unknown: text, hint: NearestName.hint(text, in: words))
        }
        return known
      },
      write: { .string($0.rawValue) }, expand: { .string($0) }, abbreviate: { $0.rawValue })
  }
}

// MARK: - Values without a name

extension Form {
  /// Returns a form for a value that is no object of known members. `read` returns nil for a value
  /// that does not match.
  package static func leaf(
    _ noun: String, _ nouns: String, _ example: String, schema: JSONValue,
    read: @escaping @Sendable (JSONValue) -> Value?,
    write: @escaping @Sendable (Value) -> JSONValue,
    expand: @escaping @Sendable (String) -> JSONValue?
  ) -> Form {
    Form(
      noun: noun, nouns: nouns, example: example, argument: noun, sample: example, schema: schema,
      read: { value throws(FormFailure) in
        guard let result = read(value) else { throw FormFailure() }
        return result
      }, write: write,
      expand: { text throws(FormFailure) in
        guard let value = expand(text) else { throw FormFailure() }
        return value
      }, abbreviate: { write($0).plainText })
  }

  static var text: Form<String> {
    .leaf(
      "a text", "texts", "text", schema: ["type": "string"], read: \.string,
      write: { .string($0) }, expand: { $0.isEmpty ? nil : .string($0) })
  }

  static var wholeNumber: Form<Int> {
    .leaf(
      "a whole number", "whole numbers", "number", schema: ["type": "integer"],
      read: { if case .number = $0 { $0.wholeNumber } else { nil } },
      write: { .number(String($0)) },
      expand: { text in Int(text).flatMap { $0 < 0 ? nil : .number(String($0)) } })
  }

  static var number: Form<Double> {
    .leaf(
      "a number", "numbers", "number", schema: ["type": "number"],
      read: { if case .number(let text) = $0 { Double(text) } else { nil } },
      write: { .number($0 == $0.rounded() ? String($0).replacing(".0", with: "") : String($0)) },
      expand: { text in Double(text).map { _ in .number(text) } })
  }

  static var truth: Form<Bool> {
    .leaf(
      "true or false", "true or false", "true", schema: ["type": "boolean"],
      read: { if case .bool(let value) = $0 { value } else { nil } }, write: { .bool($0) },
      expand: { text in ["true": .bool(true), "false": .bool(false)][text] })
  }

  static var json: Form<JSONValue> {
    .leaf(
      "a value", "values", "value", schema: [:], read: { $0 }, write: { $0 },
      expand: { text in (try? JSONValue(parsing: text)) ?? .string(text) })
  }
}

extension Form<Int> {
  /// Returns a form for a number from `least` on, in digits alone.
  package static func count(from least: Int) -> Form<Int> {
    let form: Form<Int> = Form<Int>.wholeNumber
    return Form<Int>(
      noun: "a whole number from \(least) on", nouns: "whole numbers from \(least) on",
      example: form.example, argument: form.argument, sample: form.sample,
      schema: ["type": "integer", "minimum": .number("\(least)")],
      read: { value throws(FormFailure) in
        guard case .number(let text) = value, let number = Int(text), number >= least else {
          let found = ServerText(value.string ?? value.description)
          throw FormFailure(
            "expected a whole number from \(least) on, in 18 digits at most and without quotes, not \(found)."
          )
        }
        return number
      }, write: form.write, expand: form.expand, abbreviate: form.abbreviate)
  }
}

extension String: Formed { package static var inner: Form<String> { Form<String>.text } }
extension Int: Formed { package static var inner: Form<Int> { Form<Int>.wholeNumber } }
extension Double: Formed { package static var inner: Form<Double> { Form<Double>.number } }
extension Bool: Formed { package static var inner: Form<Bool> { Form<Bool>.truth } }
extension JSONValue: Formed { package static var inner: Form<JSONValue> { Form<JSONValue>.json } }

extension Optional: Formed where Wrapped: Formed {
  package static var inner: Form<Wrapped?> {
    let form = Wrapped.inner
    return Form(
      noun: form.noun, nouns: form.nouns, example: form.example, argument: form.argument,
      sample: form.sample, schema: form.schema,
      read: { value throws(FormFailure) in try form.read(value) },
      write: { $0.map(form.write) ?? .null }, expand: form.expand,
      abbreviate: { $0.flatMap(form.abbreviate) })
  }
}

extension Array: Formed where Element: Formed {
  package static var inner: Form<[Element]> {
    let form = Element.inner
    return Form(
      noun: "a list of \(form.nouns)", nouns: "lists of \(form.nouns)",
      example: "[\(form.example)]",
      argument: form.argument, sample: form.sample,
      schema: ["type": "array", "items": form.schema],
      read: { value throws(FormFailure) in
        guard case .array(let elements) = value else { throw FormFailure() }
        var result: [Element] = []
        for element in elements {
          do throws(FormFailure) {
            result.append(try form.read(element))
          } catch {
            throw error.message == nil ? FormFailure() : error.inside("[\(result.count)]")
          }
        }
        return result
      },
      write: { .array($0.map(form.write)) },
      expand: { text throws(FormFailure) in .array([try form.expand(text)]) },
      abbreviate: { elements in
        elements.count == 1 ? elements.first.flatMap(form.abbreviate) : nil
      })
  }
}

/// A key of an object with arbitrary members: a text or a path.
package protocol FormKey: Hashable, Sendable {
  static func key(_ text: String) throws(FormFailure) -> Self
  var key: String { get }
  static var keyExample: String { get }
}

extension String: FormKey {
  package static func key(_ text: String) -> String { text }
  package var key: String { self }
  package static var keyExample: String { "name" }
}

extension Dictionary: Formed where Key: FormKey, Value: Formed {
  package static var inner: Form<[Key: Value]> {
    let form = Value.inner.byName()
    return Form(
      noun: form.noun, nouns: form.nouns, example: "{\(Key.keyExample): \(Value.inner.example)}",
      argument: form.argument, sample: form.sample, schema: form.schema,
      read: { value throws(FormFailure) in
        var result: [Key: Value] = [:]
        for member in try form.read(value) {
          do throws(FormFailure) {
            result[try .key(member.name)] = member.value
          } catch {
            throw error.inside("." + member.name)
          }
        }
        return result
      },
      write: { values in
        let members = values.map { (name: $0.key.key, value: $0.value) }
        return form.write(members.sorted { $0.name < $1.name })
      }, expand: form.expand, abbreviate: { _ in nil })
  }
}

extension Form {
  /// Returns a form for an object of these values under arbitrary names, in their order.
  package func byName(nonEmpty: Bool = false) -> Form<[(name: String, value: Value)]> {
    var schema: [JSONValue.Member] = [.init("type", "object")]
    if nonEmpty { schema.append(.init("minProperties", 1)) }
    schema.append(.init("additionalProperties", self.schema))
    return Form<[(name: String, value: Value)]>(
      noun: "an object of \(nouns)", nouns: "objects of \(nouns)", example: "{name: \(example)}",
      argument: "JSON", sample: "", schema: .object(schema),
      read: { value throws(FormFailure) in
        guard case .object(let members) = value else { throw FormFailure() }
        guard !nonEmpty || !members.isEmpty else { throw FormFailure("There is none.") }
        return try readMembers(members)
      },
      write: { values in .object(values.map { .init($0.name, write($0.value)) }) },
      expand: { _ throws(FormFailure) in throw FormFailure() }, abbreviate: { _ in nil })
  }

  private func readMembers(
    _ members: [JSONValue.Member]
  ) throws(FormFailure) -> [(name: String, value: Value)] {
    var result: [(name: String, value: Value)] = []
    var known: Set<String> = []
    for member in members {
      guard known.insert(member.name).inserted else {
        throw FormFailure(
          "\"\(member.name)\" is there twice; which of the two counts cannot be known.",
          member: member.name)
      }
      do throws(FormFailure) {
        result.append((name: member.name, value: try read(member.value)))
      } catch {
        throw error.message == nil ? FormFailure() : error.inside("." + member.name)
      }
    }
    return result
  }
}
