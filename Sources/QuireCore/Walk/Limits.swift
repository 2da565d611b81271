import Synchronization

/// The limits at which a walk stops before the server's end.
///
/// `pages` and `items` are the caller's own wishes: reaching one ends the walk normally. The others
/// are safety caps: reaching one throws `PageError.Code.limitExceeded` on the `next()` after the
/// last page was delivered. The report names either. The page size is not among them: it is part of
/// the request.
public struct Limits: Hashable, Sendable {
  /// The most pages to deliver. Default: all.
  public var pages: Int?
  /// The most items to deliver. The last page is cut to fit, and its `next` points inside it.
  /// Default: all.
  public var items: Int?
  /// The most decoded bytes to read. Over HTTP, a transfer that goes beyond them is ended, and a
  /// walk from the checkpoint reads its page again. Default: no cap.
  public var bytes: Int?
  /// The most requests to send: retries, redirects and requests that open and close the listing
  /// included. A request beyond them is not sent. Default: no cap.
  public var requests: Int?
  /// The longest time that the walk may take, time in the consumer included. A read that runs when
  /// the time is up is cancelled. Default: no cap.
  public var duration: Duration?
  /// The most pages without items to accept in a row. Default 100, far beyond what filtered
  /// listings send.
  public var consecutiveEmptyPages: Int
  /// The number of pages before each page with which its items are compared. A page that repeats
  /// one of them is refused: a server that has lost its place sends the same page for ever under
  /// new positions. Default 64; 0 compares none, for listings whose pages may well be the same. Walks
  /// that go on from stored positions refuse equal items that come for the third time.
  ///
  /// Items also count as the same if only members differ that servers write anew with every answer:
  /// an age, a counter and, in records with an id or a title of their own, a time. Members that tell
  /// records apart, above all their id, have to be equal in all of them. Pages that look alike but may be right are refused only after a thousand
  /// in a row, a hundred if the items have the same ids: equal items under positions that count,
  /// readings of the same sensors, versions of one record.
  public var comparedPages: Int

  /// Creates limits; by default there are none but those on empty and on repeated pages.
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

/// The bytes that a walk may still read and the requests that it may still send. Walks for one
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

  /// Creates the allowance that `limits` leave to a walk that has spent `spent`; nil without limits
  /// on bytes and requests.
  init?(_ limits: Limits, spent: WalkReport.Traffic) {
    guard limits.bytes != nil || limits.requests != nil else { return nil }
    (limit, requestLimit) = (limits.bytes, limits.requests)
    self.spent = Atomic(spent.bytes)
    requests = Atomic(spent.requests)
    pages = Mutex(spent)
  }

  /// The traffic of all pages so far, including pages of sources that do not count theirs here.
  var taken: WalkReport.Traffic { pages.withLock { $0 } }

  /// Adds the traffic of a page, or of a failure to read one.
  func took(_ traffic: WalkReport.Traffic) { pages.withLock { $0 = $0 + traffic } }

  /// Whether a page was delivered within the allowance: then a walk that is resumed with the same
  /// limits gets further.
  var isBegun: Bool { hasDelivered.load(ordering: .relaxed) }

  /// Notes that a page is delivered.
  func delivered() { hasDelivered.store(true, ordering: .relaxed) }

  /// Whether more was read or requested than the walk may.
  var isExceeded: Bool {
    spent.load(ordering: .relaxed) > limit ?? .max
      || requests.load(ordering: .relaxed) > requestLimit ?? .max
  }

  /// Counts requests that are about to be sent.
  ///
  /// Throws `limitExceeded` if the walk may not send as many: then they must not be sent.
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

  /// Counts bytes that were received.
  ///
  /// Throws `limitExceeded` if the walk may not read as many: then the transfer must be ended.
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
  /// Adds to the error of a limit that the walk made no progress before it, because of `reason`.
  mutating func noteWithoutProgress(_ reason: String) {
    let words = " A walk resumed with the same limit gets no further: \(reason)."
    if !message.hasSuffix(words) { message += words }
  }
}

/// Work with a time limit.
enum Deadline {
  /// The error when the time was up before the work was done.
  struct Expired: Error {}

  private enum Outcome<Value: Sendable>: Sendable {
    case done(Value)
    case expired
  }

  /// Runs `work` for at most `time`, then cancels it and waits until it has ended.
  ///
  /// Throws `Expired` if the work still brought no result. Cancelling the caller cancels the work,
  /// too.
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
      // A value that came at the same moment, or in spite of the cancellation, is not lost.
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
