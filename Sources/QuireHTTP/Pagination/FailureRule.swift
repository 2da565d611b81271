/// An answer that is a failure although its status may say otherwise, and what kind.
///
/// Encodes as `{"when": condition, "class": "throttled", "message": source, "after": source, "delay":
/// seconds, "scope": "laterPages"}`, with the last four only where they are given.
public struct FailureRule: Hashable, Sendable {
  /// What a failure asks the walk to do.
  public enum Class: String, Hashable, Codable, Sendable, CaseIterable {
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
  public enum Scope: String, Hashable, Codable, Sendable {
    /// All of them. The default.
    case everyPage
    /// Those that were asked for by a continuation: what is wrong with the first one is no
    /// continuation's fault.
    case laterPages
  }

  /// The answers that are failures.
  public var when: AnswerCondition
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
    when: AnswerCondition, _ kind: Class = .fatal, message: ValueSource? = nil,
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

extension FailureRule: Codable {
  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(
      decoder, "A failure rule", names: ["when", "class", "message", "after", "delay", "scope"])
    let name = try object("class", as: String.self)
    guard let kind = Class(rawValue: name) else {
      throw DescriptionObject.error(
        decoder.codingPath,
        "A failure rule's \"class\" is \(DescriptionObject.list(Class.allCases.map(\.rawValue))),"
          + " not \"\(name)\".")
    }
    let scope = try object.optional("scope", as: String.self) ?? "everyPage"
    guard let knownScope = Scope(rawValue: scope) else {
      throw DescriptionObject.error(
        decoder.codingPath,
        "A failure rule's \"scope\" is \"everyPage\" or \"laterPages\", not \"\(scope)\".")
    }
    self.init(
      when: try object("when"), kind, message: try object.optional("message"),
      after: try object.optional("after"), delay: try object.optional("delay"), scope: knownScope)
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(when, forKey: "when")
    try fields.encode(kind, forKey: "class")
    try fields.encodeIfPresent(message, forKey: "message")
    try fields.encodeIfPresent(after, forKey: "after")
    try fields.encodeIfPresent(delay, forKey: "delay")
    if scope != .everyPage { try fields.encode(scope, forKey: "scope") }
  }
}
