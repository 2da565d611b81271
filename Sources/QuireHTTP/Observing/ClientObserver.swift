public import QuireCore
import QuirePagination
import Synchronization

/// Watches the pages that the walks of a client read: for metrics, traces and progress of one's own.
///
/// ```swift
/// struct Slowest: ClientObserver {
///   func reading<Result>(_ page: ObservedPage, _ read: () async throws -> Result) async throws -> Result {
///     defer { if page.summary.time > .seconds(1) { print(page.walk.address, page.summary.time) } }
///     return try await read()
///   }
/// }
/// configuration.observer = Slowest()
/// ```
/// `Telemetry`, of the product QuireTelemetry, makes metrics and spans of all this. All texts are redacted.
/// The methods are called on the tasks that read pages, those that read ahead included, so they should be
/// quick.
public protocol ClientObserver: Sendable {
  /// A walk asks for its first page. What is returned is kept as the walk's `note`. Default: nil.
  func began(_ walk: ObservedWalk) -> (any Sendable)?

  /// A page is read: calls `read` once, and returns or throws what that does. Where items are delivered as
  /// they arrive, each part of a page is one read. Behind `read`, the page's `summary` is whole.
  ///
  /// Default: calls `read`.
  func reading<Result: Sendable>(
    _ page: ObservedPage, _ read: () async throws -> Result
  ) async throws -> Result

  /// Something happened between two pages; the page is nil for a request that is for none, such as that
  /// for a token. Default: nothing.
  func happened(_ event: PageEvent, in page: ObservedPage?)
}

extension ClientObserver {
  /// Nothing is noted.
  public func began(_ walk: ObservedWalk) -> (any Sendable)? { nil }

  /// Nothing but the reading.
  public func reading<Result: Sendable>(
    _ page: ObservedPage, _ read: () async throws -> Result
  ) async throws -> Result { try await read() }

  /// Nothing.
  public func happened(_ event: PageEvent, in page: ObservedPage?) {}
}

/// A walk, as an observer sees it.
public final class ObservedWalk: Sendable {
  /// Tells the walks of a process apart.
  public let number: Int
  /// The listing's first page, secrets redacted.
  public let address: String
  /// The listing's host, with its port where that is not the usual one.
  public let host: String

  private struct State {
    var note: (any Sendable)?
    var pages = 0
    var lastEnd: Duration?
  }

  private let state = Mutex(State())

  init(number: Int, address: String, host: String) {
    (self.number, self.address, self.host) = (number, address, host)
  }

  /// What `ClientObserver.began(_:)` has returned.
  public var note: (any Sendable)? { state.withLock(\.note) }

  func keep(_ note: (any Sendable)?) { state.withLock { $0.note = note } }

  /// Counts a page; returns its number and how long the walk had rested.
  fileprivate func begin(at now: Duration) -> (Int, Duration?) {
    state.withLock {
      $0.pages += 1
      return ($0.pages, $0.lastEnd.map { now - $0 })
    }
  }

  fileprivate func end(at now: Duration) { state.withLock { $0.lastEnd = now } }
}

/// The reading of one page, or of one part of it, as an observer sees it.
public final class ObservedPage: Sendable {
  /// How soon a page is needed.
  public enum Urgency: String, Hashable, Sendable, CaseIterable {
    /// A consumer waits for it.
    case waited
    /// It is read ahead.
    case ahead
    /// It is read on a guess, by `Cursor.parallel(_:)`.
    case guess
  }

  /// What reading the page took.
  public struct Summary: Sendable {
    /// How long it took by the client's clock.
    public fileprivate(set) var time: Duration = .zero
    /// Items that came, and what fetching them took, failed attempts included.
    public fileprivate(set) var traffic = WalkReport.Traffic(requests: 0)
    /// Whether there was no page, because the listing has ended.
    public fileprivate(set) var isEnd = false
    /// Why no page came; nil where one did.
    public fileprivate(set) var error: (any Error)?
  }

  /// The walk that reads it.
  public let walk: ObservedWalk
  /// How many pages the walk has read with this one, parts counted as pages.
  public let number: Int
  /// How soon it was needed when it was begun: where no consumer waits, the walk does.
  public let urgency: Urgency
  /// How long the walk had read nothing before, in which it waited for its consumer; nil for the first page.
  public let rest: Duration?

  private let state = Mutex(Summary())

  /// That of the current task; nil where no observer is.
  @TaskLocal static var current: ObservedPage?

  fileprivate init(_ walk: ObservedWalk, at now: Duration) {
    self.walk = walk
    (number, rest) = walk.begin(at: now)
    urgency =
      switch ReadUrgency.current?.level ?? .waited {
      case .waited: .waited
      case .ahead: .ahead
      case .guess: .guess
      }
  }

  /// What reading it took so far; whole once it was read.
  public var summary: Summary { state.withLock { $0 } }

  fileprivate func end(_ change: (inout Summary) -> Void) { state.withLock { change(&$0) } }
}

/// The walk of one reader, for the observer of its client.
final class WalkObservation: Sendable {
  private let observer: any ClientObserver
  private let stopwatch: Stopwatch
  private let walk = Mutex<ObservedWalk?>(nil)

  init(_ observer: any ClientObserver, _ clock: any Clock<Duration>) {
    self.observer = observer
    stopwatch = Stopwatch(clock)
  }

  /// Reads a page in the sight of the observer.
  func reading<Item: Sendable>(
    of listing: Listing, _ read: () async throws -> Page<Item>?
  ) async throws -> Page<Item>? {
    let begin = stopwatch.elapsed()
    let page = ObservedPage(walk(of: listing), at: begin)
    return try await observer.reading(page) {
      defer { page.walk.end(at: self.stopwatch.elapsed()) }
      return try await ObservedPage.$current.withValue(page) {
        do {
          let result = try await read()
          page.end {
            $0.time = self.stopwatch.elapsed() - begin
            $0.traffic = result?.traffic ?? WalkReport.Traffic(requests: 0)
            $0.isEnd = result?.head.isAbsent ?? true
          }
          return result
        } catch {
          page.end {
            $0.time = self.stopwatch.elapsed() - begin
            $0.traffic = (error as? PageError)?.traffic ?? WalkReport.Traffic(requests: 0)
            $0.error = error
          }
          throw error
        }
      }
    }
  }

  private func walk(of listing: Listing) -> ObservedWalk {
    // One reader is used by several tasks where pages are read on a guess, and they begin one walk.
    walk.withLock { walk in
      if let walk { return walk }
      let request = listing.engine.first
      let new = ObservedWalk(
        number: WalkReading.walkNumber ?? 0,
        address: listing.redactor(for: request).describe(request.url), host: listing.home.authority)
      new.keep(observer.began(new))
      walk = new
      return new
    }
  }
}
