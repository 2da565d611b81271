/// The door to a listing: something that can fetch the page at a position.
///
/// A fake takes four lines:
/// ```swift
/// struct Numbers: PageSource {
///   func page(at position: Position?) async throws -> Page<Int>? {
///     let start = position?.value?.integer ?? 0
///     return Page(Array(start..<start + 10), next: start < 90 ? Position(.number("\(start + 10)")) : nil)
///   }
/// }
/// ```
/// The same position always asks for the same page: a walk repeats a position to retry it. Throw
/// `CancellationError` when the task was cancelled, and leave nothing running.
/// `PageSourceConformance` in QuireTesting checks a source.
public protocol PageSource<Item>: Sendable {
  associatedtype Item: Sendable

  /// Fetches the page that starts at `position`; nil is the start of the listing.
  ///
  /// Returns nil when the answer is that the listing ended before this position, as servers do that
  /// answer 404 behind the last page: the walk then ends without another page. The position's
  /// `itemOffset` is the walk's business: it is always 0 here.
  func page(at position: Position?) async throws -> Page<Item>?

  /// Frees what the server holds for a walk that ended before or at `position`, such as a scroll or
  /// a point in time.
  ///
  /// Called once for every walk that fetched something, however it ended. `position` is what the
  /// last page gave as `Page.closing`, else where the walk would have gone on, which is nil after
  /// the last page. The default does nothing.
  func close(at position: Position?) async

  /// Where up to `count` pages behind the one at `position` start, in order, as far as that can be
  /// told without reading them: by offset, by page number.
  ///
  /// Exactly as the pages before them will say in `next`. `total` is what the server declared with a
  /// page read before, if one was. Positions behind the end do no harm. Default: none; most listings
  /// tell the way only page by page. See `Cursor.parallel(_:)`.
  func positions(after position: Position?, total: Total?, count: Int) -> [Position]

  /// Whether `close(at:)` does anything, so that walks need not start a task for it. Default false.
  var needsClosing: Bool { get }

  /// Whether a page may be asked for before the one in front of it was consumed. Default true; false
  /// where asking for the next page makes the server forget this one.
  var allowsLookAhead: Bool { get }

  /// What a walk makes of a position that comes back. Default `.refused`.
  var repeatedPositions: Position.Repetition { get }
}

extension PageSource {
  /// None.
  public func positions(after position: Position?, total: Total?, count: Int) -> [Position] { [] }
  /// Does nothing.
  public func close(at position: Position?) async {}
  /// False.
  public var needsClosing: Bool { false }
  /// True.
  public var allowsLookAhead: Bool { true }
  /// `.refused`.
  public var repeatedPositions: Position.Repetition { .refused }
}

extension Position {
  /// What a walk makes of a position that it has already visited.
  public enum Repetition: Hashable, Sendable {
    /// The listing goes in circles: `PageError.Code.loopDetected`, after the page that led back was
    /// delivered.
    case refused
    /// The position is a handle that stays the same while the server moves on, such as a scroll.
    ///
    /// Only the source's end rule and the limits end such a walk.
    case allowed
  }
}
