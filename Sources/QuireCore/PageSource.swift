/// The source of a listing's pages: fetches the page at a position.
///
/// A source for tests takes a few lines:
/// ```swift
/// struct Numbers: PageSource {
///   func page(at position: Position?) async throws -> Page<Int>? {
///     let start = position?.value?.integer ?? 0
///     return Page(Array(start..<start + 10), next: start < 90 ? Position(.number("\(start + 10)")) : nil)
///   }
/// }
/// ```
/// The same position must always lead to the same page, because a walk repeats a position to retry
/// it. Throw `CancellationError` if the task was cancelled, and leave nothing running.
/// `PageSourceConformance` in QuireTesting checks a source.
public protocol PageSource<Item>: Sendable {
  associatedtype Item: Sendable

  /// Fetches the page that starts at `position`; nil is the start of the listing.
  ///
  /// Returns nil if the listing ended before this position, as when a server answers 404 behind the
  /// last page; the walk then ends without another page. The position's `itemOffset` is always 0:
  /// the walk applies offsets itself.
  func page(at position: Position?) async throws -> Page<Item>?

  /// Frees what the server holds for a walk that ended before or at `position`, such as a scroll or
  /// a point in time.
  ///
  /// Called once for every walk that fetched a page or learned that none exists, however the walk
  /// ended. `position` is the last page's `Page.closing`, else the position at which the walk would
  /// have continued, which is nil after the last page. The default does nothing.
  func close(at position: Position?) async

  /// Returns the positions of up to `count` pages behind the one at `position`, in order, as far as
  /// they can be computed without reading those pages: by offset, by page number.
  ///
  /// Each must equal the `next` of the page before it. `total` is the total declared with an
  /// earlier page, if any. Positions behind the end do no harm. Default: none, because most
  /// listings reveal their positions only page by page. See `Cursor.parallel(_:)`.
  func positions(after position: Position?, total: Total?, count: Int) -> [Position]

  /// Whether `close(at:)` does anything; if not, walks start no task for it. Default: false.
  var needsClosing: Bool { get }

  /// Whether a page may be requested before the previous page was consumed. Default: true; false if
  /// the request for the next page makes the server forget the previous one.
  var allowsLookAhead: Bool { get }

  /// How a walk treats a position that it has already visited. Default `.refused`.
  var repeatedPositions: Position.Repetition { get }
}

extension PageSource {
  /// Returns no positions.
  public func positions(after position: Position?, total: Total?, count: Int) -> [Position] { [] }
  /// Does nothing.
  public func close(at position: Position?) async {}
  /// Closing does nothing by default.
  public var needsClosing: Bool { false }
  /// Pages may be requested ahead by default.
  public var allowsLookAhead: Bool { true }
  /// Repeated positions are refused by default.
  public var repeatedPositions: Position.Repetition { .refused }
}

extension Position {
  /// How a walk treats a position that it has already visited.
  public enum Repetition: Hashable, Sendable {
    /// The listing goes in circles: the walk throws `PageError.Code.loopDetected` once it has
    /// delivered the page that led back.
    case refused
    /// The position is a handle that stays the same while the server moves on, such as a scroll.
    ///
    /// Only the source's end rule and the limits end such a walk.
    case allowed
  }
}
