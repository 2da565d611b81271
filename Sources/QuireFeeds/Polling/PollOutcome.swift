import HTTPTypes
public import QuireCore
import QuireHTTP
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What came of asking for a feed, as far as it decides when to ask again.
public struct PollOutcome: Hashable, Sendable {
  /// What came.
  public enum Result: String, Hashable, Sendable {
    /// Entries that were not known.
    case changed
    /// A 304, or nothing new.
    case unchanged
    /// Any failure, 429 and 503 among them.
    case failed
    /// 410: the feed is gone for good.
    case gone
  }

  /// What came.
  public var result: Result
  /// How long the answer is fresh: `Cache-Control: max-age`, else `Expires`. Nil where nothing says it.
  public var maxAge: Duration?
  /// How long the server asks to wait: `Retry-After`.
  public var retryAfter: Duration?
  /// Where permanent redirects led before the first that is not one; nil where there were none.
  public var permanentRedirect: String?
  /// What the feed itself asks for.
  public var schedule: FeedSchedule
  /// When the newest entry was published, in seconds since 1970; nil where unknown.
  public var newestEntry: Double?
  /// The mean time between the entries of the page, in seconds; nil where fewer than two have dates.
  public var meanGap: Double?
  /// Whether the address must not be asked.
  var isRefused = false

  /// An outcome of which only the result is known, unless given.
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
  /// The outcome of a page that was read at `now`, in seconds since 1970. `isNew` says whether entries of it
  /// were not known.
  ///
  /// `schedule` is what the feed asked for the last time, for a page that is unchanged does not repeat it.
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

  /// The outcome of a read that threw, at `now`.
  public init(of error: any Error, at now: Double) {
    let (error, response) = (error as? PageError, (error as? PageError)?.response)
    // Where a temporary redirect led, something else is gone, such as a copy of the feed.
    let isOwn = error?.redirectedTo == nil || response?.url == response?.permanentRedirect
    self.init(
      response?.status.code == 410 && isOwn ? .gone : .failed,
      retryAfter: response.flatMap { ThrottleSignal.wait(in: $0.headerFields, now: now) })
    isRefused = error?.code == .refusedAddress
  }

  /// How long an answer is fresh (RFC 9111, §4.2.1).
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
