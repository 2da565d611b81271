/// Tells since when a body has been arriving too slowly: fewer than 64 bytes a second.
struct StallMeter {
  static let floor = 64

  /// The last instant until which the rate was good enough.
  private(set) var good: ContinuousClock.Instant
  private var bytes = 0

  init(at now: ContinuousClock.Instant) {
    good = now
  }

  /// Nothing could arrive for so long.
  mutating func rested(for duration: Duration) { good += duration }

  /// A burst of any size makes up for the time before it, never for the time after.
  mutating func received(_ count: Int, at now: ContinuousClock.Instant) {
    bytes += count
    let seconds = max(1, (now - good) / .seconds(1))
    if Double(bytes) >= Double(Self.floor) * seconds {
      good = now
      bytes = 0
    }
  }
}
