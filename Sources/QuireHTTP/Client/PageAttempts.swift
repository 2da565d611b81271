import HTTPTypes
import Logging
import QuireCore
import QuirePagination

/// The attempts for one request: sends it again as `RetryMachine` decides, and asks for a smaller
/// page if that may cure the failure.
final class PageAttempts {
  let exchange: Exchange
  /// The continuation from which the request was made, with its secrets; nil for a plain first
  /// page.
  let sent: Bookmark?
  private var retry: RetryMachine
  private let stopwatch: Stopwatch
  /// The page size that is asked for, if it differs from the listing's own.
  private var askedSize: Int?
  /// The warnings and adjustments about the page size, for the next page's head.
  private var sizeNotes: [WalkReport.Warning] = []
  private var sizeChanges: [WalkReport.Adjustment] = []

  init(_ exchange: Exchange, for sent: Bookmark?) {
    self.exchange = exchange
    self.sent = sent
    retry = exchange.retryMachine
    stopwatch = Stopwatch(exchange.listing.client.shared.configuration.clock)
  }

  private var listing: Listing { exchange.listing }
  private var engine: PaginationEngine { listing.engine }
  private var shared: PageClient.Shared { listing.client.shared }

  // MARK: Repeating

  /// Makes attempts until one succeeds or the retry machine gives up. After a failure,
  /// `isResizable` tells whether a page of another size may be asked for.
  func repeating<Result>(
    isResizable: () -> Bool = { false }, _ attempt: () async throws -> Result
  ) async throws -> Result {
    defer { giveUpProbing() }
    while true {
      begin()
      do {
        let result = try await attempt()
        endOutage()
        return result
      } catch {
        if let delay = try delay(after: error, isResizable()) { try await sleep(delay) }
        exchange.traffic.retries += 1
        listing.health.retried()
      }
    }
  }

  /// Begins an attempt: sets the number of requests that it may send.
  func begin() {
    exchange.requestsLeft = retry.requestsLeft(afterWireRequests: exchange.requests)
  }

  private func sleep(_ delay: Duration) async throws {
    try await shared.configuration.clock.sleep(for: delay)
  }

  @inline(never)
  private func giveUpProbing() {
    guard exchange.isProbing else { return }
    exchange.isProbing = false
    listing.health.gaveUp(random: listing.client.environment.random())
  }

  /// Returns the delay before the next attempt; nil if it follows at once. Throws if there is none.
  // Not inlined, because its locals would be part of the frame of every page that waits.
  @inline(never)
  private func delay(after error: any Error, _ isResizable: Bool) throws -> Duration? {
    guard let failure = RetryMachine.Failure(error) else { throw error }
    if !failure.isOutage, exchange.wasAnswered { endOutage() }
    if isResizable, let suspicion = try shrink(after: failure) {
      guard suspicion == .possible else { return nil }
      let longest = shared.configuration.retry.longestDelay(afterFailures: 1, throttled: false)
      return longest * listing.client.environment.random()
    }
    return try delay(after: failure)
  }

  /// Ends the outage of the host if this request probes it.
  private func endOutage() {
    guard exchange.isProbing else { return }
    exchange.isProbing = false
    listing.health.recovered()
  }

  private func delay(after failure: RetryMachine.Failure) throws -> Duration? {
    if let waited = exchange.waitedForProbe.take() {
      retry.waited(since: stopwatch.elapsed() - waited)
    }
    let (health, quota) = (listing.health, shared.configuration.retry.quota)
    let paysByQuota = shared.configuration.retry.patience == .zero
    var cost = 0
    let action = retry.failed(
      failure, wireRequests: exchange.requests, random: listing.client.environment.random(),
      now: stopwatch.elapsed(), debt: health.debt, probes: health.probes,
      pay: {
        cost = $0
        return !paysByQuota || health.pay($0, of: quota)
      })
    exchange.refund = paysByQuota ? cost : 0
    switch action {
    case .fail(let error):
      // A later call begins with all attempts again.
      retry = exchange.retryMachine
      exchange.requests = 0
      defer { exchange.traffic = .zero }
      throw exchange.describe(error, after: exchange.traffic)
    case .retry(let delay):
      exchange.retries(after: delay, failure.error)
      return delay
    case .probe(let delay, let remaining):
      exchange.isProbing = health.failed(failure.error, isProbe: exchange.isProbing)
      exchange.retries(
        after: exchange.isProbing ? delay : .zero, failure.error, remaining: remaining)
      // A request that does not probe waits for the probe before it is sent.
      exchange.patience = remaining
      return exchange.isProbing ? delay : nil
    }
  }

  // MARK: Page size

  /// Asks for the reduced page size that the server was found to serve, if there is one.
  func resize() throws {
    guard let size = listing.sizes?.reduced, engine.allowsOtherSize(at: sent) else { return }
    try ask(for: size)
  }

  private func ask(for size: Int) throws {
    exchange.request = try engine.request(exchange.request, ofSize: size)
    askedSize = size
  }

  /// Halves the page size if that may cure the failure, and returns how certain that is; nil if it
  /// cannot.
  private func shrink(after failure: RetryMachine.Failure) throws -> PageSizeMachine.Suspicion? {
    guard let suspicion = failure.sizeSuspicion, let sizes = listing.sizes,
      shared.configuration.retry.attempts > 1, !listing.health.isAway, exchange.isRepeatable,
      engine.allowsOtherSize(at: sent), let asked = askedSize ?? engine.pageSize,
      let size = sizes.failed(asked: asked, suspicion)
    else { return nil }
    try ask(for: size)
    let reason = failure.error.response.map { $0.status.words } ?? "\(failure.error.code)"
    let note = "The page size of \(asked) was halved to \(size): \(reason)."
    sizeNotes.append(
      WalkReport.Warning(.pageSizeChanged, note, remedy: Remedy(.pageSize, ["\(size)"])))
    sizeChanges.append(.init(.pageSize, from: asked, to: size, "\(reason)."))
    shared.emit(.notice, .adjusted(note))
    return suspicion
  }

  /// Notes that a page of the current size came, and adds what there is to report to its head.
  func noteSize(_ head: inout PageHead) {
    guard let asked = askedSize else { return }
    head.warnings += sizeNotes
    head.adjustments += sizeChanges
    (sizeNotes, sizeChanges) = ([], [])
    guard let size = listing.sizes?.succeeded(asked: asked) else { return }
    let note = "The page size of \(asked) went well, and the next page is asked for in \(size)."
    head.warnings.append(WalkReport.Warning(.pageSizeChanged, note))
    head.adjustments.append(
      .init(.pageSize, from: asked, to: size, "the last page went well."))
    shared.emit(.notice, .adjusted(note))
  }
}
