/// How a walk ended and what it did.
public struct WalkReport: Sendable {
  /// Why no more pages come.
  public enum End: Sendable {
    /// The walk is still going on.
    case running
    /// The server had no more.
    case exhausted
    /// The server had no more, yet delivered fewer items than it had declared exactly.
    case truncationSuspected(declared: Int)
    /// The caller's own limit was reached.
    case limit(Limit)
    /// The consuming task was cancelled.
    case cancelled
    /// The consumer left the loop.
    case stoppedByConsumer
    /// An error was thrown; a safety cap is one too.
    indirect case failed(PageError)
  }

  /// The caller's own limits.
  public enum Limit: String, Hashable, Sendable { case pages, items }

  /// Why no more pages come.
  public package(set) var end: End = .running
  /// Pages delivered.
  public package(set) var pages = 0
  /// Items delivered; to a loop over items, those it has taken.
  public package(set) var items = 0
  /// Bytes, requests, retries and items set aside, over all pages: those delivered, and those that
  /// failed.
  public package(set) var traffic = Traffic(requests: 0)
  /// Items a deduplicating transform dropped.
  public package(set) var duplicatesDropped = 0
  /// Time in which the consumer waited for a page.
  public package(set) var waitingForNetwork: Duration = .zero
  /// Time in which the walk waited for the consumer.
  public package(set) var waitingForConsumer: Duration = .zero
  /// Where a later walk goes on: after the last page delivered, or the last item taken; nil when the
  /// listing is exhausted.
  ///
  /// Where the walk's end closes what the server held for it, such as a scroll, the position leads
  /// nowhere: a walk from there throws `PageError.Code.notResumable` and requests nothing, also when the
  /// position was stored, and `warnings` say so before anything is closed.
  public package(set) var checkpoint: Position? = .start
  /// What is wrong with the way on behind the last page delivered, where the walk ended before it was
  /// thrown, at a limit for example; nil otherwise. A walk from `checkpoint` throws it.
  public package(set) var nextFailure: PageError?
  /// The last total the server declared.
  public package(set) var total: Total?
  /// What speaks against the walk being whole, though it is no failure; each once, at most 64.
  public package(set) var warnings: [Warning] = []

  /// Whether the walk came to the end of the listing, and nothing speaks against it having been all:
  /// `end` is `.exhausted`. What a server lists behind its own end is not known.
  public var isComplete: Bool {
    if case .exhausted = end { true } else { false }
  }

  /// The report of a walk that has not begun.
  public init() {}
}
