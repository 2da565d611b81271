import QuirePagination
import HTTPTypes
import QuireCore
import Synchronization

/// The credential that the walks of a client share, and its renewal, which is the same for all of
/// them.
final class CredentialKeeper: Sendable {
  typealias Ticket = CredentialMachine.Ticket

  let source: any CredentialSource
  /// The parsed origin of the source; nil if it is malformed.
  let origin: Origin?
  private let state = Mutex(State())

  private struct State {
    var machine = CredentialMachine()
    /// The waiters for the renewal.
    var waiters: [Suspension<Ticket>] = []
    /// The number of renewals that were begun.
    var renewals = 0
  }

  /// The maximum time to wait for a renewal: long enough for a person who has to let the program
  /// in.
  static let patience = Duration.seconds(15 * 60)

  /// The keeper whose source the current task asks. Requests of the source do not get the
  /// credential, for which they would wait forever.
  @TaskLocal private static var renewingKeeper: ObjectIdentifier?

  init(_ source: any CredentialSource) {
    self.source = source
    origin = try? Origin(url: source.origin)
  }

  /// Whether requests of the current task get the credential.
  var serves: Bool { Self.renewingKeeper != ObjectIdentifier(self) }

  /// The fields of the last credentials, which are redacted.
  var fields: HTTPFields {
    state.withLock { $0.machine.recent }.reduce(into: HTTPFields()) { fields, credential in
      for field in credential.fields { fields.append(field) }
    }
  }

  /// The secrets of the last credentials; of those with one id, the newest first.
  var secrets: [Secret] {
    state.withLock { $0.machine.recent }.flatMap { Secret.all(of: $0) }
  }

  /// Returns the credential for a request that is about to be sent. `clock` limits the wait for a
  /// renewal.
  func ticket(
    _ now: @escaping @Sendable () -> Double, _ clock: any Clock<Duration>
  ) async throws -> Ticket {
    guard let ticket = try await settle(now, clock, { $0.nextStep(at: now()) }) else {
      preconditionFailure("CredentialKeeper: a request gave up before it was sent")
    }
    return ticket
  }

  /// Returns the credential with which to send a request again after a 401; nil if it should not be
  /// sent again.
  func ticket(
    after refused: Ticket, _ now: @escaping @Sendable () -> Double, _ clock: any Clock<Duration>
  ) async throws -> Ticket? {
    try await settle(now, clock) { $0.refused(refused, at: now()) }
  }

  func accepted(_ ticket: Ticket) { state.withLock { $0.machine.accepted(ticket) } }

  func refusedAgain(_ ticket: Ticket) { state.withLock { $0.machine.refusedAgain(ticket) } }

  // MARK: Waiting

  private func settle(
    _ now: @escaping @Sendable () -> Double, _ clock: any Clock<Duration>,
    _ decide: @Sendable (inout CredentialMachine) -> CredentialMachine.Action
  ) async throws -> Ticket? {
    try Task.checkCancellation()
    let waiter = Suspension<Ticket>()
    let action = state.withLock { state in
      let action = decide(&state.machine)
      switch action {
      case .wait, .renew: state.waiters.append(waiter)
      case .use, .fail, .giveUp: break
      }
      return action
    }
    switch action {
    case .use(let ticket): return ticket
    case .fail(let error): throw error
    case .giveUp: return nil
    // Detached, because a renewal for all walks must not inherit the limits and the urgency of the
    // first one.
    case .renew(let replaced): Task.detached { await self.renew(replacing: replaced, now, clock) }
    case .wait: break
    }
    return try await wait(as: waiter)
  }

  private func wait(as waiter: Suspension<Ticket>) async throws -> Ticket {
    do {
      return try await waiter.value()
    } catch {
      // A cancelled waiter leaves at once, because the renewal may take long.
      state.withLock { $0.waiters.removeAll { $0 === waiter } }
      throw error
    }
  }

  /// The number of waiters for the renewal.
  var waiting: Int { state.withLock { $0.waiters.count } }

  /// Returns once no renewal is in progress, or once its waiters give it up.
  func settled() async {
    let waiter = Suspension<Ticket>()
    let isRenewing = state.withLock { state in
      if state.machine.isRenewing { state.waiters.append(waiter) }
      return state.machine.isRenewing
    }
    if isRenewing { _ = try? await wait(as: waiter) }
  }

  /// Asks the source and resumes the waiters. Completes even without waiters: the server may have
  /// invalidated the refresh token, and only the answer has the next one.
  private func renew(
    replacing replaced: Credential?, _ now: @Sendable () -> Double, _ clock: any Clock<Duration>
  ) async {
    let number = state.withLock { state in
      state.renewals += 1
      return state.renewals
    }
    let alarm = Task {
      do { try await clock.sleep(for: Self.patience) } catch { return }
      self.overdue(number)
    }
    let outcome: Result<Credential, any Error>
    do {
      outcome = .success(
        try await Self.$renewingKeeper.withValue(ObjectIdentifier(self)) {
          try await source.credential(replacing: replaced)
        })
    } catch {
      outcome = .failure(error)
    }
    alarm.cancel()
    let (waiters, result) = state.withLock {
      state -> ([Suspension<Ticket>], Result<Ticket, any Error>) in
      defer { state.waiters = [] }
      switch outcome {
      case .success(let credential):
        return (state.waiters, .success(state.machine.renewed(credential, at: now())))
      case .failure(let error):
        let failure = self.failure(error)
        let ticket = state.machine.failed(failure, at: now())
        return (state.waiters, ticket.map(Result.success) ?? .failure(failure))
      }
    }
    for waiter in waiters { waiter.resume(with: result) }
  }

  /// Fails the waiters of a renewal that takes too long. The renewal continues.
  private func overdue(_ number: Int) {
    let error = failure(
      PageError(
        .timedOut,
        "Its source has not answered for \(Self.patience.words). It is not asked again before it does."
      ))
    let waiters = state.withLock { state -> [Suspension<Ticket>] in
      guard state.machine.isRenewing, state.renewals == number else { return [] }
      state.machine.overdue(error)
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(throwing: error) }
  }

  private func failure(_ error: any Error) -> PageError {
    let message =
      (error as? PageError)?.message ?? "The source of credentials threw; see underlying."
    return PageError(
      .credentialsFailed,
      "No credential could be had for \(source.origin), and nothing was sent without one. \(message)",
      underlying: error)
  }
}

extension PageClient {
  /// Returns once no credential is being renewed. A process that ends before might lose the new
  /// credential.
  package func settleCredentials() async { await configuration.keeper?.settled() }
}
