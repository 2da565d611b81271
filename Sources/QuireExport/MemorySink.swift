import QuireCore
import QuireJSON
public import QuirePagination
import Synchronization

/// A destination in memory, for tests and for listings that fit.
///
/// Its content outlives its sessions, like a file's content: a second export continues where the
/// first one was stopped.
public final class MemorySink: Sink {
  private struct State: Sendable {
    var items: [[UInt8]] = []
    /// The items of an unfinished run that is to replace `items`.
    var replacement: [[UInt8]]?
    var checkpoint: Checkpoint?
    var commits = 0
    var isOpen = false
  }

  /// What a run does if the destination's run is complete.
  public let mode: SinkMode
  /// The path to the key of an item; nil if items have no key.
  private let key: PagePath?
  private let state = Mutex(State())

  /// Creates an empty destination. With a `key`, items replace earlier ones that have the same.
  ///
  /// `mode` defaults to `.upsert` with a key, and to `.once` without.
  public init(mode: SinkMode? = nil, key: PagePath? = nil) {
    self.mode = mode ?? .standard(hasKey: key != nil)
    self.key = key
  }

  /// The committed items, as compact JSON.
  public var items: [String] {
    state.withLock { $0.items }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The checkpoint committed last; nil if there is none.
  public var checkpoint: Checkpoint? { state.withLock { $0.checkpoint } }

  /// The number of commits.
  public var commits: Int { state.withLock { $0.commits } }

  /// Opens the destination. Throws `SinkError` with the code `.inUse` if another export has it
  /// open.
  public func open(_ opening: SinkOpening) throws -> any SinkSession {
    let checkpoint = try state.withLock { state in
      guard !state.isOpen else {
        throw SinkError(.inUse, "Another export writes to this memory. Nothing was requested.")
      }
      state.isOpen = true
      return state.checkpoint
    }
    return Session(
      self, opening.restarts ? nil : checkpoint, restarts: opening.restarts)
  }

  private final class Session: SinkSession {
    private let sink: MemorySink
    private(set) var checkpoint: Checkpoint?
    private var restarts: Bool
    private var pending: [Change] = []

    init(_ sink: MemorySink, _ checkpoint: Checkpoint?, restarts: Bool) {
      self.sink = sink
      self.checkpoint = checkpoint
      self.restarts = restarts
    }

    func write(_ page: SinkPage) throws {
      if let key = sink.key {
        for item in page.items + page.deleted { try sink.check(item, key) }
      }
      pending += page.items.map { .item($0.compact) } + page.deleted.map { .deletion($0.compact) }
    }

    func commit(_ checkpoint: Checkpoint) throws {
      try sink.commit(pending, checkpoint, restarts: restarts)
      (pending, restarts, self.checkpoint) = ([], false, checkpoint)
    }

    func close() { sink.state.withLock { $0.isOpen = false } }
  }

  private func check(_ item: RawItem, _ key: PagePath) throws {
    guard try item.compact(at: key) == nil else { return }
    throw SinkError(.unfit, "An item has nothing at \(key.place), where its key should be.")
  }

  /// Applies the changes of one commit.
  private func commit(_ changes: [Change], _ checkpoint: Checkpoint, restarts: Bool) throws {
    try state.withLock { state in
      if restarts { (state.items, state.replacement) = ([], nil) }
      if mode == .replace, !restarts, let last = state.checkpoint, last.run != checkpoint.run {
        state.replacement = []
      }
      if let replacement = state.replacement {
        state.replacement = try unique(replacement, changes)
      } else {
        state.items = try unique(state.items, changes)
      }
      if checkpoint.isComplete, let replacement = state.replacement {
        (state.items, state.replacement) = (replacement, nil)
      }
      state.checkpoint = checkpoint
      state.commits += 1
    }
  }

  /// Returns the items after the changes, with each replaced item at the place of the first one
  /// with its key.
  private func unique(_ items: [[UInt8]], _ changes: [Change]) throws -> [[UInt8]] {
    guard let key else { return items + changes.map(\.bytes) }
    var places: [JSONValue: Int] = [:]
    var unique: [[UInt8]?] = []
    for change in items.map(Change.item) + changes {
      let value = try RawItem(change.bytes).valueOrText(at: key) ?? .null
      switch (change, places[value]) {
      case (.deletion, let place?):
        unique[place] = nil
        places[value] = nil
      case (.deletion, nil): break
      case (.item(let item), let place?): unique[place] = item
      case (.item(let item), nil):
        places[value] = unique.count
        unique.append(item)
      }
    }
    return unique.compactMap { $0 }
  }

  /// The addition or the deletion of an item.
  private enum Change: Sendable {
    case item([UInt8]), deletion([UInt8])

    var bytes: [UInt8] {
      switch self {
      case .item(let bytes), .deletion(let bytes): bytes
      }
    }
  }
}
