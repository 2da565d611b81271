/// Gives way to others until `condition` holds: for what no gate can announce.
///
/// Throws `CancellationError` when the test's time limit ends it first.
public func giveWay(until condition: () -> Bool) async throws {
  while !condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
