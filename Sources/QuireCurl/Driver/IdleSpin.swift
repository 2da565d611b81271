/// Decides whether an idle driver looks for the next request a moment longer before it sleeps.
///
/// A reader that asks for its next page at once finds the driver awake, which saves waking a thread:
/// about a quarter of a small page's time. Readers that take longer cost nothing, because two
/// failures in a row end the looking until a request comes soon again.
struct IdleSpin {
  /// How long to look.
  static let length = Duration.microseconds(50)

  private var failures = 0
  private var skipped = 0

  /// Whether to look now. Every sixteenth idle moment is tried again after failures.
  mutating func isWorthwhile() -> Bool {
    if failures < 2 { return true }
    skipped += 1
    return skipped % 16 == 0
  }

  /// Whether looking found a request.
  mutating func ended(withMail found: Bool) {
    failures = found ? 0 : failures + 1
  }
}
