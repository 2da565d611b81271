/// An answer that is a failure although its status may say otherwise, and what kind.
///
/// Encodes as `{"when": condition, "class": "throttled", "message": source, "after": source, "delay":
/// seconds}`, with the last three only where they are given.
public struct FailureRule: Hashable, Sendable {
  /// What a failure asks the walk to do.
  public enum Class: String, Hashable, Codable, Sendable, CaseIterable {
    /// The server no longer knows the cursor: throws `cursorExpired`, never retried.
    case expired
    /// Too fast: the same request again, later; throws `throttled` when retries are used up.
    case throttled
    /// The page is not there yet: the same request again, a little later, for as long as
    /// `RetryPolicy.maximumPolling` allows.
    case notReady
    /// The listing is empty.
    case empty
    /// The server pages no further although more exists: throws `resultWindowExceeded`.
    case window
    /// Anything else: throws `serverReportedFailure`.
    case fatal
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

  /// A rule for answers that are failures.
  public init(
    when: AnswerCondition, _ kind: Class = .fatal, message: ValueSource? = nil,
    after: ValueSource? = nil, delay: Double? = nil
  ) {
    self.when = when
    self.kind = kind
    self.message = message
    self.after = after
    self.delay = delay
  }
}

extension FailureRule: Codable {
  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(
      decoder, "A failure rule", names: ["when", "class", "message", "after", "delay"])
    let name = try object("class", as: String.self)
    guard let kind = Class(rawValue: name) else {
      throw DescriptionObject.error(
        decoder.codingPath,
        "A failure rule's \"class\" is \(DescriptionObject.list(Class.allCases.map(\.rawValue))),"
          + " not \"\(name)\".")
    }
    self.init(
      when: try object("when"), kind, message: try object.optional("message"),
      after: try object.optional("after"), delay: try object.optional("delay"))
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(when, forKey: "when")
    try fields.encode(kind, forKey: "class")
    try fields.encodeIfPresent(message, forKey: "message")
    try fields.encodeIfPresent(after, forKey: "after")
    try fields.encodeIfPresent(delay, forKey: "delay")
  }
}
