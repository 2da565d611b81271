import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("The schema of descriptions")
struct PaginationSchemaTests {
  private func schema() throws -> JSONValue {
    try #require(try JSONDocument(Array(Pagination.schema.utf8)).value(at: ""))
  }

  private func complaints(_ text: String) throws -> [String] {
    let value = try #require(try JSONDocument(Array(text.utf8)).value(at: ""))
    return try SchemaCheck(root: schema()).complaints(about: value)
  }

  @Test("Every preset is valid", arguments: Pagination.presets.map(\.name))
  func presets(_ name: String) throws {
    #expect(try complaints(try Pagination.preset(named: name).json) == [])
  }

  @Test("Every description of a transcript is valid")
  func transcripts() throws {
    for transcript in try Transcript.all() {
      #expect(try complaints(transcript.pagination.json) == [], "\(transcript)")
    }
  }

  @Test(
    "What the decoder refuses for a name or a kind of value, the schema refuses too",
    arguments: [
      #"{"next": "linkHeader", "ends": []}"#, #"{"send": "url"}"#, #"{"next": "linkHeadr"}"#,
      #"{"next": {"body": "/a", "header": "b"}}"#, #"{"next": {"body": 1}}"#,
      #"{"next": {"offset": {"frist": 1}}}"#, #"{"next": "offset", "send": {"qeury": "a"}}"#,
      #"{"next": "offset", "end": ["emptyPage", "shortpages"]}"#,
      #"{"next": "offset", "end": [{"flag": {"source": "/a", "ifAbsent": "stop"}}]}"#,
      #"{"next": "offset", "request": {"keep": "some"}}"#,
      #"{"next": "offset", "total": {"source": "/a", "kind": "sum"}}"#,
      #"{"next": "offset", "policy": {"expiry": "never"}}"#,
      #"{"next": "offset", "policy": {"open": {"verb": "POST"}}}"#,
      #"{"next": "offset", "policy": {"failure": [{"when": {"value": "/a"}, "class": "bad"}]}}"#,
    ])
  func refused(_ text: String) throws {
    #expect(throws: PageError.self) { try Pagination(json: text.utf8) }
    #expect(try complaints(text) != [])
  }
}

/// As much of JSON Schema (draft 2020-12) as our own schema uses; anything else in it is a complaint.
private struct SchemaCheck {
  let root: JSONValue

  func complaints(about value: JSONValue) -> [String] { complaints(value, root, "") }

  private func complaints(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
    guard case .object(let rules) = schema else { return ["\(place): no schema"] }
    return rules.flatMap { rule -> [String] in
      switch rule.name {
      case "$schema", "title", "description", "$defs": []
      case "$ref": complaints(value, definition(rule.value), place)
      case "type": Self.kinds(value).contains(rule.value.plainText) ? [] : ["\(place): type"]
      case "enum": Self.list(rule.value).contains(value) ? [] : ["\(place): enum"]
      case "required":
        Self.list(rule.value).compactMap {
          value[$0.plainText] == nil ? "\(place): needs \($0.plainText)" : nil
        }
      case "properties": members(value, rule.value, place)
      case "additionalProperties": others(value, rule.value, schema["properties"], place)
      case "items":
        Self.list(value).enumerated().flatMap {
          complaints($1, rule.value, "\(place)/\($0)")
        }
      case "oneOf":
        Self.list(rule.value).count { complaints(value, $0, place).isEmpty } == 1
          ? [] : ["\(place): oneOf"]
      default: ["\(place): the schema says \(rule.name)"]
      }
    }
  }

  private func definition(_ reference: JSONValue) -> JSONValue {
    let name = reference.plainText.split(separator: "/").last.map(String.init) ?? ""
    return root["$defs"]?[name] ?? .null
  }

  private func members(_ value: JSONValue, _ known: JSONValue, _ place: String) -> [String] {
    guard case .object(let members) = value else { return [] }
    return members.flatMap { member in
      known[member.name].map { complaints(member.value, $0, "\(place)/\(member.name)") } ?? []
    }
  }

  private func others(
    _ value: JSONValue, _ rule: JSONValue, _ known: JSONValue?, _ place: String
  ) -> [String] {
    guard case .object(let members) = value else { return [] }
    return members.filter { known?[$0.name] == nil }.flatMap { member in
      rule == .bool(false)
        ? ["\(place): has \(member.name)"]
        : complaints(member.value, rule, "\(place)/\(member.name)")
    }
  }

  private static func list(_ value: JSONValue) -> [JSONValue] {
    if case .array(let elements) = value { elements } else { [] }
  }

  private static func kinds(_ value: JSONValue) -> [String] {
    switch value {
    case .null: ["null"]
    case .bool: ["boolean"]
    case .number(let text): Int(text) == nil ? ["number"] : ["number", "integer"]
    case .string: ["string"]
    case .array: ["array"]
    case .object: ["object"]
    }
  }
}
