/// The time since its creation, by any clock.
package struct Stopwatch: Sendable {
  /// The time that has passed.
  package let elapsed: @Sendable () -> Duration

  package init(_ clock: any Clock<Duration>) {
    elapsed = Self.start(clock)
  }

  private static func start<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
    let beginning = clock.now
    return { beginning.duration(to: clock.now) }
  }
}
