/// When an export commits what its sink has taken: as soon as one of the three is reached, at the end,
/// and whenever it stops.
///
/// A kill costs the requests since the last commit, never an item. A commit costs a disk one or two
/// confirmed writes, 1 to 30 ms: every 5 seconds that is below 1 %, however small the pages. It costs a
/// processor half a millisecond, and 16 MiB of pages take it 50 ms and more, however fast they come.
public struct CommitPolicy: Hashable, Sendable {
  /// Bytes of items. Default 16 MiB: what a transaction holds in memory, a cut file has to drop, and a signal waits
  /// for, 1.6 s on a disk that takes 10 MB/s.
  public var bytes: Int
  /// Items. Default 50,000: a database's transaction stays below a second.
  public var items: Int
  /// Time since the first page that is not committed, waits for the server included. Default 5 s.
  public var time: Duration

  /// The defaults, unless given.
  public init(bytes: Int = 16 << 20, items: Int = 50_000, time: Duration = .seconds(5)) {
    self.bytes = bytes
    self.items = items
    self.time = time
  }

  /// After every page.
  public static let eachPage = CommitPolicy(bytes: 0, items: 0, time: .zero)
}

/// Decides when to commit.
struct CommitMachine {
  private let policy: CommitPolicy
  private var bytes = 0
  private var items = 0
  /// When the first page came that is not committed; nil where all are.
  private var since: Duration?

  init(_ policy: CommitPolicy) { self.policy = policy }

  /// Whether there are pages that are not committed.
  var isOpen: Bool { since != nil }

  /// A page was written.
  mutating func wrote(bytes: Int, items: Int, at now: Duration) {
    self.bytes += bytes
    self.items += items
    since = since ?? now
  }

  /// When a commit is due, on the stopwatch of `wrote`: zero is at once. Nil where none will be.
  var due: Duration? {
    guard let since else { return nil }
    return bytes >= policy.bytes || items >= policy.items ? .zero : since + policy.time
  }

  /// All pages were committed.
  mutating func committed() { (bytes, items, since) = (0, 0, nil) }
}
