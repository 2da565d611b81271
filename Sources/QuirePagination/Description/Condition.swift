public import QuireCore

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
