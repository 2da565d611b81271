public import QuirePagination

/// Where the key of an item is, by which a later one takes its place: one path, or several together.
///
/// ```swift
/// SQLiteSink("github.db", table: "issues", key: "/id")
/// SQLiteSink("github.db", table: "comments", key: ["/repository", "/number"])
/// ```
/// Each path is a column of the table: that of the member, such as `id`; for a path to something deeper
/// one of its own that is called as the path is, such as `user/id`.
public struct TableKey: Hashable, Sendable, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral
{
  /// The paths, in order; at least one.
  public let paths: [PagePath]

  /// A key at one path, or at several. Traps where there is none.
  public init(_ paths: [PagePath]) {
    precondition(!paths.isEmpty, "A key has at least one path.")
    self.paths = paths
  }

  /// A key at one path. Traps on a malformed one, as `PagePath` does.
  public init(stringLiteral value: String) { self.init([PagePath(stringLiteral: value)]) }

  /// A key of several parts.
  public init(arrayLiteral elements: PagePath...) { self.init(elements) }

}

extension PagePath {
  /// The name of the member where the path leads to one of the item's own.
  var memberName: String? {
    guard steps.count == 1, case .name(let name) = steps[0] else { return nil }
    return name
  }
}
