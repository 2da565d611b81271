public import QuireCore

extension Pagination {
  /// An answer that is a failure although its status may say otherwise, and what kind.
  public struct FailureRule: Hashable, Sendable {
    /// What a failure asks the walk to do.
    public enum Class: String, Hashable, Sendable, CaseIterable {
      /// The server no longer knows the cursor: throws `cursorExpired`, never retried.
      case expired
      /// Too fast: the same request again, later; throws `throttled` when retries are used up.
      case throttled
      /// The page is not there yet, and the answer says so: the same request again, a little later, for
      /// as long as `RetryPolicy.maximumPolling` and as often as `RetryPolicy.polls` allow; then it throws
      /// `serverReportedFailure`.
      case notReady
      /// The listing is empty.
      case empty
      /// The server pages no further although more exists: throws `resultWindowExceeded`.
      case window
      /// Anything else: throws `serverReportedFailure`.
      case fatal
    }

    /// Which pages a rule is about.
    public enum Scope: String, Hashable, Sendable, CaseIterable {
      /// All of them. The default.
      case everyPage
      /// Those that were asked for by a continuation: what is wrong with the first one is no
      /// continuation's fault.
      case laterPages
    }

    /// The answers that are failures.
    public var when: Condition
    /// What kind of failure.
    public var kind: Class
    /// Where the server says what is wrong.
    public var message: ValueSource?
    /// Where the server says how many seconds to wait, besides Retry-After.
    public var after: ValueSource?
    /// How many seconds to wait where the server does not say. Default nil: what the retry policy says.
    public var delay: Double?
    /// Which pages the rule is about.
    public var scope: Scope

    /// A rule for answers that are failures.
    public init(
      when: Condition, _ kind: Class = .fatal, message: ValueSource? = nil,
      after: ValueSource? = nil, delay: Double? = nil, scope: Scope = .everyPage
    ) {
      self.when = when
      self.kind = kind
      self.message = message
      self.after = after
      self.delay = delay
      self.scope = scope
    }
  }
}

extension Pagination.FailureRule: Block {
  package static let name = "failure"

  package static let grammar = Form<Pagination.FailureRule>.object(
    "A failure rule", Pagination.FailureRule(when: .status()),
    [
      .required("when", \.when, "the answers that are failures"),
      .required("class", \.kind, example: "\"throttled\"", "what a failure means for the walk"),
      .optional("message", \.message, "where the server says what is wrong"),
      .optional("after", \.after, "where the server says how many seconds to wait"),
      .optional("delay", \.delay, example: "2", "how many seconds to wait where it does not say"),
      .optional(
        "scope", \.scope, example: "\"laterPages\"",
        "only pages that were asked for by a continuation; default `\"everyPage\"`"),
    ])
}

extension Pagination.FailureRule.Class: FormWord {}
extension Pagination.FailureRule.Scope: FormWord {}

extension Pagination {
  /// What an answer must look like for a rule to apply: a status, a value, or both.
  ///
  /// Values are compared by their text, so that `0` in a body and `0` in a header are the same.
  public struct Condition: Hashable, Sendable {
    /// What is asked of a value.
    public enum Test: Hashable, Sendable {
      /// There is something: not absent, not null, not blank, not an empty list or object.
      case exists
      /// There is nothing, or null, blank text, an empty list or object.
      case isMissing
      /// It is this.
      case equals(JSONValue)
      /// It is there, and it is not this.
      case notEquals(JSONValue)
      /// It is one of these.
      case isOneOf([JSONValue])
      /// It is a text with this in it.
      case contains(String)
      /// It is a whole number less than the one that is there.
      case isLess(than: ValueSource)
    }

    /// The statuses the condition holds for. Empty, the default: all.
    public var statuses: [Int]
    /// The value that is asked about; nil when the status says enough.
    public var value: ValueSource?
    /// What is asked of the value.
    public var test: Test

    /// A condition on the status, whatever the values.
    public static func status(_ statuses: Int...) -> Condition {
      Condition(statuses: statuses)
    }

    /// A condition on the value at `source`, for answers with one of these statuses.
    public static func value(
      _ source: ValueSource, _ test: Test = .exists, statuses: [Int] = []
    ) -> Condition {
      Condition(statuses: statuses, value: source, test: test)
    }

    private init(statuses: [Int] = [], value: ValueSource? = nil, test: Test = .exists) {
      self.statuses = statuses
      self.value = value
      self.test = test
    }
  }
}

extension Pagination.Condition.Test {
  /// Whether `value`, as it was read, passes.
  func passes(_ value: JSONValue?) -> Bool {
    guard let value else { return self == .isMissing }
    return switch self {
    case .exists: !value.isBlank
    case .isMissing: value.isBlank
    case .equals(let wanted): value.isSame(as: wanted)
    case .notEquals(let unwanted): !value.isSame(as: unwanted)
    case .isOneOf(let wanted): wanted.contains { value.isSame(as: $0) }
    case .contains(let part): value.plainText.contains(part)
    // Two values of one answer: only a caller that has the answer can compare them.
    case .isLess: false
    }
  }
}

extension Pagination.Condition: Block {
  package static let name = "condition"

  private static let tests: [FormMember<Pagination.Condition>] = [
    .alternative(
      "equals", \.test, Test.equals, { if case .equals(let value) = $0 { value } else { nil } },
      "it is this"),
    .alternative(
      "notEquals", \.test, Test.notEquals,
      { if case .notEquals(let value) = $0 { value } else { nil } }, "it is there, and not this"),
    .alternative(
      "isOneOf", \.test, Test.isOneOf,
      { if case .isOneOf(let values) = $0 { values } else { nil } }, "it is one of these"),
    .alternative(
      "contains", \.test, Test.contains,
      { if case .contains(let part) = $0 { part } else { nil } }, "it is a text with this in it"),
    .alternative(
      "lessThan", \.test, { .isLess(than: $0) },
      { if case .isLess(let other) = $0 { other } else { nil } },
      "it is a whole number less than that of another value"),
    .alternative(
      "isMissing", \.test, { $0 ? .isMissing : .exists }, { $0 == .isMissing ? true : nil },
      "there is none; without a test, the value `exists`"),
  ]

  package static let grammar = Form<Pagination.Condition>.object(
    "A condition", .status(),
    [
      .optional("status", \.statuses, example: "[403]", "the answer's status is one of these"),
      .optional("value", \.value, "the value that the test is about"),
    ] + tests,
    check: { condition, names in
      let tests = tests.map(\.name)
      let given = names.filter(tests.contains)
      guard given.count <= 1,
        condition.value != nil || (given.isEmpty && !condition.statuses.isEmpty)
      else {
        return "A condition has \"status\", or \"value\" with at most one of "
          + "\(FormFailure.list(tests)), or both."
      }
      return nil
    })
}
