import Synchronization

extension Walk {
  /// The page before the first one read so far, and with each call the one before that; nil where
  /// the listing begins, or where the server does not say where it goes on.
  ///
  /// Independent of the way forward: neither moves the other. Before the first page was read, this
  /// reads it to learn the way, and delivers it later. Pages have the indices −1, −2 and so on.
  /// Limits on pages and items do not count these.
  public func previous() async throws -> Page<Item>? {
    guard let walk = try await walkBackward(),
      var page = try await walk.next(isolation: nil)
    else { return nil }
    page.turnAround()
    page.index = -1 - page.index
    return page
  }

  private func walkBackward() async throws -> Walk? {
    if let walk = backward.withLock({ $0 }) { return walk }
    guard let makeBackwardReader else { return nil }
    let reader = makeBackwardReader()
    let before: Position?
    if let known = machine.withLock({ $0.before }) {
      before = known
    } else {
      before = try await reader.read(at: machine.withLock { $0.start })?.previous
    }
    guard let before else { return nil }
    var limits = machine.withLock { $0.limits }
    limits.pages = nil
    limits.items = nil
    let machine = WalkMachine(
      start: before, limits: limits, repeatedPositions: reader.repeatedPositions,
      loops: LoopGuard { reader.identity(of: $0) }, direction: .backward)
    let walk = Walk(BackwardReader(base: reader), clock: clock, machine: machine)
    return backward.withLock { backward in
      // Whoever was faster has begun already.
      if let faster = backward { return faster }
      backward = walk
      return walk
    }
  }
}
