/// The thresholds at which an export commits: when the first of the three is reached, at the end of
/// the listing, and when the export stops.
///
/// A killed export repeats the requests since the last commit, but loses no item. A commit takes
/// one or two confirmed disk writes, 1 to 30 ms: below 1 % of the time at one commit every 5
/// seconds, however small the pages. It also takes half a millisecond of processor time; 16 MiB of
/// pages take 50 ms and more.
public struct CommitPolicy: Hashable, Sendable {
  /// Bytes of items. Default 16 MiB. This bounds the memory of a transaction, the bytes dropped
  /// from a file after a kill, and the time a signal has to wait (1.6 s on a disk that writes 10
  /// MB/s).
  public var bytes: Int
  /// Items. Default 50,000, which keeps a database transaction below a second.
  public var items: Int
  /// The time since the first uncommitted page, including waits for the server. Default 5 s.
  public var time: Duration

  /// Creates a policy; omitted thresholds have their defaults.
  public init(bytes: Int = 16 << 20, items: Int = 50_000, time: Duration = .seconds(5)) {
    self.bytes = bytes
    self.items = items
    self.time = time
  }

  /// A policy that commits after every page.
  public static let eachPage = CommitPolicy(bytes: 0, items: 0, time: .zero)
}

/// Decides when to commit.
struct CommitMachine {
  private let policy: CommitPolicy
  private var bytes = 0
  private var items = 0
  /// The time of the first uncommitted page; nil if all pages are committed.
  private var since: Duration?

  init(_ policy: CommitPolicy) { self.policy = policy }

  /// Whether there are uncommitted pages.
  var hasUncommittedPages: Bool { since != nil }

  /// Counts a page that was written.
  mutating func wrote(bytes: Int, items: Int, at now: Duration) {
    self.bytes += bytes
    self.items += items
    since = since ?? now
  }

  /// The time of the next commit, on the same stopwatch as `wrote`'s `now`; zero means at once, nil
  /// that all pages are committed.
  var due: Duration? {
    guard let since else { return nil }
    return bytes >= policy.bytes || items >= policy.items ? .zero : since + policy.time
  }

  /// Resets the counts after a commit.
  mutating func committed() { (bytes, items, since) = (0, 0, nil) }
}
