import Synchronization

/// The memory of a tape that was released, for the next one: a quarter of the time of a page went
/// into getting memory from the system and giving it back.
enum XMLSpareTape {
  // SAFETY: a tape is trivial memory, and only whoever took it out of the lock has it.
  private struct Spare: @unchecked Sendable {
    var tape: XMLTape
  }

  /// What is kept when nothing is being read, at most.
  private static let largest = 8 << 20

  private static let spare = Mutex<Spare?>(nil)

  /// An empty tape, if there is one.
  static func take() -> XMLTape? {
    spare.withLock { spare in
      defer { spare = nil }
      return spare?.tape
    }
  }

  /// Keeps the larger of this tape and the one that is there. Returns the one to be freed.
  static func offer(_ tape: XMLTape) -> XMLTape? {
    let offered = Spare(tape: tape.emptied)
    return spare.withLock { [offered] spare -> Spare? in
      guard offered.tape.capacity <= largest,
        offered.tape.capacity > spare?.tape.capacity ?? 0
      else { return offered }
      defer { spare = offered }
      return spare
    }?.tape
  }
}

extension XMLTape {
  fileprivate var emptied: XMLTape {
    var tape = XMLTape(memoryOf: self)
    tape.source.removeAll()
    tape.composed.removeAll()
    tape.records.removeAll()
    return tape
  }
}
