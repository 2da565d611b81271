import QuireCore

/// Cloud storage and databases.
extension Pagination {
  /// Azure Table storage: `{"value": […]}`, and up to two continuation headers beside it.
  ///
  /// Page size: `$top`, 1000 at most. The cursor has two parts, of which the second may be missing;
  /// pages may be empty in the middle.
  public static let azureTable = Pagination(
    next: .all([
      "NextPartitionKey": .header("x-ms-continuation-NextPartitionKey"),
      "NextRowKey": .header("x-ms-continuation-NextRowKey"),
    ]),
    send: .queryMerge, items: "/value", size: PageSize(.query("$top"), default: 1000, max: 1000))

  static let cloudPresets = [
    PaginationPreset("azureTable", "value, two continuation headers", .azureTable)
  ]
}
