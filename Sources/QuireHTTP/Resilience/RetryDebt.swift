/// What the retries of a walk have cost that its pages have not paid for: ten pages pay for one.
package struct RetryDebt: Sendable {
  private var tenths = 0

  package init() {}

  /// A request was made again.
  package mutating func retried() { tenths += 10 }

  /// A page came.
  package mutating func paid() { tenths = max(0, tenths - 1) }

  /// How many retries are owed.
  package var count: Int { tenths / 10 }
}
