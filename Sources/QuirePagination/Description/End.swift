import QuireCore

extension Pagination {
  /// A rule that ends a walk, besides a missing continuation: the member "end" of a description.
  ///
  /// Any one rule is enough. An explicit statement of the server wins: a flag that says more
  /// follows beats every rule that only infers an end, and a total that is not reached beats a
  /// short page.
  public enum End: Hashable, Sendable {
    /// The continuation is missing, null, blank or one of these sentinels. Always active, except for
    /// the key of an item where other rules are listed: there, a page of items without the key is
    /// an error. List it to add sentinels.
    case noNext(sentinels: [String] = [])
    /// A flag of the server says whether more follows.
    case flag(FlagRule)
    /// An empty page is the last one. Only for servers that never send one in the middle.
    case emptyPage
    /// A page with fewer items than requested is the last one. Only for servers that never send one
    /// in the middle.
    case shortPage
    /// All items or pages that the server declares have been read. A link to the next page says
    /// more, where the description counts only for want of one.
    case total(TotalSource)
    /// The continuation equals the one just sent.
    case sameCursor
    /// A page that matches the condition is the last one: it has a sync token, for example, or
    /// lacks a total.
    case lastPage(when: Condition)
    /// An answer with one of these statuses, and matching the condition if there is one, is the end
    /// instead of a page. On the first page an error status is still an error: a listing that does
    /// not exist is not an empty one.
    case status([Int], matching: Condition? = nil)

    /// The continuation is a whole number not greater than the one just sent: for servers that
    /// start over after the end.
    case notAdvancing
    /// The page repeats an earlier one, and is dropped: the values at a path in its items, by
    /// default the items themselves, equal those of an earlier page. For servers that repeat a page
    /// forever. If a flag of the page before said that more follows, the repetition is the error
    /// `stalledContent`.
    case noNewItems(by: PagePath = "")
    /// Every page has a value at one of these paths, if only null: where the last page has none, the
    /// error `inconsistentTermination` follows it. For APIs that answer only what is asked for, as
    /// GraphQL does: without its flag and its cursor, every page would look like the last one.
    case requires([PagePath])

    /// Returns the rule that only the last page has a value at this path.
    public static func bodyHas(_ path: PagePath) -> End {
      .lastPage(when: .value(.body(path)))
    }

    /// Returns the rule that only the last page has no value at this path.
    public static func bodyLacks(_ path: PagePath) -> End {
      .lastPage(when: .value(.body(path), .isMissing))
    }

    /// Returns the rule for a flag of the server; see `Pagination.FlagRule`.
    public static func flag(
      _ source: ValueSource, continuesWhile: Bool = true, ifAbsent: FlagRule.Absence = .ignore
    ) -> End {
      .flag(FlagRule(source, continuesWhile: continuesWhile, ifAbsent: ifAbsent))
    }

    /// Returns the rule that the last page's number is the number of pages that the server
    /// declares.
    public static func pages(_ source: ValueSource) -> End {
      .total(TotalSource(source, .pages))
    }
  }
}

extension Pagination.End {
  /// The value that the rule reads; nil for a rule that reads none.
  package var source: Pagination.ValueSource? {
    switch self {
    case .flag(let rule): rule.source
    case .total(let total): total.source
    case .lastPage(let condition), .status(_, let condition?): condition.value
    case .noNext, .emptyPage, .shortPage, .sameCursor, .status, .notAdvancing, .noNewItems,
      .requires:
      nil
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
      .word(
        "sameCursor", .sameCursor, also: ["same": ""], "the continuation equals the one just sent"),
      .word(
        "notAdvancing", .notAdvancing,
        "the continuation is a number not greater than the one just sent"),
      .word("noNext", .noNext()), .word("noNewItems", .noNewItems()),
      .key(
        "noNext",
        Form<[String]>.object(
          "The rule noNext", [], [.required("sentinels", \.self, example: "[\"-1\"]")]),
        also: ["sentinel": ""], { .noNext(sentinels: $0) },
        { if case .noNext(let sentinels) = $0 { sentinels } else { nil } },
        "no continuation, or one of these values"),
      .key(
        "flag", example: "\"/has_more\"", also: ["last": ",continuesWhile:false"], { .flag($0) },
        { if case .flag(let rule) = $0 { rule } else { nil } },
        "a `Pagination.FlagRule` says that it is the last page"),
      .key(
        "total", example: "\"/total\"", also: ["pages": ",kind:pages"], Pagination.End.total,
        { if case .total(let total) = $0 { total } else { nil } },
        "everything that the server declares has been read; `.pages` if it counts pages"),
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
        "the page repeats an earlier one; where a flag said that more follows, that is the error "
          + "`stalledContent`"),
      .key(
        "lastPage", { .lastPage(when: $0) },
        { if case .lastPage(let condition) = $0 { condition } else { nil } },
        "the page matches the condition; `.bodyHas` and `.bodyLacks` are short forms"),
      .key(
        "requires", example: "[\"/has_more\"]", { .requires($0) },
        { if case .requires(let paths) = $0 { paths } else { nil } },
        "a last page without any of these members is the error `inconsistentTermination`"),
    ])
}

extension Pagination {
  /// A flag with which the server says whether more follows.
  ///
  /// The value is read leniently: `true`, `1`, `"true"`, `"1"`, `"yes"`, `"y"` and their opposites.
  /// In JSON, a rule with defaults is just its source; otherwise `{"source": …, "continuesWhile":
  /// false, "ifAbsent": "end"}`.
  public struct FlagRule: Hashable, Sendable {
    /// The meaning of a missing flag.
    public enum Absence: String, Hashable, Sendable, CaseIterable {
      /// Ignore it, also if it is neither true nor false: the other rules decide. The default.
      case ignore
      /// It is the end. A flag that is neither true nor false is the error `shape`.
      case end
    }

    /// The place of the flag.
    public var source: ValueSource
    /// The value that means more follows: true for `has_more`, false for `last`.
    public var continuesWhile: Bool
    /// The meaning of a missing flag.
    public var ifAbsent: Absence

    /// Creates a rule for a flag at `source`.
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
        "with `continuesWhile` false, true means the last page; with `ifAbsent` `\"end\"`, a missing flag means it"
      ),
    ])
}

extension Pagination.FlagRule.Absence: FormWord {}
