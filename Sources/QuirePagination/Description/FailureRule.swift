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
    /// A sentence that says what the caller can do, behind the server's message. Default nil.
    public var advice: String?

    /// Creates a rule for answers that match `when`.
    public init(
      when: Condition, _ kind: Class = .fatal, message: ValueSource? = nil,
      after: ValueSource? = nil, delay: Double? = nil, scope: Scope = .everyPage,
      advice: String? = nil
    ) {
      self.when = when
      self.kind = kind
      self.message = message
      self.after = after
      self.delay = delay
      self.scope = scope
      self.advice = advice
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
  /// Statuses that ask to slow down if the answer says until when, and else refuse for good: 403
  /// of GitHub and Google, and what services wrote before 429 was defined, or write beside it.
  package static let throttlingWithWait: Set<Int> = [403, 420, 430, 509]
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
      .optional(
        "advice", \.advice, example: "\"Ask for version 2.\"",
        "what the caller can do, in a sentence"),
    ])
}

extension Pagination.FailureRule.Class: FormWord {}
extension Pagination.FailureRule.Scope: FormWord {}
