extension Task where Success == Void, Failure == Never {
  /// Does the last thing of a walk in a task of its own, which the cancellation of the consumer does
  /// not reach. It ends with the work or after 5 seconds, even if the work does not notice.
  @discardableResult
  package static func parting(
    _ clock: any Clock<Duration>, _ work: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    Task {
      let over = Suspension<Void>()
      let work = Task {
        await work()
        over.resume(returning: ())
      }
      let alarm = Task {
        try? await clock.sleep(for: .seconds(5))
        over.resume(returning: ())
      }
      try? await over.value()
      work.cancel()
      alarm.cancel()
    }
  }
}
