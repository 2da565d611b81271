import Synchronization

/// Where a walk stops before the server's end.
///
/// `pages` and `items` are the caller's own wishes: reaching one ends the walk normally. The others
/// are safety caps: reaching one throws `PageError.Code.limitExceeded` on the `next()` after the
/// last page was delivered. Both are named in the report. The page size is neither: it is part of
/// the request.
public struct Limits: Hashable, Sendable {
  /// Deliver at most this many pages. Default: all.
  public var pages: Int?
  /// Deliver at most this many items; the last page is cut to fit, and its `next` points inside it.
  /// Default: all.
  public var items: Int?
  /// Read at most this many decoded bytes; over HTTP, a transfer that goes beyond them is ended, and its
  /// page comes again with the checkpoint. Default: no cap.
  public var bytes: Int?
  /// Send at most this many requests, retries, redirects and what opens and closes the listing included;
  /// what would be one more is not sent. Default: no cap.
  public var requests: Int?
  /// Walk for at most this long, time in the consumer included; what is being read when the time is up
  /// is cancelled. Default: no cap.
  public var duration: Duration?
  /// Accept at most this many empty pages in a row. Default 100, far beyond what filtered listings
  /// send.
  public var consecutiveEmptyPages: Int
  /// Compare each page's items with those of this many pages before it, and refuse a page that
  /// repeats one of them: a server that has lost its place sends the same page for ever under new
  /// positions. Default 64; 0 compares none, for listings whose pages may well be the same.
  ///
  /// Items are the same, too, where only such members differ that servers write anew with every
  /// answer: an age, a time, a counter. What tells records apart, their id above all, has to be the
  /// same in all of them. Pages that may be right although they look alike are refused after a
  /// thousand in a row, a hundred where the items have the same id: equal items under positions that
  /// count, readings of the same sensors, versions of one record.
  public var comparedPages: Int

  /// No limits but those on empty and on repeated pages, unless given.
  public init(
    pages: Int? = nil, items: Int? = nil, bytes: Int? = nil, duration: Duration? = nil,
    consecutiveEmptyPages: Int = 100, comparedPages: Int = 64, requests: Int? = nil
  ) {
    self.requests = requests
    self.pages = pages
    self.items = items
    self.bytes = bytes
    self.duration = duration
    self.consecutiveEmptyPages = consecutiveEmptyPages
    self.comparedPages = comparedPages
  }
}

/// The bytes that a walk may still read and the requests it may still send, spent as they come and go. Walks for one
/// consumer share it.
///
/// Reads that run ahead spend the allowance of the walk that began them.
final class ReadAllowance: Sendable {
  private let limit: Int?
  private let spent: Atomic<Int>
  private let requestLimit: Int?
  private let requests: Atomic<Int>
  private let pages: Mutex<WalkReport.Traffic>
  private let hasDelivered = Atomic(false)

  /// What is left of limits to a walk that has spent that; nil without such limits.
  init?(_ limits: Limits, spent: WalkReport.Traffic) {
    guard limits.bytes != nil || limits.requests != nil else { return nil }
    (limit, requestLimit) = (limits.bytes, limits.requests)
    self.spent = Atomic(spent.bytes)
    requests = Atomic(spent.requests)
    pages = Mutex(spent)
  }

  /// What pages have taken so far, those included whose source spends nothing here.
  var taken: WalkReport.Traffic { pages.withLock { $0 } }

  /// Takes note of what a page has taken, or has failed to come for.
  func took(_ traffic: WalkReport.Traffic) { pages.withLock { $0 = $0 + traffic } }

  /// Whether a page came by it: a walk that is resumed with the same limits gets further.
  var isBegun: Bool { hasDelivered.load(ordering: .relaxed) }

  /// Takes note of a page that is delivered.
  func delivered() { hasDelivered.store(true, ordering: .relaxed) }

  /// Whether more was read or requested than the walk may.
  var isExceeded: Bool {
    spent.load(ordering: .relaxed) > limit ?? .max
      || requests.load(ordering: .relaxed) > requestLimit ?? .max
  }

  /// Takes note of requests that are about to go out.
  ///
  /// Throws `limitExceeded` where the walk may send no more: they must not go out.
  func request(_ count: Int) throws(PageError) {
    guard let requestLimit else { return }
    let total = requests.add(count, ordering: .relaxed).newValue
    guard total > requestLimit else { return }
    throw PageError(
      .limitExceeded,
      """
      The walk may send \(requestLimit.counted("request")), and it has; nothing more was sent. Resume \
      from the checkpoint.
      """, remedies: [Remedy(.init("Limits.requests"), condition: "to send more in one walk")],
      attempts: 0)
  }

  /// Takes note of bytes that came.
  ///
  /// Throws `limitExceeded` when they are more than the walk may read: the transfer is to be ended.
  func spend(_ bytes: Int) throws(PageError) {
    guard let limit else { return }
    let total = spent.add(bytes, ordering: .relaxed).newValue
    guard total > limit else { return }
    throw PageError(
      .limitExceeded,
      """
      The walk may read \(limit) bytes, and this page would be beyond them; its transfer was ended. \
      Resume from the checkpoint.
      """, remedies: [Remedy(.init("Limits.bytes"), condition: "to read more in one walk")])
  }
}

extension PageError {
  /// Says of a limit that the walk got nowhere before it, and why.
  mutating func noteWithoutProgress(_ reason: String) {
    let words = " A walk resumed with the same limit gets no further: \(reason)."
    if !message.hasSuffix(words) { message += words }
  }
}

/// Work that must not take longer than it may.
enum Deadline {
  /// The time was up before the work was done, and the work was ended.
  struct Expired: Error {}

  private enum Outcome<Value: Sendable>: Sendable {
    case done(Value)
    case expired
  }

  /// Does `work` for `time` at most, then cancels it and waits until it has ended.
  ///
  /// Throws `Expired` where the work did not come to a result all the same. Its cancellation from
  /// outside ends both.
  static func run<Value: Sendable>(
    within time: Duration, by clock: any Clock<Duration>,
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Outcome<Value>.self) { group in
      group.addTask { .done(try await work()) }
      group.addTask {
        try await clock.sleep(for: time)
        return .expired
      }
      defer { group.cancelAll() }
      let first = await group.nextResult()
      if case .success(.done(let value))? = first { return value }
      group.cancelAll()
      // What came in the same moment, or although the work was cancelled, is not thrown away.
      if case .success(.done(let value))? = await group.nextResult() { return value }
      if case .failure(let error)? = first { throw error }
      throw Expired()
    }
  }
}

/// The time since its creation, by any clock.
package struct Stopwatch: Sendable {
  /// The time that has passed.
  package let elapsed: @Sendable () -> Duration

  package init(_ clock: any Clock<Duration>) {
    elapsed = Self.start(clock)
  }

  private static func start<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
    let beginning = clock.now
    return { beginning.duration(to: clock.now) }
  }
}
