import QuireCore

/// A detector of repeated pages, by digests of their items, in constant memory.
///
/// It compares a page with the first one, to which some servers wrap around, with the page before,
/// and with a page that is replaced after 1, 2, 4, 8… pages, so that any cycle is found within a
/// few rounds. Source: R. P. Brent, "An improved Monte Carlo factorization algorithm" (1980). It is
/// small enough to be stored in a position.
struct ContentWatch: Hashable {
  private var first: UInt64
  private var last: UInt64
  private var mark: UInt64
  private var steps = 0
  private var patience = 1

  /// Creates a watch from the digest of the first page.
  init(_ digest: UInt64) {
    first = digest
    last = digest
    mark = digest
  }

  /// Decodes `value`; nil for any other JSON.
  init?(_ value: JSONValue) {
    guard case .array(let parts) = value, parts.count == 4 || parts.count == 5,
      let last = parts[0].string.flatMap({ UInt64($0, radix: 16) }),
      let mark = parts[1].string.flatMap({ UInt64($0, radix: 16) }),
      let steps = parts[2].count, let patience = parts[3].count, patience < Int.max / 2
    else { return nil }
    // Positions that older versions stored have four parts, without the first page.
    first = parts.last?.string.flatMap { UInt64($0, radix: 16) } ?? last
    self.last = last
    self.mark = mark
    self.steps = steps
    self.patience = patience
  }

  var value: JSONValue {
    [
      .string(String(last, radix: 16)), .string(String(mark, radix: 16)), .number(String(steps)),
      .number(String(patience)), .string(String(first, radix: 16)),
    ]
  }

  /// Returns whether the digest is that of a remembered page.
  func knows(_ digest: UInt64) -> Bool { digest == first || digest == last || digest == mark }

  /// Returns the watch after another page.
  func visiting(_ digest: UInt64) -> ContentWatch {
    var watch = self
    watch.last = digest
    watch.steps = steps.plus(1)
    if watch.steps >= patience {
      watch.mark = digest
      watch.steps = 0
      watch.patience = patience * 2
    }
    return watch
  }

  /// Returns a digest of values in order, the same in every process (FNV-1a, 64 bits).
  static func digest(of values: [JSONValue]) -> UInt64 {
    var hash = FNV1a()
    for value in values {
      hash.add(value.description.utf8)
      // This byte separates the values, because it occurs in no JSON text.
      hash.add(CollectionOfOne(0xFF))
    }
    return hash.value
  }
}
