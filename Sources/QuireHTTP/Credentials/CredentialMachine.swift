import QuireCore

/// Decides which credential a request carries, and when the credential is renewed, once for all
/// requests.
///
/// Pure: the caller passes the time in seconds since 1970, and asks the source.
struct CredentialMachine {
  /// A credential in use. A refused request passes the ticket with which it was sent.
  struct Ticket {
    var credential: Credential
    /// The number of the credential, from 1.
    var number: Int
    /// The number of failed renewals when the ticket was issued.
    var failures: Int
  }

  /// The next step of a request.
  enum Action {
    case use(Ticket)
    /// Wait for the renewal in progress.
    case wait
    /// Begin a renewal, and wait for it.
    case renew(replacing: Credential?)
    case fail(PageError)
    /// Treat the refusal as the answer: the refused credential had just been renewed.
    case giveUp
  }

  private var current: Ticket?
  /// The times at which the current credential is renewed, and at which it ends.
  private var (renewal, end) = (Double.infinity, Double.infinity)
  private var isRefused = false
  /// Whether the current credential replaced another one, and whether the server has accepted it.
  private var (isRenewed, isAccepted) = (false, false)
  /// Whether a renewal is in progress. There is at most one.
  private(set) var isRenewing = false
  /// The error with which requests fail because the renewal in progress is overdue; nil if they
  /// wait for it.
  private var overdueError: PageError?
  private var failures = 0
  private var lastFailure: PageError?
  /// The last eight credentials, the newest first, which must be redacted.
  private(set) var recent: [Credential] = []

  /// Returns the next step of a request that is about to be sent.
  mutating func nextStep(at now: Double) -> Action {
    if isRenewing { return overdueError.map(Action.fail) ?? .wait }
    if var ticket = current, !isRefused, now < renewal {
      ticket.failures = failures
      return .use(ticket)
    }
    return start()
  }

  /// Returns the next step of a request that was answered 401.
  mutating func refused(_ ticket: Ticket, at now: Double) -> Action {
    guard ticket.number == current?.number else { return nextStep(at: now) }
    // Set even if an early renewal is in progress: if that fails, the refused credential must not
    // be used again.
    isRefused = true
    if isRenewing { return overdueError.map(Action.fail) ?? .wait }
    // The renewal that this refusal asks for has been tried and has failed since.
    if ticket.failures < failures, let lastFailure { return .fail(lastFailure) }
    return isRenewed && !isAccepted ? .giveUp : start()
  }

  /// Notes that the server has refused a request again with the renewed credential.
  mutating func refusedAgain(_ ticket: Ticket) {
    if ticket.number == current?.number, !isAccepted { isRefused = true }
  }

  /// Notes that the server has not answered 401 to a request that was sent with `ticket`.
  mutating func accepted(_ ticket: Ticket) {
    if ticket.number == current?.number { isAccepted = true }
  }

  /// Notes that the renewal is overdue. Requests that need its credential fail until it ends.
  mutating func overdue(_ error: PageError) { overdueError = error }

  private mutating func start() -> Action {
    isRenewing = true
    return .renew(replacing: current?.credential)
  }

  /// Notes the new credential of a renewal. Returns the ticket for its waiters.
  mutating func renewed(_ credential: Credential, at now: Double) -> Ticket {
    (isRenewing, overdueError) = (false, nil)
    isRenewed = current != nil
    (isRefused, isAccepted) = (false, false)
    let lifetime = credential.lifetime.map { $0 / .seconds(1) } ?? .infinity
    end = now + lifetime
    renewal = end - min(60, lifetime / 10)
    if !lifetime.isFinite { renewal = .infinity }
    let ticket = Ticket(
      credential: credential, number: (current?.number ?? 0) + 1, failures: failures)
    current = ticket
    recent = Array(([credential] + recent).prefix(8))
    return ticket
  }

  /// Notes that the renewal failed. Returns a ticket for the credential in use if that is still
  /// valid.
  mutating func failed(_ error: PageError, at now: Double) -> Ticket? {
    (isRenewing, overdueError) = (false, nil)
    failures += 1
    lastFailure = error
    guard var ticket = current, !isRefused, now < end else { return nil }
    // Not renewed again by each request until then, because the source may be unreachable.
    renewal = now + (end - now) / 2
    ticket.failures = failures
    return ticket
  }
}
