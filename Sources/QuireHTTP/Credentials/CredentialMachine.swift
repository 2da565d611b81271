import QuirePagination
import QuireCore

/// Decides which credential a request carries, and when that one is renewed: once for all.
///
/// Pure: the caller tells the time, in seconds since 1970, and asks the source.
struct CredentialMachine {
  /// A credential in use. A request that is refused names the one it was sent with.
  struct Ticket {
    var credential: Credential
    /// Which one it is, counted from 1.
    var number: Int
    /// Renewals that had failed when it was given out.
    var failures: Int
  }

  /// What a request does next.
  enum Action {
    case use(Ticket)
    /// Wait for the renewal.
    case wait
    /// Begin the renewal, then wait for it.
    case renew(replacing: Credential?)
    case fail(PageError)
    /// Take the refusal for an answer: what was refused had just been renewed.
    case giveUp
  }

  private var current: Ticket?
  /// When the current one is renewed, and when it ends.
  private var (renewal, end) = (Double.infinity, Double.infinity)
  private var isRefused = false
  /// Whether the current one took the place of another, and whether the server has accepted it.
  private var (isRenewed, isAccepted) = (false, false)
  /// Whether a renewal is under way: there is never more than one.
  private(set) var isRenewing = false
  /// Why the renewal under way is not waited for any longer; nil where it is.
  private var lateness: PageError?
  private var failures = 0
  private var lastFailure: PageError?
  /// What must not be shown: the last credentials, the newest first.
  private(set) var recent: [Credential] = []

  /// A request is about to go out.
  mutating func wanted(at now: Double) -> Action {
    if isRenewing { return lateness.map(Action.fail) ?? .wait }
    if var ticket = current, !isRefused, now < renewal {
      ticket.failures = failures
      return .use(ticket)
    }
    return start()
  }

  /// The server answered 401 to a request that was sent with `ticket`.
  mutating func refused(_ ticket: Ticket, at now: Double) -> Action {
    guard ticket.number == current?.number else { return wanted(at: now) }
    // Also while it is renewed early: it must not be sent again where that fails.
    isRefused = true
    if isRenewing { return lateness.map(Action.fail) ?? .wait }
    // The renewal that this refusal asks for has been tried since.
    if ticket.failures < failures, let lastFailure { return .fail(lastFailure) }
    return isRenewed && !isAccepted ? .giveUp : start()
  }

  /// The server refused the request again, with a credential that another had just been replaced by.
  mutating func refusedAgain(_ ticket: Ticket) {
    if ticket.number == current?.number, !isAccepted { isRefused = true }
  }

  /// The server answered a request that was sent with `ticket` by anything but 401.
  mutating func accepted(_ ticket: Ticket) {
    if ticket.number == current?.number { isAccepted = true }
  }

  /// The renewal under way has taken too long: until it ends, whatever needs its credential fails.
  mutating func overdue(_ error: PageError) { lateness = error }

  private mutating func start() -> Action {
    isRenewing = true
    return .renew(replacing: current?.credential)
  }

  /// The renewal gave a credential; returns what its waiters go on with.
  mutating func renewed(_ credential: Credential, at now: Double) -> Ticket {
    (isRenewing, lateness) = (false, nil)
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

  /// The renewal failed; returns the credential in use if that is good for a while yet.
  mutating func failed(_ error: PageError, at now: Double) -> Ticket? {
    (isRenewing, lateness) = (false, nil)
    failures += 1
    lastFailure = error
    guard var ticket = current, !isRefused, now < end else { return nil }
    // Not by each request until then: the source may be away.
    renewal = now + (end - now) / 2
    ticket.failures = failures
    return ticket
  }
}
