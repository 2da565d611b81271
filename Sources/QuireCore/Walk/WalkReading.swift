import Synchronization

/// The read of a page that the current task performs for a walk, and the reads around it: one walk
/// may read through another.
///
/// It gives sources the walk's limits on bytes and requests, and shows whether a walk is asked for
/// a page from inside its own reading.
package final class WalkReading: Sendable {
  @TaskLocal static var current: WalkReading?

  private static let walks = Atomic<Int>(0)

  private let walk: ObjectIdentifier
  private let number: Int
  private let outer: WalkReading?
  private let allowance: ReadAllowance?
  private let readsOn: Bool
  private let isOver = Atomic(false)

  init(of walk: AnyObject, number: Int, allowance: ReadAllowance?, readsOn: Bool = false) {
    self.walk = ObjectIdentifier(walk)
    self.number = number
    self.allowance = allowance
    self.readsOn = readsOn
    outer = Self.current
  }

  /// The reads that the current task performs, the innermost first.
  private static var all: some Sequence<WalkReading> {
    sequence(state: current) { next -> WalkReading? in
      defer { next = next?.outer }
      return next
    }
  }

  /// Returns a number for a walk, from 1 for the first one of the process.
  static func newNumber() -> Int { walks.add(1, ordering: .relaxed).newValue }

  /// The number of the walk for which the current task reads; the innermost one, if walks read
  /// through one another.
  package static var walkNumber: Int? { current?.number }

  /// The number of the walk for whose consumer the current task reads; the outermost one, if walks
  /// read through one another.
  package static var outerWalkNumber: Int? { all.reduce(nil) { $1.number } }

  /// The urgency of the page that the current task reads, if the next page may be requested before
  /// this one is decoded; else nil. It may be if a paginator reads on at once, no other walk reads
  /// through this one, and no limit can end the walk in between.
  package static var readingOn: ReadUrgency? {
    guard let current, current.readsOn, current.outer == nil else { return nil }
    return ReadUrgency.current.flatMap { $0.mostBytesToReadOn == nil ? nil : $0 }
  }

  /// Counts bytes that were received for the page that the current task reads.
  ///
  /// Throws `limitExceeded` if a walk must not read as many.
  package static func received(bytes: Int) throws(PageError) {
    for reading in all { try reading.allowance?.spend(bytes) }
  }

  /// Counts a request for the page that the current task reads, before it is sent.
  ///
  /// Throws `limitExceeded` if a walk must not send as many.
  package static func requested() throws(PageError) {
    for reading in all { try reading.allowance?.request() }
  }

  /// Whether a walk that the current task reads for has exceeded its limit on bytes or requests, so
  /// that nothing else can be read for it either.
  static var isOverLimit: Bool { all.contains { $0.allowance?.isExceeded == true } }

  /// Whether a walk that the current task reads for has such a limit and has delivered nothing yet:
  /// several reads at once could use up the limit.
  static var isLimited: Bool { all.contains { $0.allowance?.isBegun == false } }

  /// Whether the current task is inside an unfinished read of `walk`.
  static func isInside(_ walk: AnyObject) -> Bool {
    all.contains { $0.walk == ObjectIdentifier(walk) && !$0.isOver.load(ordering: .relaxed) }
  }

  /// Notes that the read has ended, with or without a page.
  func end() { isOver.store(true, ordering: .relaxed) }
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

  /// Counts a request that is about to be sent.
  ///
  /// Throws `limitExceeded` if the walk may not send as many: then it must not be sent.
  func request() throws(PageError) {
    guard let requestLimit else { return }
    let total = requests.add(1, ordering: .relaxed).newValue
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
