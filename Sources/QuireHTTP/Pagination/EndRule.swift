import QuireCore

/// What ends a walk, besides a source that finds nothing: the answer to "end".
///
/// Rules are alternatives: one that says so is enough. What the server says outright comes first: a
/// flag that says more follows beats every rule that only infers an end, and a total that says more
/// beats a short page. Encodes as the case's name, or as an object with that name, such as
/// `{"flag": "/has_more"}`, `{"status": {"codes": [404]}}`, `{"lastPage": condition}` or
/// `{"noNewItems": {"by": "/guid"}}`.
public enum EndRule: Hashable, Sendable {
  /// The source finds nothing, null, blank text or one of these. Always on; listed to add sentinels.
  case noNext(sentinels: [String] = [])
  /// The server says outright whether more follows.
  case flag(FlagRule)
  /// A page without items. Only for servers that never send one in the middle.
  case emptyPage
  /// A page with fewer items than were asked for. Only for servers that never send one in the
  /// middle.
  case shortPage
  /// As much was seen as the server says there is.
  case total(TotalSource)
  /// The continuation is the one just sent.
  case sameCursor
  /// A page that looks like this is the last one: a sync token shows that nothing follows, or a total
  /// that is missing.
  case lastPage(when: AnswerCondition)
  /// An answer with one of these statuses, matching the condition if there is one, is no page but
  /// the end. On the first page an error status is an error all the same: a listing that does not
  /// exist is not an empty one.
  case status([Int], matching: AnswerCondition? = nil)

  /// The continuation is a whole number that is not greater than the one just sent: for servers that
  /// begin again behind the end.
  case notAdvancing
  /// The page is one that was there before: the values at a path below its items, by default the
  /// items themselves, are those of the page before it, or of one further back. The repeated page is
  /// dropped. For servers that repeat a page for ever.
  case noNewItems(by: PagePath = "")

  /// Something stands at this path of the last page, and of no other.
  public static func bodyHas(_ path: PagePath) -> EndRule {
    .lastPage(when: .value(.body(path)))
  }

  /// Nothing stands at this path of the last page, and of no other.
  public static func bodyLacks(_ path: PagePath) -> EndRule {
    .lastPage(when: .value(.body(path), .isMissing))
  }

  /// A flag of the server; see `FlagRule`.
  public static func flag(
    _ source: ValueSource, continuesWhile: Bool = true, ifAbsent: FlagRule.Absence = .ignore
  ) -> EndRule {
    .flag(FlagRule(source, continuesWhile: continuesWhile, ifAbsent: ifAbsent))
  }

  /// The last page is the one whose number the server gives as the number of pages.
  public static func pages(_ source: ValueSource) -> EndRule {
    .total(TotalSource(source, .pages))
  }
}
