public import QuireCore

extension Pagination {
  /// A rule that makes an answer a failure, even with a status of success.
  ///
  /// A transient status (408, 425, 429, 500, 502, 503, 504 and the like) takes precedence over a
  /// rule of class `fatal` that names no status: the answer is retried, and its Retry-After
  /// respected, whatever its body says. A rule that names the status always applies.
  public struct FailureRule: Hashable, Sendable {
    /// The kind of failure, which decides what the walk does.
    public enum Class: String, Hashable, Sendable, CaseIterable {
      /// The cursor has expired: throws `cursorExpired` without retrying.
      case expired
      /// Too many requests: retries later; throws `throttled` when retries are used up.
      case throttled
      /// The page is not ready, and the answer says so: polls while `RetryPolicy.maximumPolling`
      /// and `RetryPolicy.polls` allow it; then throws `serverReportedFailure`.
      case notReady
      /// A transient failure, such as a search that ran out of time: retries; throws
      /// `serverReportedFailure` when retries are used up.
      case transient
      /// The listing is empty.
      case empty
      /// The server's result window ends although more items exist: throws `resultWindowExceeded`.
      case window
      /// Any other failure: throws `serverReportedFailure`, unless the status is transient and the
      /// rule does not name it.
      case fatal
    }

    /// The pages that a rule applies to.
    public enum Scope: String, Hashable, Sendable, CaseIterable {
      /// Every page. The default.
      case everyPage
      /// Pages requested by a continuation: a failure of the first page is not the continuation's
      /// fault.
      case laterPages
    }

    /// The answers that are failures.
    public var when: Condition
    /// The kind of failure.
    public var kind: Class
    /// The place of the server's message.
    public var message: ValueSource?
    /// The place of the number of seconds to wait, besides Retry-After.
    public var after: ValueSource?
    /// The number of seconds to wait if the server does not say it. Default nil: the retry policy
    /// decides.
    public var delay: Double?
    /// The pages that the rule applies to.
    public var scope: Scope

    /// Creates a rule for answers that match `when`.
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

/// The statuses of transient failures, which another attempt may cure.
package enum PassingStatus {
  /// Statuses by which a server asks the client to try again later.
  package static let later: Set<Int> = [408, 425, 429]
  /// Statuses by which a gateway reports that the server does not answer: those of HTTP, those of
  /// the networks in front of many servers (520 unknown error, 521 down, 522 and 524 timed out, 523
  /// unreachable), and 529, by which some services report an overload.
  package static let outage: Set<Int> = [502, 503, 504, 520, 521, 522, 523, 524, 529]
  /// All transient statuses.
  ///
  /// 525 is a failed handshake between the network in front and the server, 530 an error of that
  /// network, and proxies write 598 and 599 after a time-out of their own. All four may pass or
  /// last, so they do not count as an outage.
  package static let all = later.union(outage).union([500, 525, 530, 598, 599])
}

extension Pagination.FailureRule: Block {
  package static let name = "failure"

  package static let grammar = Form<Pagination.FailureRule>.object(
    "A failure rule", Pagination.FailureRule(when: .status()),
    [
      .required("when", \.when, "the answers that are failures"),
      .required("class", \.kind, example: "\"throttled\"", "the kind of failure"),
      .optional("message", \.message, "the source of the server's message"),
      .optional("after", \.after, "the source of the seconds to wait"),
      .optional(
        "delay", \.delay, example: "2", "the seconds to wait if the server does not say it"),
      .optional(
        "scope", \.scope, example: "\"laterPages\"",
        "only pages requested by a continuation; default `\"everyPage\"`"),
    ])
}

extension Pagination.FailureRule.Class: FormWord {}
extension Pagination.FailureRule.Scope: FormWord {}

extension Pagination {
  /// A condition on an answer: on its status, a value, or both.
  ///
  /// Values are compared by their text, so `0` in a body equals `0` in a header.
  public struct Condition: Hashable, Sendable {
    /// A test of a value.
    public enum Test: Hashable, Sendable {
      /// The value exists and is neither null nor blank nor an empty list or object.
      case exists
      /// The value is missing, null, blank, or an empty list or object.
      case isMissing
      /// The value equals this one.
      case equals(JSONValue)
      /// The value exists and differs from this one.
      case notEquals(JSONValue)
      /// The value equals one of these.
      case isOneOf([JSONValue])
      /// The value is a text that contains this one.
      case contains(String)
      /// The value is a whole number less than another value.
      case isLess(than: ValueSource)
    }

    /// The statuses that match. Default: empty, which matches all.
    public var statuses: [Int]
    /// The value to test; nil to test the status only.
    public var value: ValueSource?
    /// The test of the value.
    public var test: Test

    /// Returns a condition on the status only.
    public static func status(_ statuses: Int...) -> Condition {
      Condition(statuses: statuses)
    }

    /// Returns a condition on the value at `source`, for answers with one of these statuses.
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
  /// Returns whether a value passes; nil is a missing value.
  func passes(_ value: JSONValue?) -> Bool {
    guard let value else { return self == .isMissing }
    return switch self {
    case .exists: !value.isBlank
    case .isMissing: value.isBlank
    case .equals(let wanted): value.isSame(as: wanted)
    case .notEquals(let unwanted): !value.isSame(as: unwanted)
    case .isOneOf(let wanted): wanted.contains { value.isSame(as: $0) }
    case .contains(let part): value.plainText.contains(part)
    // Only a caller with the answer can evaluate a comparison with another of its values.
    case .isLess: false
    }
  }
}

extension Pagination.Condition: Block {
  package static let name = "condition"

  private static let tests: [FormMember<Pagination.Condition>] = [
    .alternative(
      "equals", \.test, Test.equals, { if case .equals(let value) = $0 { value } else { nil } },
      "it equals this value"),
    .alternative(
      "notEquals", \.test, Test.notEquals,
      { if case .notEquals(let value) = $0 { value } else { nil } },
      "it exists and differs from this value"),
    .alternative(
      "isOneOf", \.test, Test.isOneOf,
      { if case .isOneOf(let values) = $0 { values } else { nil } }, "it equals one of these values"
    ),
    .alternative(
      "contains", \.test, Test.contains,
      { if case .contains(let part) = $0 { part } else { nil } }, "it is a text that contains this"),
    .alternative(
      "lessThan", \.test, { .isLess(than: $0) },
      { if case .isLess(let other) = $0 { other } else { nil } },
      "it is a whole number less than another value"),
    .alternative(
      "isMissing", \.test, { $0 ? .isMissing : .exists }, { $0 == .isMissing ? true : nil },
      "it is missing; without any test, it has to exist"),
  ]

  package static let grammar = Form<Pagination.Condition>.object(
    "A condition", .status(),
    [
      .optional("status", \.statuses, example: "[403]", "the answer's status is one of these"),
      .optional("value", \.value, "the value to test"),
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
