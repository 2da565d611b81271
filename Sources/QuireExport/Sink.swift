public import QuireCore
import QuireHTTP
public import QuirePagination

/// A destination of exports, which holds the items of a listing and the checkpoint of their export.
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
/// A sink that cannot store checkpoints returns nil as its session's `checkpoint`, and is used
/// through `storingCheckpoints(in:as:)`. `SinkConformance` in QuireTesting checks a sink.
public protocol Sink: Sendable {
  /// What a run does if the destination's run is complete. Default `.once`.
  var mode: SinkMode { get }

  /// Opens the destination for the exclusive use of one export, before anything is requested.
  ///
  /// Must not change the content of the destination, which only commits do. Throws `SinkError`:
  /// `.inUse` if another export has it open, `.damaged` if its content does not match its
  /// checkpoint.
  func open(_ opening: SinkOpening) async throws -> any SinkSession
}

extension Sink {
  /// The default, `.once`.
  public var mode: SinkMode { .once }
}

/// An open destination. Used by one task at a time.
public protocol SinkSession: AnyObject {
  /// The checkpoint committed last, by this session or before it; nil if there is none, after
  /// `SinkOpening.restarts`, and always in a sink that cannot store one.
  var checkpoint: Checkpoint? { get }

  /// Takes a page. Its items do not count before the next commit, even if they are written
  /// somewhere.
  ///
  /// Throws if the destination cannot take the page; committed items are kept.
  func write(_ page: SinkPage) async throws

  /// Commits the checkpoint and all pages since the last commit atomically: after a crash, `open`
  /// finds both or neither. Returns once both survive a loss of power.
  ///
  /// The first commit after `SinkOpening.restarts` also removes the old content. With `.replace`,
  /// so does the commit that completes a run, and the one that begins a run drops what an earlier
  /// run left beside the content; see `SinkMode`. A commit without pages is valid, too. Must
  /// complete even if the calling task is cancelled. After a failure, only `close` is called.
  func commit(_ checkpoint: Checkpoint) async throws

  /// Closes the destination and discards uncommitted pages. Called once, and never fails.
  func close() async
}

/// A session of a destination that the end of a run makes whole for readers, and that can be made
/// so before.
package protocol PausableSession: SinkSession {
  /// Makes what is committed whole for readers, because a limit of the caller ended the run, which
  /// may be continued. Called after the last commit; after it, only `close` is called.
  func pause() async throws
}

/// The options with which an export opens a sink.
public struct SinkOpening: Sendable {
  /// Whether to forget the content of the destination: the session has no checkpoint, and the first
  /// commit removes the content.
  public var restarts: Bool

  /// Returns whether the export was asked to stop. Long waits, such as for the reader of a pipe,
  /// then end with `CancellationError`.
  public var isStopping: @Sendable () -> Bool

  /// Called before each wait for the destination, such as for a lock or a database that is away, with
  /// its length and the reason.
  package var onWait: @Sendable (Duration, any Error) -> Void = { _, _ in }

  /// Creates options; by default the export continues and never stops.
  public init(restarts: Bool = false, isStopping: @escaping @Sendable () -> Bool = { false }) {
    self.restarts = restarts
    self.isStopping = isStopping
  }
}

/// The content of a page, as a sink gets it.
public struct SinkPage: Sendable {
  /// The items as the server wrote them.
  public var items: [RawItem]
  /// The items that the server reports as deleted, identified by the key in them. They are deleted
  /// after `items` are written. Only for sinks whose mode is `.upsert`; see `Tombstone`.
  public var deleted: [RawItem] = []
  /// Items that were set aside because they cannot be decoded; see `BadItemPolicy`.
  public var badItems: [BadItem]
  /// The index of the page in its walk, from 0.
  public var index: Int
  /// The position of the page in its listing.
  public var position: Position

  /// Creates a page of items.
  public init(
    _ items: [RawItem], badItems: [BadItem] = [], index: Int = 0, position: Position = .start
  ) {
    self.items = items
    self.badItems = badItems
    self.index = index
    self.position = position
  }

  /// Creates the sink's page from a page of the export's walk.
  init(_ page: Page<RawItem>) {
    self.init(page.items, badItems: page.badItems, index: page.index, position: page.position)
  }
}

/// What a run does if the last run in the destination is complete. An unfinished run is always
/// continued.
public enum SinkMode: String, Hashable, Sendable, CaseIterable {
  /// The run requests nothing, because the destination holds the export. The default if items have
  /// no key.
  case once
  /// A new run adds its items after the existing ones.
  case append
  /// A new run replaces the existing items atomically, with the commit that completes it; until
  /// then readers see the old ones. A run that lacks items which the server had declared, and more
  /// of them than the existing run, never completes: the next run (`Checkpoint.isOver`) drops its
  /// items.
  case replace
  /// A new run replaces existing items with the same key, and keeps the others. The default if items
  /// have a key.
  case upsert

  /// Returns the default of a sink whose items have a key, or none.
  package static func standard(hasKey: Bool) -> SinkMode { hasKey ? .upsert : .once }
}
