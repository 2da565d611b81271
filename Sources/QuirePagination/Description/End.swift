import QuireCore

extension Pagination {
  /// What ends a walk, besides a source that finds nothing: the answer to "end".
  ///
  /// Rules are alternatives: one that says so is enough. What the server says outright comes first: a
  /// flag that says more follows beats every rule that only infers an end, and a total that says more
  /// beats a short page.
  public enum End: Hashable, Sendable {
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
    case lastPage(when: Condition)
    /// An answer with one of these statuses, matching the condition if there is one, is no page but
    /// the end. On the first page an error status is an error all the same: a listing that does not
    /// exist is not an empty one.
    case status([Int], matching: Condition? = nil)

    /// The continuation is a whole number that is not greater than the one just sent: for servers that
    /// begin again behind the end.
    case notAdvancing
    /// The page is one that was there before: the values at a path below its items, by default the
    /// items themselves, are those of the page before it, or of one further back. The repeated page is
    /// dropped. For servers that repeat a page for ever.
    case noNewItems(by: PagePath = "")

    /// Something stands at this path of the last page, and of no other.
    public static func bodyHas(_ path: PagePath) -> End {
      .lastPage(when: .value(.body(path)))
    }

    /// Nothing stands at this path of the last page, and of no other.
    public static func bodyLacks(_ path: PagePath) -> End {
      .lastPage(when: .value(.body(path), .isMissing))
    }

    /// A flag of the server; see `Pagination.FlagRule`.
    public static func flag(
      _ source: ValueSource, continuesWhile: Bool = true, ifAbsent: FlagRule.Absence = .ignore
    ) -> End {
      .flag(FlagRule(source, continuesWhile: continuesWhile, ifAbsent: ifAbsent))
    }

    /// The last page is the one whose number the server gives as the number of pages.
    public static func pages(_ source: ValueSource) -> End {
      .total(TotalSource(source, .pages))
    }
  }
}

extension Pagination.End: Block {
  package static let name = "rule"

  package static let grammar = Form<Pagination.End>.oneOf(
    "An end rule",
    [
      .word("emptyPage", .emptyPage, also: ["empty": ""], "a page without items"),
      .word(
        "shortPage", .shortPage, also: ["short": ""],
        "a page with fewer items than the page size"),
      .word("sameCursor", .sameCursor, also: ["same": ""], "the continuation that was just sent"),
      .word("notAdvancing", .notAdvancing, "a number that is not greater"),
      .word("noNext", .noNext()), .word("noNewItems", .noNewItems()),
      .key(
        "noNext",
        Form<[String]>.object(
          "The rule noNext", [], [.required("sentinels", \.self, example: "[\"-1\"]")]),
        also: ["sentinel": ""], { .noNext(sentinels: $0) },
        { if case .noNext(let sentinels) = $0 { sentinels } else { nil } },
        "no continuation, or one of these"),
      .key(
        "flag", example: "\"/has_more\"", also: ["last": ",continuesWhile:false"], { .flag($0) },
        { if case .flag(let rule) = $0 { rule } else { nil } },
        "what a `Pagination.FlagRule` says"),
      .key(
        "total", example: "\"/total\"", also: ["pages": ",kind:pages"], Pagination.End.total,
        { if case .total(let total) = $0 { total } else { nil } },
        "as much as the server says there is; `.pages` where it counts pages"),
      .key(
        "status",
        Form<(codes: [Int], condition: Pagination.Condition?)>.object(
          "The rule status", ([], nil),
          [
            .required("codes", \.codes, example: "[404]"), .optional("matching", \.condition),
          ]),
        { .status($0.codes, matching: $0.condition) },
        { if case .status(let codes, let condition) = $0 { (codes, condition) } else { nil } },
        "such an answer, but with 400 and above only behind the first page: a listing that does not exist "
          + "is not an empty one"),
      .key(
        "noNewItems",
        Form<PagePath>.object(
          "The rule noNewItems", "", [.required("by", \.self, example: "\"/guid\"")]),
        { .noNewItems(by: $0) }, { if case .noNewItems(let path) = $0 { path } else { nil } },
        "a page that was there before"),
      .key(
        "lastPage", { .lastPage(when: $0) },
        { if case .lastPage(let condition) = $0 { condition } else { nil } },
        "a page that looks like this; `.bodyHas` and `.bodyLacks` are short for it"),
    ])
}

extension Pagination {
  /// A flag by which the server says outright whether more follows.
  ///
  /// The value is read leniently: `true`, `1`, `"true"`, `"1"`, `"yes"` and their opposites. Encodes
  /// as its source where everything else is the default, else as `{"source": …, "continuesWhile":
  /// false, "ifAbsent": "end"}`.
  public struct FlagRule: Hashable, Sendable {
    /// What a missing or unreadable flag means.
    public enum Absence: String, Hashable, Sendable, CaseIterable {
      /// Nothing: the other rules decide. The default.
      case ignore
      /// The end.
      case end
    }

    /// Where the flag is.
    public var source: ValueSource
    /// The value that means more follows: true for `has_more`, false for `last`.
    public var continuesWhile: Bool
    /// What a missing flag means.
    public var ifAbsent: Absence

    /// A flag at `source`.
    public init(
      _ source: ValueSource, continuesWhile: Bool = true, ifAbsent: Absence = .ignore
    ) {
      self.source = source
      self.continuesWhile = continuesWhile
      self.ifAbsent = ifAbsent
    }
  }
}

extension Pagination.FlagRule: Block {
  package static let name = "flag"

  package static let grammar = Form<Pagination.FlagRule>.oneOf(
    "A flag",
    [
      .bare(
        { Pagination.FlagRule(.body($0)) },
        {
          if case .body(let path) = $0.source, $0 == Pagination.FlagRule($0.source) {
            path
          } else {
            nil
          }
        }, "true means that more follows"),
      .keys(
        Pagination.FlagRule(""),
        [
          .required("source", \.source),
          .optional("continuesWhile", \.continuesWhile, example: "false"),
          .optional("ifAbsent", \.ifAbsent, example: "\"end\""),
        ], { $0 }, { $0 },
        "with `continuesWhile` false, true means last; with `ifAbsent` `\"end\"`, a missing one does"
      ),
    ])
}

extension Pagination.FlagRule.Absence: FormWord {}
