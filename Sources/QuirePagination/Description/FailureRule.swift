public import QuireCore

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

/// What an answer must look like for a rule to apply: a status, a value, or both.
///
/// Values are compared by their text, so that `0` in a body and `0` in a header are the same.
/// Encodes as an object, such as `{"value": "/ok", "equals": false}` or `{"status": [403],
/// "value": {"header": "x-ratelimit-remaining"}, "equals": "0"}`.
public struct AnswerCondition: Hashable, Sendable {
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
  public static func status(_ statuses: Int...) -> AnswerCondition {
    AnswerCondition(statuses: statuses)
  }

  /// A condition on the value at `source`, for answers with one of these statuses.
  public static func value(
    _ source: ValueSource, _ test: Test = .exists, statuses: [Int] = []
  ) -> AnswerCondition {
    AnswerCondition(statuses: statuses, value: source, test: test)
  }

  private init(statuses: [Int] = [], value: ValueSource? = nil, test: Test = .exists) {
    self.statuses = statuses
    self.value = value
    self.test = test
  }
}

extension AnswerCondition.Test {
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
    // Two values of one answer: for whoever has it.
    case .isLess: false
    }
  }
}

extension AnswerCondition: Codable {
  private static let tests = [
    "equals", "notEquals", "isOneOf", "contains", "lessThan", "isMissing",
  ]

  /// Reads an object as above; without a test, the value must exist.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(
      decoder, "A condition", names: ["status", "value"] + Self.tests)
    statuses = try object.optional("status") ?? []
    value = try object.optional("value")
    let given = Self.tests.filter(object.has)
    guard given.count <= 1, value != nil || (given.isEmpty && !statuses.isEmpty) else {
      throw DescriptionObject.error(
        decoder.codingPath,
        "A condition has \"status\", or \"value\" with at most one of "
          + "\(DescriptionObject.list(Self.tests)), or both.")
    }
    switch given.first {
    case "isMissing": test = try object("isMissing", as: Bool.self) ? .isMissing : .exists
    case "equals": test = .equals(try object("equals"))
    case "notEquals": test = .notEquals(try object("notEquals"))
    case "isOneOf": test = .isOneOf(try object("isOneOf"))
    case "contains": test = .contains(try object("contains"))
    case "lessThan": test = .isLess(than: try object("lessThan"))
    default: test = .exists
    }
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    if !statuses.isEmpty { try fields.encode(statuses, forKey: "status") }
    try fields.encodeIfPresent(value, forKey: "value")
    switch test {
    case .exists: break
    case .isMissing: try fields.encode(true, forKey: "isMissing")
    case .equals(let wanted): try fields.encode(wanted, forKey: "equals")
    case .notEquals(let unwanted): try fields.encode(unwanted, forKey: "notEquals")
    case .isOneOf(let wanted): try fields.encode(wanted, forKey: "isOneOf")
    case .contains(let part): try fields.encode(part, forKey: "contains")
    case .isLess(let other): try fields.encode(other, forKey: "lessThan")
    }
  }
}
