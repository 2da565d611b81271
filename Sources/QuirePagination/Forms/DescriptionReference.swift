import QuireCore

/// The reference of the description language: its schema, and the tables of the guide.
enum DescriptionReference {
  /// All named blocks, in the order of the guide.
  private static let blocks: [any Block.Type] = [
    Pagination.Next.self, Pagination.Route.self, Pagination.OffsetStep.self,
    Pagination.Placement.self, Pagination.ValueEncoding.self,
    Pagination.RequestRule.self, Pagination.KeepRule.self, Pagination.RequestChange.self,
    Pagination.RequestConstants.self, Pagination.CarriedValue.self,
    Pagination.End.self, Pagination.FlagRule.self, Pagination.ValueSource.self,
    Pagination.Condition.self, Pagination.Items.self,
    Pagination.PageSize.self, Pagination.TotalSource.self, Pagination.Policy.self,
    Pagination.FailureRule.self, LinkPolicy.self,
    Pagination.SideRequest.self, Pagination.ExpiryRule.self, Pagination.Pacing.self,
    Pagination.PreviousRule.self, PagePath.self,
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

  /// The tables of the guide, by block name.
  static var tables: [(name: String, text: String)] {
    ([Pagination.self] + blocks.filter { $0 != PagePath.self }).map { ($0.name, $0.table) }
  }
}

extension Block {
  fileprivate static var schema: JSONValue { grammar.schema }

  fileprivate static var table: String {
    let rows = grammar.rows.map { row in "| `\(row.json)` | \(row.note) |\n" }
    let type = String(reflecting: Self.self).split(separator: ".").dropFirst()
    return "| `\(type.joined(separator: "."))` in JSON | |\n|---|---|\n" + rows.joined()
  }
}
