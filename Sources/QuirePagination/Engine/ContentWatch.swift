import QuireCore

/// Finds out that a server sends a page again, by a digest of its items, in constant memory.
///
/// Compares with the first page, to which servers return that wrap around, with the page before, and with one
/// that moves up at powers of two, so that any circle is found after a few rounds. Source: R. P. Brent, "An improved Monte Carlo factorization algorithm"
/// (1980). Small enough to travel in a position.
package struct ContentWatch: Hashable {
  private var first: UInt64
  private var last: UInt64
  private var mark: UInt64
  private var steps = 0
  private var patience = 1

  /// Begins with the digest of the first page.
  init(_ digest: UInt64) {
    first = digest
    last = digest
    mark = digest
  }

  /// Reads what `value` wrote; nil for anything else.
  init?(_ value: JSONValue) {
    guard case .array(let parts) = value, parts.count == 4 || parts.count == 5,
      let last = parts[0].string.flatMap({ UInt64($0, radix: 16) }),
      let mark = parts[1].string.flatMap({ UInt64($0, radix: 16) }),
      let steps = parts[2].count, let patience = parts[3].count, patience < Int.max / 2
    else { return nil }
    // Positions of before have no first page.
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

  /// Whether a page with this digest was there before, as far as that is known.
  func knows(_ digest: UInt64) -> Bool { digest == first || digest == last || digest == mark }

  /// Takes note of a page.
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

  /// The same for the same values in the same order, in every process (FNV-1a, 64 bits).
  static func digest(of values: [JSONValue]) -> UInt64 {
    var hash = FNV1a()
    for value in values {
      hash.add(value.description.utf8)
      // No JSON text holds this byte.
      hash.add(CollectionOfOne(0xFF))
    }
    return hash.value
  }
}
