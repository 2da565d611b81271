/// The time of the driver's present round: read once, used by every callback in it.
final class RoundClock {
  private(set) var now = ContinuousClock.now

  /// A new round begins.
  func tick() { now = .now }
}
