import QuireCore

/// What is said about the description language as a whole: its schema, and the tables of the guide.
package enum DescriptionReference {
  /// Every block that has a name, in the order of the guide.
  private static let blocks: [any Block.Type] = [
    NextSource.self, Route.self, OffsetStep.self, Placement.self, ValueEncoding.self,
    RequestRule.self, KeepRule.self, RequestChange.self, RequestConstants.self, CarriedValue.self,
    EndRule.self, FlagRule.self, ValueSource.self, AnswerCondition.self, ItemSelector.self,
    PageSize.self, TotalSource.self, PagePolicy.self, FailureRule.self, LinkPolicy.self,
    SideRequest.self, ExpiryRule.self, Pacing.self, PreviousRule.self, PagePath.self,
  ]

  /// The JSON Schema of a description (draft 2020-12).
  static var schema: JSONValue {
    var schema: [JSONValue.Member] = [
      .init("$schema", "https://json-schema.org/draft/2020-12/schema"),
      .init("title", "How a listing is paged"),
      .init("$defs", .object(blocks.map { .init($0.name, $0.schema) })),
    ]
    if case .object(let members) = Pagination.grammar.schema { schema += members }
    return .object(schema)
  }

  /// The tables of the guide, by the names of their blocks.
  package static var tables: [(name: String, text: String)] {
    ([Pagination.self] + blocks.filter { $0 != PagePath.self }).map { ($0.name, $0.table) }
  }
}

extension Block {
  fileprivate static var schema: JSONValue { grammar.schema }

  fileprivate static var table: String {
    let rows = grammar.rows.map { row in "| `\(row.json)` | \(row.note) |\n" }
    return "| `\(Self.self)` in JSON | |\n|---|---|\n" + rows.joined()
  }
}

extension JSONValue {
  /// The same value, its names in order.
  var sorted: JSONValue {
    switch self {
    case .null, .bool, .number, .string: self
    case .array(let elements): .array(elements.map(\.sorted))
    case .object(let members):
      .object(members.map { .init($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
    }
  }
}
