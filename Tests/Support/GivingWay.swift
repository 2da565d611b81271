/// Yields to other tasks until `condition` holds, for conditions that no gate can signal.
///
/// Throws `CancellationError` when the test's time limit cancels it.
public func giveWay(until condition: () -> Bool) async throws {
  while !condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
