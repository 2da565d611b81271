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
  /// The kinds of outcome.
  public enum Result: String, Hashable, Sendable {
    /// A page with new entries.
    case changed
    /// An answer of 304 (Not Modified), or a page without new entries.
    case unchanged
    /// A failed poll, including 429 and 503.
    case failed
    /// An answer of 410 (Gone): the feed does not exist any more.
    case gone
  }

  /// The kind of outcome.
  public var result: Result
  /// The time for which the answer stays fresh: `Cache-Control: max-age`, else `s-maxage`, else
  /// `Expires`, less its `Age` in caches. Nil if none of them is given.
  public var maxAge: Duration?
  /// The wait that the server asks for, by `Retry-After` or rate limit fields; nil if it asks for
  /// none.
  public var retryAfter: Duration?
  /// The address to which permanent redirects (301, 308) led before any other redirect; nil if the
  /// first redirect was not permanent, or if there was none.
  public var permanentRedirect: String?
  /// The schedule that the feed asks for.
  public var schedule: FeedSchedule
  /// The publication time of the newest entry, in seconds since 1970; nil if unknown.
  public var newestEntry: Double?
  /// The mean time between the entries of the page's newer half, in seconds, because one old entry
  /// that is pinned says nothing; nil if fewer than two have dates.
  public var meanGap: Double?
  /// The publication time of the page's middle entry, in seconds since 1970; nil if fewer than two
  /// have dates.
  public var middleEntry: Double?
  /// The address to which the feed itself says that it has moved (`itunes:new-feed-url`); nil if it
  /// does not. Unlike the target of a redirect, nothing was read there.
  var declaredURL: String?
  /// Whether the client refused to connect to the address (`refusedAddress`).
  var isRefused = false
  /// Whether nothing was requested, because the server has asked for a pause after another request.
  var isPaused = false

  /// Creates an outcome; by default only the result is known.
  public init(
    _ result: Result, maxAge: Duration? = nil, retryAfter: Duration? = nil,
    permanentRedirect: String? = nil, schedule: FeedSchedule = FeedSchedule(),
    newestEntry: Double? = nil, meanGap: Double? = nil, middleEntry: Double? = nil
  ) {
    self.result = result
    self.maxAge = maxAge
    self.retryAfter = retryAfter
    self.permanentRedirect = permanentRedirect
    self.schedule = schedule
    self.newestEntry = newestEntry
    self.meanGap = meanGap
    self.middleEntry = middleEntry
  }
}

extension PollOutcome {
  /// Creates the outcome of a page that was read at `now`, in seconds since 1970. `isNew` is
  /// whether the page has new entries.
  ///
  /// `schedule` is the feed's last known one, because an unchanged page does not repeat it.
  public init(
    of page: Page<FeedEntry>, isNew: Bool, schedule: FeedSchedule = FeedSchedule(), at now: Double
  ) {
    let fields = page.http?.head.headerFields ?? [:]
    let dates = page.items.compactMap { $0.date?.timeIntervalSince1970 }.filter { $0 <= now }
      .sorted(by: >)
    let (newest, half) = (dates.first, dates.count / 2)
    let middle = half > 0 ? dates[half] : nil
    var gap: Double?
    if let newest, let middle { gap = (newest - middle) / Double(half) }
    self.init(
      isNew && !page.isUnchanged ? .changed : .unchanged, maxAge: Self.freshness(fields, at: now),
      retryAfter: ThrottleSignal.wait(in: fields, now: now),
      permanentRedirect: page.http?.permanentRedirect,
      schedule: page.feed?.schedule ?? schedule, newestEntry: newest, meanGap: gap,
      middleEntry: middle)
  }

  /// Creates the outcome of a poll that failed with `error` at `now`: `gone` for a 410 of the
  /// feed's own address, otherwise `failed`.
  public init(of error: any Error, at now: Double) {
    let (error, response) = (error as? PageError, (error as? PageError)?.response)
    // A 410 after a temporary redirect says only that a copy of the feed is gone.
    let isOwn = error?.redirectedTo == nil || response?.url == response?.permanentRedirect
    self.init(
      response?.status.code == 410 && isOwn ? .gone : .failed,
      retryAfter: response.flatMap { ThrottleSignal.wait(in: $0.headerFields, now: now) }
        ?? error?.serverPause)
    isRefused = error?.code == .refusedAddress
    isPaused = error?.serverPause != nil
  }

  /// Returns the time for which an answer stays fresh, at most a year; nil if it does not say. That
  /// is its freshness lifetime less its age in caches (RFC 9111, §4.2).
  static func freshness(_ fields: HTTPFields, at now: Double) -> Duration? {
    let age = fields[.age].flatMap { Double($0) }.flatMap { $0 >= 0 ? $0 : nil } ?? 0
    return lifetime(fields, at: now).map { .seconds(min(max(0, $0 - age), 31_536_000)) }
  }

  /// Returns the freshness lifetime of an answer in seconds (RFC 9111, §4.2.1).
  private static func lifetime(_ fields: HTTPFields, at now: Double) -> Double? {
    let directives = fields[.cacheControl]?.lowercased().split(separator: ",") ?? []
    for name in ["max-age=", "s-maxage="] {
      for directive in directives {
        let text = directive.filter { $0 != " " && $0 != "\"" }
        if text.hasPrefix(name), let seconds = Double(text.dropFirst(name.count)), seconds >= 0 {
          return seconds
        }
      }
    }
    let expires = HTTPField.Name("Expires").flatMap { fields[$0] }
    guard let expires = expires.flatMap(HTTPDate.secondsSince1970) else { return nil }
    let date = fields[.date].flatMap(HTTPDate.secondsSince1970) ?? now
    return expires - date
  }
}
