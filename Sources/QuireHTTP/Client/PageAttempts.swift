import HTTPTypes
import Logging
import QuireCore
import QuirePagination

/// The attempts at one request: makes it again as long as the retry machine allows, and asks for a smaller page
/// where that may cure the failure.
final class PageAttempts {
  let exchange: Exchange
  /// What the request was made of, secrets restored; nil for the plain first page.
  let sent: Bookmark?
  private var retry: RetryMachine
  private let stopwatch: Stopwatch
  /// How many items the page is asked for in, where that is not the listing's own number.
  private var askedSize: Int?
  /// What there is to be said about page sizes.
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

  /// Makes attempts until one succeeds or the retry machine gives up. `isResizable` is asked after a failure
  /// whether another number of items would do.
  func repeating<Result>(
    isResizable: () -> Bool = { false }, _ attempt: () async throws -> Result
  ) async throws -> Result {
    defer { giveUpProbing() }
    while true {
      begin()
      do {
        let result = try await attempt()
        foundBack()
        return result
      } catch {
        if let delay = try delay(after: error, isResizable()) { try await sleep(delay) }
        exchange.traffic.retries += 1
        listing.health.retried()
      }
    }
  }

  /// An attempt begins.
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

  /// How long to wait before another attempt, nil for not at all; throws where there is none.
  // What it needs must not lie in the frame of every page that is waited for.
  @inline(never)
  private func delay(after error: any Error, _ isResizable: Bool) throws -> Duration? {
    guard let failure = RetryMachine.Failure(error) else { throw error }
    if !failure.isOutage, exchange.wasAnswered { foundBack() }
    if isResizable, let complaint = try shrink(after: failure) {
      guard complaint == .possible else { return nil }
      let longest = shared.configuration.retry.longestDelay(afterFailures: 1, throttled: false)
      return longest * listing.client.environment.random()
    }
    return try delay(after: failure)
  }

  /// The host has answered.
  private func foundBack() {
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
      // Asking once more begins anew.
      retry = exchange.retryMachine
      exchange.requests = 0
      defer { exchange.traffic = WalkReport.Traffic(requests: 0) }
      throw exchange.describe(error, after: exchange.traffic)
    case .retry(let delay):
      exchange.retries(after: delay, failure.error)
      return delay
    case .probe(let delay, let remaining):
      exchange.isProbing = health.failed(failure.error, isProbe: exchange.isProbing)
      exchange.retries(
        after: exchange.isProbing ? delay : .zero, failure.error, remaining: remaining)
      // Those that do not probe wait in front of the next request.
      exchange.patience = remaining
      return exchange.isProbing ? delay : nil
    }
  }

  // MARK: Page size

  /// Asks for as many items as the server has been found to serve.
  func resize() throws {
    guard let size = listing.sizes?.reduced, engine.allowsOtherSize(at: sent) else { return }
    try ask(for: size)
  }

  private func ask(for size: Int) throws {
    exchange.request = try engine.request(exchange.request, ofSize: size)
    askedSize = size
  }

  /// Halves the page where that may cure the failure, and returns why; nil where it cannot.
  private func shrink(after failure: RetryMachine.Failure) throws -> PageSizeMachine.Complaint? {
    guard let complaint = failure.complaint, let sizes = listing.sizes,
      shared.configuration.retry.attempts > 1, !listing.health.isAway, exchange.isRepeatable,
      engine.allowsOtherSize(at: sent), let asked = askedSize ?? engine.pageSize,
      let size = sizes.failed(asked: asked, complaint)
    else { return nil }
    try ask(for: size)
    let reason = failure.error.response.map { $0.status.words } ?? "\(failure.error.code)"
    let note = "The page size of \(asked) was halved to \(size): \(reason)."
    sizeNotes.append(
      WalkReport.Warning(.pageSizeChanged, note, remedy: Remedy(.pageSize, ["\(size)"])))
    sizeChanges.append(.init(.pageSize, from: asked, to: size, "\(reason)."))
    shared.emit(.notice, .adjusted(note))
    return complaint
  }

  /// A page of the size asked for came.
  func noteSize(_ head: inout PageHead) {
    head.warnings += sizeNotes
    head.adjustments += sizeChanges
    (sizeNotes, sizeChanges) = ([], [])
    guard let asked = askedSize, let size = listing.sizes?.succeeded(asked: asked) else { return }
    let note = "The page size of \(asked) went well, and the next page is asked for in \(size)."
    head.warnings.append(WalkReport.Warning(.pageSizeChanged, note))
    head.adjustments.append(
      .init(.pageSize, from: asked, to: size, "the last page went well."))
    shared.emit(.notice, .adjusted(note))
  }
}
