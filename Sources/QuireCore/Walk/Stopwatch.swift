/// The time since its creation, by any clock.
struct Stopwatch: Sendable {
  /// The time that has passed.
  let elapsed: @Sendable () -> Duration

  init(_ clock: any Clock<Duration>) {
    elapsed = Self.start(clock)
  }

  private static func start<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
    let beginning = clock.now
    return { beginning.duration(to: clock.now) }
  }
}
