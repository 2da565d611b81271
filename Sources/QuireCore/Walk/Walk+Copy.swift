import Synchronization

extension Walk {
  /// Another walk that goes on where this one is, with everything it has read and not handed out.
  ///
  /// From here on they know nothing of one another. To begin anew, make a new walk of the cursor.
  public func copy() -> Walk {
    Walk(
      reader.copy(), clock: clock, machine: machine.withLock { $0.copy() },
      open: open.withLock { $0.left },
      makeBackwardReader: makeBackwardReader)
  }
}
