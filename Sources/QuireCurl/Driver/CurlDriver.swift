import QuirePagination
import CCurl
import QuireCore
import QuireHTTP

/// The loop around a multi handle: takes commands, lets libcurl work, delivers the results, sleeps.
///
/// Everything in here happens on one thread.
final class CurlDriver {
  private let configuration: CurlTransport.Configuration
  private let mailbox: Mailbox
  private let ledger: Ledger
  private let multi: UnsafeMutableRawPointer
  private var transfers: [ObjectIdentifier: Transfer] = [:]
  /// Transfers in which something happened since the last delivery.
  private var touched: [Transfer] = []
  /// Handles without a transfer.
  private var spare: [EasyHandle] = []
  private var queue: AdmissionQueue<WireExchange>
  private let clock = RoundClock()
  /// A time before which no transfer's deadline lies; nil if none has one.
  private var nextDeadline: ContinuousClock.Instant?
  private var idleSpin = IdleSpin()
  /// The number of transfers handed to libcurl since the start.
  private var started = 0
  private var isStopping = false
  private var waitingForEnd: [Suspension<Void>] = []

  /// The most handles kept for reuse; each holds a few KiB.
  private static let maximumSpare = 64
  /// How long to sleep when nothing is due, in milliseconds.
  private static let longSleep = 60_000

  /// Initialises libcurl once, before there is a thread of ours: a process that ends meanwhile
  /// cleans up behind libcurl and OpenSSL, which must not still be initialising.
  static let libraryIsReady: Bool = {
    _ = KeyLog.path
    return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
  }()

  /// Starts a driver on a thread of its own, which runs until a command stops it, and opens its
  /// mailbox.
  static func start(
    _ configuration: CurlTransport.Configuration, connectionsAtOnce: Int, mailbox: Mailbox,
    ledger: Ledger
  ) throws(Shortage) -> DriverThread {
    guard DescriptorReserve.isFree else { throw .descriptors }
    guard libraryIsReady, let multi = curl_multi_init() else { throw .memory }
    // Without a descriptor to be woken by, a handle is made all the same.
    guard curl_multi_wakeup(multi) == CURLM_OK else {
      curl_multi_cleanup(multi)
      throw .descriptors
    }
    let address = UInt(bitPattern: multi)
    let thread = DriverThread(name: "quire-curl") {
      guard let multi = UnsafeMutableRawPointer(bitPattern: address) else { return }
      let driver = CurlDriver(
        configuration, connectionsAtOnce: connectionsAtOnce, mailbox: mailbox, ledger: ledger,
        multi: multi)
      driver.loop()
      driver.close()
    }
    guard let thread else {
      curl_multi_cleanup(multi)
      throw .threads
    }
    mailbox.open(address)
    return thread
  }

  private init(
    _ configuration: CurlTransport.Configuration, connectionsAtOnce: Int, mailbox: Mailbox,
    ledger: Ledger, multi: UnsafeMutableRawPointer
  ) {
    self.configuration = configuration
    self.mailbox = mailbox
    self.ledger = ledger
    self.multi = multi
    let limit = max(configuration.requestsPerHost, configuration.connectionsPerHost, 1)
    queue = AdmissionQueue(limit: limit)
    quire_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, limit)
    quire_multi_set_long(
      multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(1, configuration.connectionsPerHost))
    quire_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connectionsAtOnce)
    // By default libcurl keeps as many idle connections as there are handles at the moment.
    quire_multi_set_long(multi, CURLMOPT_MAXCONNECTS, connectionsAtOnce)
  }

  private func loop() {
    while true {
      clock.tick()
      for command in mailbox.drain() { perform(command) }
      if isStopping { return }
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      let admitted = reap()
      let isHolding = deliver()
      expire()
      if !admitted { sleep(isHolding ? 1 : patience()) }
    }
  }

  private func sleep(_ milliseconds: Int) {
    guard transfers.isEmpty else { return mailbox.poll(multi, for: milliseconds) }
    if idleSpin.isWorthwhile() { idleSpin.ended(withMail: spin()) }
    mailbox.wait()
  }

  private func spin() -> Bool {
    let end = ContinuousClock.now + IdleSpin.length
    while ContinuousClock.now < end {
      if mailbox.hasMail { return true }
    }
    return false
  }

  // MARK: Commands

  private func perform(_ command: Mailbox.Command) {
    switch command {
    case .start(let exchange):
      let id = ObjectIdentifier(exchange)
      if queue.arrived(exchange, id: id, origin: exchange.request.origin), !start(exchange) {
        admitNext(after: exchange)
      }
    case .cancel(let exchange):
      let id = ObjectIdentifier(exchange)
      if let transfer = transfers[id] {
        end(transfer, with: .failure(CancellationError()))
      } else if queue.withdraw(id) {
        exchange.fail(CancellationError())
      }
    case .resume(let exchange):
      if let transfer = transfers[ObjectIdentifier(exchange)] { resume(transfer) }
    case .run(let job, let executor):
      job.runSynchronously(on: executor)
      // The job may have taken a while.
      clock.tick()
    case .shutDown(let done):
      waitingForEnd.append(done)
      isStopping = true
    case .stop:
      isStopping = true
    }
  }

  /// Starts a request. Returns false if it has failed for lack of memory: another may start in its
  /// place.
  private func start(_ exchange: WireExchange) -> Bool {
    let kept = spare.popLast()
    guard let handle = kept ?? EasyHandle(configuration: configuration, ledger: ledger) else {
      exchange.fail(shortage(for: exchange))
      return false
    }
    let transfer = Transfer(exchange, handle: handle, clock: clock, driver: self)
    handle.prepare(for: transfer)
    transfers[ObjectIdentifier(exchange)] = transfer
    started += 1
    ledger.transferStarted()
    guard add(transfer) else {
      finish(transfer, with: .failure(shortage(for: exchange)))
      return false
    }
    return true
  }

  /// Has libcurl perform a transfer. Returns false if libcurl has no memory for it.
  private func add(_ transfer: Transfer) -> Bool {
    curl_multi_add_handle(multi, transfer.handle.raw) == CURLM_OK
  }

  private func shortage(for exchange: WireExchange) -> PageError {
    PageError.shortage(.memory, for: exchange.request.host)
  }

  // MARK: What transfers tell

  /// Notes that something happened in a transfer.
  func touched(_ transfer: Transfer) { touched.append(transfer) }

  /// Notes that the end of a connection gave a request back.
  func sentBack(_ exchange: WireExchange) { queue.sentBack(origin: exchange.request.origin) }

  /// Notes that a request was answered over HTTP/2.
  func answered(_ exchange: WireExchange) { queue.answered(origin: exchange.request.origin) }

  /// Returns the number of requests to this one's origin that were answered over HTTP/2.
  func answers(to exchange: WireExchange) -> Int { queue.answers(origin: exchange.request.origin) }

  // MARK: A round

  /// Ends the transfers that libcurl is done with; returns whether others started in their place.
  private func reap() -> Bool {
    let startedBefore = started
    var remaining: Int32 = 0
    while let message = curl_multi_info_read(multi, &remaining) {
      guard message.pointee.msg == CURLMSG_DONE, let raw = message.pointee.easy_handle else {
        continue
      }
      let code = quire_message_result(message)
      guard let transfer = transfer(of: raw) else { continue }
      let detail = code == CURLE_OK ? "" : transfer.handle.detail
      let answers = answers(to: transfer.exchange)
      switch transfer.machine.ended(CurlResult(code, detail: detail), answers: answers) {
      case .complete: end(transfer, with: .success(()))
      case .failed(let error): end(transfer, with: .failure(error))
      case .again(let isFresh):
        if !isFresh { sentBack(transfer.exchange) }
        curl_multi_remove_handle(multi, raw)
        transfer.handle.set(CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
        if !add(transfer) { end(transfer, with: .failure(shortage(for: transfer.exchange))) }
      }
    }
    return started != startedBefore
  }

  private func transfer(of raw: UnsafeMutableRawPointer) -> Transfer? {
    var context: UnsafeMutableRawPointer?
    quire_easy_get_pointer(raw, CURLINFO_PRIVATE, &context)
    return context.flatMap { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue().transfer }
  }

  /// Wakes the reader of each touched transfer once; returns whether some transfers wait a moment
  /// for more.
  private func deliver() -> Bool {
    let news = touched
    touched.removeAll(keepingCapacity: true)
    var isHolding = false
    for transfer in news where transfers[ObjectIdentifier(transfer.exchange)] === transfer {
      note(transfer.machine.deadline)
      if !transfer.deliver() {
        transfer.touch()
        isHolding = true
      } else if transfer.isPausedWithoutUnreadBytes {
        resume(transfer)
      }
    }
    return isHolding
  }

  private func resume(_ transfer: Transfer) {
    let code = transfer.resume()
    // The transfer refused the bytes that libcurl had kept.
    guard code != CURLE_OK, case .failed(let error) = transfer.machine.ended(CurlResult(code))
    else { return }
    end(transfer, with: .failure(error))
  }

  /// Ends a transfer, and starts requests that waited for it.
  private func end(_ transfer: Transfer, with outcome: Result<Void, any Error>) {
    finish(transfer, with: outcome)
    admitNext(after: transfer.exchange)
  }

  private func finish(_ transfer: Transfer, with outcome: Result<Void, any Error>) {
    transfers[ObjectIdentifier(transfer.exchange)] = nil
    ledger.transferEnded()
    // The reader of a complete response need not wait for the cleanup.
    if case .success = outcome { transfer.deliver(end: outcome) }
    // Closes the connection of an unfinished HTTP/1 transfer and resets an HTTP/2 stream.
    curl_multi_remove_handle(multi, transfer.handle.raw)
    transfer.handle.release()
    // A reader that learns of a failure finds that the transfer is gone.
    if case .failure = outcome { transfer.deliver(end: outcome) }
    if spare.count < Self.maximumSpare { spare.append(transfer.handle) }
  }

  /// Starts the requests that may start because a request is over. A loop, because thousands of them
  /// may fail at once.
  private func admitNext(after exchange: WireExchange) {
    let origin = exchange.request.origin
    var next = queue.ended(origin: origin)
    while let exchange = next {
      next = start(exchange) ? queue.next(origin: origin) : queue.ended(origin: origin)
    }
  }

  // MARK: Time

  private func note(_ deadline: ContinuousClock.Instant?) {
    if let deadline { nextDeadline = nextDeadline.map { min($0, deadline) } ?? deadline }
  }

  /// Checks the deadlines of all transfers, but only once the earliest known one has passed.
  private func expire() {
    let now = clock.now
    guard let due = nextDeadline, now >= due else { return }
    nextDeadline = nil
    for transfer in Array(transfers.values) {
      if let error = transfer.machine.expired(at: now) {
        end(transfer, with: .failure(error))
      } else {
        note(transfer.machine.deadline)
      }
    }
  }

  private func patience() -> Int {
    guard let nextDeadline else { return Self.longSleep }
    return min(Self.longSleep, max(0, (nextDeadline - clock.now).milliseconds))
  }

  // MARK: The end

  private func close() {
    for exchange in queue.withdrawAll() { exchange.fail(PageError.clientClosed) }
    for transfer in Array(transfers.values) {
      end(transfer, with: .failure(PageError.clientClosed))
    }
    var unread = mailbox.close()
    while let command = unread.popLast() {
      switch command {
      case .start(let exchange):
        exchange.fail(PageError.clientClosed)
      case .shutDown(let done): waitingForEnd.append(done)
      case .run(let job, _): globalConcurrentExecutor.enqueue(ExecutorJob(job))
      case .cancel, .resume, .stop: break
      }
    }
    spare = []
    curl_multi_cleanup(multi)
    for done in waitingForEnd { done.resume(returning: ()) }
  }
}

/// Decides whether an idle driver looks for another request for a moment before it sleeps.
///
/// A reader that asks for its next page at once then finds the driver awake, which saves waking a
/// thread: about a quarter of a small page's time. Slower readers, and those on the same core, cost
/// next to nothing, because each failure doubles the idle moments until the next look.
struct IdleSpin {
  /// How long to look.
  static let length = Duration.microseconds(50)
  /// The most idle moments from one look to the next.
  static let maximumInterval = 256

  private var interval = 1
  private var skipped = 0

  /// Whether to look now.
  mutating func isWorthwhile() -> Bool {
    skipped += 1
    guard skipped >= interval else { return false }
    skipped = 0
    return true
  }

  /// Notes whether looking found a request.
  mutating func ended(withMail found: Bool) {
    interval = found ? 1 : min(interval * 2, Self.maximumInterval)
  }
}

/// The time of the driver's present round: read once, and used by every callback in it.
final class RoundClock {
  // Unchecked: it is set between the rounds alone, and every line of every head reads it.
  @exclusivity(unchecked) private(set) var now = ContinuousClock.now

  /// Begins a new round.
  func tick() { now = .now }
}
