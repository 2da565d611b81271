public import QuireCore
import QuireHTTP
public import QuirePagination

/// The door to a destination: something that holds the items of a listing, and how far they reach.
///
/// A fake takes a dozen lines:
/// ```swift
/// final class Lines: Sink, SinkSession {
///   let mode = SinkMode.once
///   private(set) var checkpoint: Checkpoint?
///   private var lines: [String] = [], pending: [String] = []
///   func open(_ opening: SinkOpening) -> any SinkSession { self }
///   func write(_ page: SinkPage) { pending += page.items.map(\.description) }
///   func commit(_ checkpoint: Checkpoint) {
///     lines += pending
///     (pending, self.checkpoint) = ([], checkpoint)
///   }
///   func close() { pending = [] }
/// }
/// ```
/// A sink that cannot hold a checkpoint says so with `nil` and is used as
/// `sink.storingCheckpoints(in:)`. `SinkConformance` in QuireTesting checks a sink.
public protocol Sink: Sendable {
  /// What a run does that finds a complete one. Default `.once`.
  var mode: SinkMode { get }

  /// Opens the destination for one export alone, before anything is requested.
  ///
  /// Throws `SinkError`: `.inUse` where another export has it, `.damaged` where what it holds does not
  /// fit its checkpoint. Changes nothing that the destination holds: that is the first commit's work.
  func open(_ opening: SinkOpening) async throws -> any SinkSession
}

extension Sink {
  /// `.once`.
  public var mode: SinkMode { .once }
}

/// A destination that one export has open. Used by one task at a time.
public protocol SinkSession: AnyObject {
  /// What was committed last, by this session or before it was opened; nil where nothing was, after
  /// `SinkOpening.restarts`, and always in a sink that cannot hold one.
  var checkpoint: Checkpoint? { get }

  /// Takes a page. Nothing of it counts before the next commit, though it may be written somewhere.
  ///
  /// Throws where the destination takes no more; what was committed stays.
  func write(_ page: SinkPage) async throws

  /// Makes all pages since the last commit and the checkpoint last, as one: whatever happens, a later
  /// `open` finds both or neither. Returns when both survive a loss of power.
  ///
  /// The first commit after `SinkOpening.restarts` also takes away what was there before, and so does
  /// one that begins or, by `.replace`, completes a run; see `SinkMode`. A commit without pages is one,
  /// too. It is called in tasks that were cancelled, and then finishes all the same. After a failure
  /// nothing but `close` is called.
  func commit(_ checkpoint: Checkpoint) async throws

  /// Lets the destination go, without what was not committed. Called once, and never fails.
  func close() async
}

/// What an export tells a sink that it opens.
public struct SinkOpening: Sendable {
  /// Whether what the destination holds is to be forgotten: there is no checkpoint, and the first commit
  /// takes away what there was.
  public var restarts: Bool

  /// Whether the export was asked to stop: a wait that may be long, such as that for the reader of a
  /// pipe, then ends with `CancellationError`.
  public var isStopping: @Sendable () -> Bool

  /// An opening; by default one that goes on and never stops.
  public init(restarts: Bool = false, isStopping: @escaping @Sendable () -> Bool = { false }) {
    self.restarts = restarts
    self.isStopping = isStopping
  }
}

/// A page as a sink gets it.
public struct SinkPage: Sendable {
  /// The items, as the server wrote them.
  public var items: [RawItem]
  /// Items that are gone, behind those in `items`, by the key that they have here; only for sinks whose mode
  /// is `.upsert`. See `Tombstone`.
  public var deleted: [RawItem] = []
  /// Items that were set aside because they cannot be decoded; see `BadItemPolicy`.
  public var badItems: [BadItem]
  /// The page's place in its walk, from 0.
  public var index: Int
  /// Where the page starts in its listing.
  public var position: Position

  /// A page of items.
  public init(
    _ items: [RawItem], badItems: [BadItem] = [], index: Int = 0, position: Position = .start
  ) {
    self.items = items
    self.badItems = badItems
    self.index = index
    self.position = position
  }

  /// What an export makes of a page of its walk.
  init(_ page: Page<RawItem>) {
    self.init(page.items, badItems: page.badItems, index: page.index, position: page.position)
  }
}

/// What a run does in a destination whose last run is complete. An unfinished one is always continued.
public enum SinkMode: String, Hashable, Sendable, CaseIterable {
  /// Nothing: the destination holds the export, and nothing is requested. The default where items
  /// have no key.
  case once
  /// A new run, whose items come behind those that are there.
  case append
  /// A new run, whose items take the place of those that are there, at once, with the commit that
  /// completes it. Until then a reader sees the old ones. A run that lacks items which the server had declared,
  /// and more than what is there, never completes: the one that is begun after it (`Checkpoint.isOver`)
  /// drops what it had.
  case replace
  /// A new run, whose items take the place of those with the same key; others stay.
  case upsert
}
