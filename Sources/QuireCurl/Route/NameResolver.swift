import QuireCore
package import QuireHTTP
import QuirePagination
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Finds the addresses of names, on a few threads. A system's resolver blocks the thread that asks,
/// and libcurl would start a thread for every name and wait for it when a transfer is cancelled.
package final class NameResolver: Sendable {
  /// A function that asks the system for the addresses of a name, and blocks until it answers.
  package typealias Lookup = @Sendable (_ name: String) -> ResolverMachine.Outcome

  private struct State {
    var machine: ResolverMachine
    var waiters: [String: [Suspension<[IPAddress]>]] = [:]
  }

  /// A function that begins a thread for some work; returns false if the system refuses one.
  typealias Begin = @Sendable (_ work: @escaping @Sendable () -> Void) -> Bool

  private let lookUp: Lookup
  private let begin: Begin
  private let state: Mutex<State>

  /// Creates a resolver. Answers are used for a minute by default: old addresses of a name that
  /// changes usually work for longer.
  package convenience init(
    fresh: Duration = .seconds(60), _ lookUp: @escaping Lookup = NameResolver.system
  ) {
    self.init(fresh: fresh, begin: NameResolver.thread, lookUp)
  }

  init(fresh: Duration = .seconds(60), begin: @escaping Begin, _ lookUp: @escaping Lookup) {
    self.lookUp = lookUp
    self.begin = begin
    state = Mutex(State(machine: ResolverMachine(fresh: fresh)))
  }

  /// The number of threads at work.
  var threadCount: Int { state.withLock { $0.machine.threads } }

  /// The number of requests that wait for an answer.
  package var waiting: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

  /// Returns the addresses of a name, as found in the last minute or now; if the look-up fails, as
  /// found in the last hour.
  ///
  /// Throws `connectFailed` for a name without addresses, and if no answer came in time.
  package func addresses(of name: String, within patience: Duration) async throws -> [IPAddress] {
    let waiter = Suspension<[IPAddress]>()
    let action = state.withLock { state in
      let action = state.machine.wanted(name, at: .now)
      switch action {
      case .use, .fail: break
      case .wait, .start: state.waiters[name, default: []].append(waiter)
      }
      return action
    }
    switch action {
    case .use(let addresses): return addresses
    case .fail: throw Self.unknown(name)
    case .start: start(name)
    case .wait: break
    }
    return try await wait(waiter, name, patience)
  }

  private func wait(
    _ waiter: Suspension<[IPAddress]>, _ name: String, _ patience: Duration
  ) async throws -> [IPAddress] {
    do {
      return try await waiter.value(within: patience, by: ContinuousClock()) {
        let known = self.state.withLock { $0.machine.stale(name, at: .now) }
        return known.map(Result.success) ?? .failure(Self.late(name, patience))
      }
    } catch {
      state.withLock { state in
        state.waiters[name]?.removeAll { $0 === waiter }
        if state.waiters[name]?.isEmpty == true {
          state.waiters[name] = nil
          state.machine.abandoned(name)
        }
      }
      throw error
    }
  }

  /// Has a thread look up a name. If none can be begun, one that is at work does it later; if there
  /// is none, the look-up has failed, and so have those behind it.
  private func start(_ first: String) {
    var next: String? = first
    while let name = next {
      if begin({ [self] in work(name) })
        || state.withLock({ $0.machine.threadRefused(for: name) })
      {
        return
      }
      next = found(name, .notAsked(.threads))
    }
  }

  /// Looks up one name after another, until none is queued.
  private func work(_ first: String) {
    var next: String? = first
    while let name = next { next = found(name, lookUp(name)) }
  }

  /// Passes the result of a look-up to its waiters. Returns the next name for the thread; nil if it
  /// may end.
  private func found(_ name: String, _ outcome: ResolverMachine.Outcome) -> String? {
    let (waiters, result, next) = state.withLock { state in
      let result = state.machine.found(name, outcome, at: .now)
      let next = state.machine.next()
      return (state.waiters.removeValue(forKey: name) ?? [], result, next)
    }
    for waiter in waiters {
      waiter.resume(with: result.map(Result.success) ?? .failure(Self.error(outcome, name)))
    }
    return next
  }

  private static func error(_ outcome: ResolverMachine.Outcome, _ name: String) -> PageError {
    guard case .notAsked(let shortage) = outcome else { return unknown(name) }
    return PageError(
      .connectFailed,
      "The name of \(ServerText(name, limit: 80)) could not be resolved: \(shortage.words)")
  }

  private static func unknown(_ name: String) -> PageError {
    PageError(
      .connectFailed,
      "The name of \(ServerText(name, limit: 80)) could not be resolved; check the host.")
  }

  private static func late(_ name: String, _ patience: Duration) -> PageError {
    PageError(
      .connectFailed,
      "The name of \(ServerText(name, limit: 80)) could not be resolved within \(patience.words); check the "
        + "resolver.", remedies: [.raise(.init("Timeouts.connect"))])
  }

  private static let thread: Begin = { work in
    guard let thread = DriverThread(name: "quire-resolver", body: work) else { return false }
    thread.detach()
    return true
  }

  /// The system's resolver.
  package static let system: Lookup = { name in
    guard DescriptorReserve.isFree else { return .notAsked(.descriptors) }
    var hints = addrinfo()
    hints.ai_protocol = Int32(IPPROTO_TCP)
    hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(name, nil, &hints, &list)
    defer { if let list { freeaddrinfo(list) } }
    guard status == 0 else {
      // Without descriptors for its files and sockets, a resolver may call any name unknown.
      guard DescriptorReserve.isFree else { return .notAsked(.descriptors) }
      return status == EAI_NONAME ? .none : .failed
    }
    var addresses: [IPAddress] = []
    var entry = list
    while let info = entry?.pointee {
      if let address = info.ai_addr.flatMap({ IPAddress(socket: $0, family: info.ai_family) }),
        !addresses.contains(address)
      {
        addresses.append(address)
      }
      entry = info.ai_next
    }
    return .addresses(addresses)
  }
}

extension IPAddress {
  /// Creates the address in a `sockaddr` of a family, which must be as long as that family's; nil
  /// if it is neither IPv4 nor IPv6.
  init?(socket: UnsafeRawPointer, family: Int32) {
    let bytes: [UInt8]
    switch family {
    case AF_INET:
      let bits = socket.loadUnaligned(as: sockaddr_in.self).sin_addr
      bytes = withUnsafeBytes(of: bits) { Array($0) }
    case AF_INET6:
      let bits = socket.loadUnaligned(as: sockaddr_in6.self).sin6_addr
      bytes = withUnsafeBytes(of: bits) { Array($0) }
    default: return nil
    }
    self.init(bytes: bytes)
  }
}

/// Decides which names are looked up, on how many threads, and how long an answer is used.
package struct ResolverMachine {
  /// The result of a look-up.
  package enum Outcome: Sendable {
    case addresses([IPAddress])
    /// There is no such name.
    case none
    /// The resolver did not answer.
    case failed
    /// The process lacked what is needed to ask the resolver.
    case notAsked(Shortage)
  }

  enum Action: Equatable {
    case use([IPAddress])
    case fail
    /// The name is being looked up, or will be.
    case wait
    /// Begin a thread that looks the name up.
    case start
  }

  private struct Known {
    var addresses: [IPAddress]
    var since: ContinuousClock.Instant
  }

  private var known: [String: Known] = [:]
  private var failed: [String: ContinuousClock.Instant] = [:]
  /// The names that are being looked up, each on a thread of its own.
  private var atWork: Set<String> = []
  private var queue = Queue<String>()
  private var queued: Set<String> = []

  /// The most threads.
  static let maximumThreads = 16
  /// How long an answer is used.
  private let fresh: Duration
  /// How long an answer is used if the name cannot be looked up again.
  static let staleLifetime = Duration.seconds(3600)
  /// How long a name is not looked up again after a failure.
  static let retryDelay = Duration.seconds(5)
  /// The most names that are remembered.
  static let capacity = 16_384

  init(fresh: Duration) { self.fresh = fresh }

  /// The number of threads at work.
  var threads: Int { atWork.count }

  /// Handles a request for the addresses of a name.
  mutating func wanted(_ name: String, at now: ContinuousClock.Instant) -> Action {
    if let entry = known[name], now - entry.since < fresh { return .use(entry.addresses) }
    if let failure = failed[name], now - failure < Self.retryDelay {
      return stale(name, at: now).map(Action.use) ?? .fail
    }
    if atWork.contains(name) || queued.contains(name) { return .wait }
    guard atWork.count < Self.maximumThreads else {
      queue.add(name)
      queued.insert(name)
      return .wait
    }
    atWork.insert(name)
    return .start
  }

  /// Returns the last addresses of a name, if they may still be used.
  func stale(_ name: String, at now: ContinuousClock.Instant) -> [IPAddress]? {
    known[name].flatMap { now - $0.since < Self.staleLifetime ? $0.addresses : nil }
  }

  /// Drops a name that no request waits for any more, unless its look-up has begun.
  mutating func abandoned(_ name: String) { queued.remove(name) }

  /// Handles the result of a look-up. Returns the addresses to use; nil if there are none.
  mutating func found(
    _ name: String, _ outcome: Outcome, at now: ContinuousClock.Instant
  ) -> [IPAddress]? {
    atWork.remove(name)
    if known.count + failed.count > Self.capacity { (known, failed) = ([:], [:]) }
    switch outcome {
    case .addresses(let addresses) where !addresses.isEmpty:
      known[name] = Known(addresses: addresses, since: now)
      failed[name] = nil
      return addresses
    case .addresses, .none:
      known[name] = nil
      failed[name] = now
      return nil
    case .failed:
      failed[name] = now
      return stale(name, at: now)
    case .notAsked:
      return stale(name, at: now)
    }
  }

  /// Handles that no thread could be begun for a name. Returns whether the name was queued for those
  /// that are at work; if there is none, it must be `found`.
  mutating func threadRefused(for name: String) -> Bool {
    guard atWork.count > 1 else { return false }
    atWork.remove(name)
    queue.add(name)
    queued.insert(name)
    return true
  }

  /// Returns the next name for a thread that has done its work; nil if the thread may end.
  mutating func next() -> String? {
    while let name = queue.take() {
      guard queued.remove(name) != nil else { continue }
      atWork.insert(name)
      return name
    }
    queue = Queue()
    return nil
  }
}
