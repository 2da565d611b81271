public import QuireCore
import QuirePagination
import Synchronization

/// An observer of the pages that the walks of a client read, for metrics, traces and progress.
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
/// `Telemetry`, of the product QuireTelemetry, makes metrics and spans of these calls. Secrets are
/// redacted in all texts. The methods are called on the tasks that read pages, including those that
/// read ahead, so they should be quick.
public protocol ClientObserver: Sendable {
  /// Called when a walk asks for its first page. The result is kept as the walk's `note`. Default:
  /// returns nil.
  func began(_ walk: ObservedWalk) -> (any Sendable)?

  /// Called for each page that is read. Must call `read` once, and return its result or throw its
  /// error. If items are delivered as they arrive, each part of a page is a read. After `read`, the
  /// page's `summary` is complete.
  ///
  /// Default: calls `read`.
  func reading<Result: Sendable>(
    _ page: ObservedPage, _ read: () async throws -> Result
  ) async throws -> Result

  /// Called for each event. `page` is nil for requests that are not for a page, such as those for a
  /// token. Default: does nothing.
  func happened(_ event: PageEvent, in page: ObservedPage?)
}

extension ClientObserver {
  /// Returns nil.
  public func began(_ walk: ObservedWalk) -> (any Sendable)? { nil }

  /// Calls `read`.
  public func reading<Result: Sendable>(
    _ page: ObservedPage, _ read: () async throws -> Result
  ) async throws -> Result { try await read() }

  /// Does nothing.
  public func happened(_ event: PageEvent, in page: ObservedPage?) {}
}

/// A walk as an observer sees it.
public final class ObservedWalk: Sendable {
  /// The number of the walk, unique in the process.
  public let number: Int
  /// The URL of the listing's first page, with secrets redacted.
  public let address: String
  /// The listing's host, with its port if that is not the default.
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

  /// The result of `ClientObserver.began(_:)`.
  public var note: (any Sendable)? { state.withLock(\.note) }

  func keep(_ note: (any Sendable)?) { state.withLock { $0.note = note } }

  /// Counts a page. Returns its number, and the time since the last page.
  fileprivate func begin(at now: Duration) -> (Int, Duration?) {
    state.withLock {
      $0.pages += 1
      return ($0.pages, $0.lastEnd.map { now - $0 })
    }
  }

  fileprivate func end(at now: Duration) { state.withLock { $0.lastEnd = now } }
}

/// The read of one page, or of one part of it, as an observer sees it.
public final class ObservedPage: Sendable {
  /// How soon a page is needed.
  public enum Urgency: String, Hashable, Sendable, CaseIterable {
    /// A consumer waits for the page.
    case waited
    /// The page is read ahead.
    case ahead
    /// The page is read on a guess, by `Cursor.parallel(_:)`.
    case guess
  }

  /// The cost and the outcome of reading a page.
  public struct Summary: Sendable {
    /// The time of the read, by the client's clock.
    public fileprivate(set) var time: Duration = .zero
    /// The number of items received, and the cost of fetching them, including failed attempts.
    public fileprivate(set) var traffic = WalkReport.Traffic.zero
    /// Whether there was no page because the listing has ended.
    public fileprivate(set) var isEnd = false
    /// The error of the read; nil if it succeeded.
    public fileprivate(set) var error: (any Error)?
  }

  /// The walk that reads it.
  public let walk: ObservedWalk
  /// The number of the page in its walk, from 1; parts count as pages.
  public let number: Int
  /// The urgency at the start of the read. `.waited` if it is not read ahead, even if no consumer
  /// waits.
  public let urgency: Urgency
  /// The time since the walk's last page, in which it waited for its consumer; nil for the first
  /// page.
  public let rest: Duration?

  private let state = Mutex(Summary())

  /// The page that the current task reads; nil without an observer.
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

  /// The cost and the outcome so far; complete after the read.
  public var summary: Summary { state.withLock { $0 } }

  fileprivate func end(_ change: (inout Summary) -> Void) { state.withLock { change(&$0) } }
}

/// The connection between the walk of one reader and its client's observer.
final class WalkObservation: Sendable {
  private let observer: any ClientObserver
  private let stopwatch: Stopwatch
  private let walk = Mutex<ObservedWalk?>(nil)

  init(_ observer: any ClientObserver, _ clock: any Clock<Duration>) {
    self.observer = observer
    stopwatch = Stopwatch(clock)
  }

  /// Reads a page through the observer.
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
            $0.traffic = result?.traffic ?? .zero
            $0.isEnd = result?.head.isAbsent ?? true
          }
          return result
        } catch {
          page.end {
            $0.time = self.stopwatch.elapsed() - begin
            $0.traffic = (error as? PageError)?.traffic ?? .zero
            $0.error = error
          }
          throw error
        }
      }
    }
  }

  private func walk(of listing: Listing) -> ObservedWalk {
    // Several tasks use one reader if pages are read on a guess. They share one walk, and all need
    // what `began` returns, so they wait for it at the lock. It cannot come back to the lock, because
    // a page is read only by an async call.
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
