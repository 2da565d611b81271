import HTTPTypes
public import QuireCore
import QuireHTTP
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The outcome of a poll, as far as it affects the next one.
public struct PollOutcome: Hashable, Sendable {
  /// The kind of outcome.
  public enum Result: String, Hashable, Sendable {
    /// There are new entries.
    case changed
    /// The server answered 304, or nothing is new.
    case unchanged
    /// The poll failed, including 429 and 503.
    case failed
    /// The server answered 410: the feed is gone for good.
    case gone
  }

  /// The kind of outcome.
  public var result: Result
  /// How long the answer is fresh: `Cache-Control: max-age`, else `Expires`. Nil if neither is
  /// given.
  public var maxAge: Duration?
  /// The server's `Retry-After`.
  public var retryAfter: Duration?
  /// The target of the leading permanent redirects, up to the first other one; nil if there were
  /// none.
  public var permanentRedirect: String?
  /// The schedule that the feed asks for.
  public var schedule: FeedSchedule
  /// When the newest entry was published, in seconds since 1970; nil if unknown.
  public var newestEntry: Double?
  /// The mean time between the entries of the page, in seconds; nil if fewer than two have dates.
  public var meanGap: Double?
  /// Whether requests to the address are refused.
  var isRefused = false

  /// Creates an outcome; by default only the result is known.
  public init(
    _ result: Result, maxAge: Duration? = nil, retryAfter: Duration? = nil,
    permanentRedirect: String? = nil, schedule: FeedSchedule = FeedSchedule(),
    newestEntry: Double? = nil, meanGap: Double? = nil
  ) {
    self.result = result
    self.maxAge = maxAge
    self.retryAfter = retryAfter
    self.permanentRedirect = permanentRedirect
    self.schedule = schedule
    self.newestEntry = newestEntry
    self.meanGap = meanGap
  }
}

extension PollOutcome {
  /// The outcome of a page read at `now`, in seconds since 1970. `isNew` says whether it has new
  /// entries.
  ///
  /// `schedule` is the feed's last known one, because an unchanged page does not repeat it.
  public init(
    of page: Page<FeedEntry>, isNew: Bool, schedule: FeedSchedule = FeedSchedule(), at now: Double
  ) {
    let fields = page.http?.head.headerFields ?? [:]
    let dates = page.items.compactMap { $0.date?.timeIntervalSince1970 }.filter { $0 <= now }
    let newest = dates.max()
    var gap: Double?
    if let newest, let oldest = dates.min(), dates.count > 1 {
      gap = (newest - oldest) / Double(dates.count - 1)
    }
    self.init(
      isNew && !page.isUnchanged ? .changed : .unchanged, maxAge: Self.freshness(fields, at: now),
      retryAfter: ThrottleSignal.wait(in: fields, now: now),
      permanentRedirect: page.http?.permanentRedirect,
      schedule: page.feed?.schedule ?? schedule, newestEntry: newest, meanGap: gap)
  }

  /// The outcome of an error at `now`.
  public init(of error: any Error, at now: Double) {
    let (error, response) = (error as? PageError, (error as? PageError)?.response)
    // After a temporary redirect only a copy of the feed is gone.
    let isOwn = error?.redirectedTo == nil || response?.url == response?.permanentRedirect
    self.init(
      response?.status.code == 410 && isOwn ? .gone : .failed,
      retryAfter: response.flatMap { ThrottleSignal.wait(in: $0.headerFields, now: now) })
    isRefused = error?.code == .refusedAddress
  }

  /// The freshness lifetime of an answer (RFC 9111, §4.2.1).
  static func freshness(_ fields: HTTPFields, at now: Double) -> Duration? {
    let directives = fields[.cacheControl]?.lowercased().split(separator: ",") ?? []
    for name in ["max-age=", "s-maxage="] {
      for directive in directives {
        let text = directive.filter { $0 != " " && $0 != "\"" }
        if text.hasPrefix(name), let seconds = Double(text.dropFirst(name.count)), seconds >= 0 {
          return .seconds(min(seconds, 31_536_000))
        }
      }
    }
    let expires = HTTPField.Name("Expires").flatMap { fields[$0] }
    guard let expires = expires.flatMap(HTTPDate.secondsSince1970) else { return nil }
    let date = fields[.date].flatMap(HTTPDate.secondsSince1970) ?? now
    return .seconds(min(max(0, expires - date), 31_536_000))
  }
}
