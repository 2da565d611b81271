extension Pagination {
  /// The JSON Schema of a description in a file, for editors and validators.
  ///
  /// Says where a name or a kind of value is wrong; whether the parts fit together, only a walk can
  /// say. Source: JSON Schema, draft 2020-12.
  public static var schema: String {
    String(decoding: PackageResources.pagination_schema_json, as: UTF8.self)
  }
}
