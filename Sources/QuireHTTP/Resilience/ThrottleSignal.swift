package import HTTPTypes
import QuireCore
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The underlying error of a request that was not sent because its server asked for a pause.
struct ServerPause: Error {
  /// The rest of the pause.
  let wait: Duration
}

extension PageError {
  /// The rest of the pause that kept the request from being sent; nil for every other error.
  package var serverPause: Duration? { (underlying as? ServerPause)?.wait }
}

/// Reads the waits that servers ask for.
package enum ThrottleSignal {
  /// Returns the wait that `fields` ask for at `now`, in seconds since 1970: an explicit wait, or
  /// else the time until the last of the used-up limits is reset. Nil if they ask for none or are
  /// malformed; zero for a time in the past.
  package static func wait(in fields: HTTPFields, now: Double) -> Duration? {
    let allowance = ServerAllowance(fields, now: now)
    return allowance.wait
      ?? allowance.windows.filter { $0.remaining ?? 1 < 1 }.compactMap(\.reset).max()
  }

  /// Parses one value: seconds (RFC 9110, §10.2.3; in practice also fractions), a date, seconds or
  /// milliseconds since 1970, or a duration such as `6m0s` or `2 seconds`, also in quotes. Nil for
  /// other text.
  package static func duration(_ text: String, now: Double) -> Duration? {
    guard let (text, compact) = plain(text) else { return nil }
    let seconds: Double?
    if let number = Double(compact) {
      seconds = wait(number, now: now)
    } else if let date = date(text, compact) {
      seconds = date - now
    } else {
      seconds = unitDuration(compact) ?? longest(in: text, now: now)
    }
    return seconds.flatMap { $0.isFinite ? .wait(seconds: $0) : nil }
  }

  /// Parses a point in time: a date, or a number of seconds or milliseconds since 1970. Returns the
  /// seconds since 1970; nil for other text, and for numbers that are too small.
  static func time(_ text: String) -> Double? {
    guard let (text, compact) = plain(text) else { return nil }
    if let number = Double(compact) { return time(number) }
    return date(text, compact)
  }

  /// Returns a value without quotes, and without spaces, too; nil if it is longer than any valid one.
  private static func plain(_ text: String) -> (text: String, compact: String)? {
    guard text.utf8.count <= 64 else { return nil }
    let text = text.filter { $0 != "\"" }
    return (text, text.filter { $0 != " " })
  }

  private static func date(_ text: String, _ compact: String) -> Double? {
    HTTPDate.secondsSince1970(text)
      ?? (try? Date(compact, strategy: .iso8601))?.timeIntervalSince1970
  }

  private static func time(_ number: Double) -> Double? {
    number > 1e12 ? number / 1000 : number > 1e9 ? number : nil
  }

  /// Returns the seconds that a number means: so many, or those until a time since 1970.
  private static func wait(_ number: Double, now: Double) -> Double {
    time(number).map { $0 - now } ?? number
  }

  /// Returns the longest of the waits that several numbers mean: a proxy may combine fields of the
  /// same name (RFC 9110, §5.3). A comma without a space may be a decimal comma.
  private static func longest(in list: String, now: Double) -> Double? {
    let waits = list.split(separator: ", ", omittingEmptySubsequences: false).map { text in
      Double(text).map { wait($0, now: now) }
    }
    return waits.contains(nil) ? nil : waits.compactMap(\.self).max()
  }

  /// Parses the durations of Go and OpenAI, `6m0s`, `1h2m3.5s`, `120ms`, and units in words.
  private static func unitDuration(_ text: String) -> Double? {
    var rest = text.lowercased()[...]
    var total = 0.0
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isNumber || $0 == "." }
      rest = rest.dropFirst(digits.count)
      let unit = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(unit.count)
      guard let number = Double(digits), let seconds = units[unit] else { return nil }
      total += number * seconds
    }
    return text.isEmpty ? nil : total
  }

  /// The names of units, and their lengths in seconds.
  private static let units: [Substring: Double] = [
    "ms": 0.001, "millisecond": 0.001, "milliseconds": 0.001,
    "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
    "m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
    "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600,
    "d": 86_400, "day": 86_400, "days": 86_400,
  ]
}

/// The tightest of the limits on requests that an answer's fields state.
package struct RateLimitBudget: Hashable, Sendable {
  /// The number of requests in a window; nil if unknown.
  package var limit: Int?
  /// The number of requests left in this window; nil if unknown.
  package var remaining: Int?
  /// The time until the next window; nil if unknown.
  package var reset: Duration?
  /// The wait that the server asks for now; nil if it asks for none.
  package var wait: Duration?
  /// The length of a window; nil if unknown.
  package var window: Duration?

  /// Reads an answer's fields at `now`, in seconds since 1970; nil if they state no limit.
  package init?(_ fields: HTTPFields, now: Double) {
    let allowance = ServerAllowance(fields, now: now)
    wait = allowance.wait
    if let tightest = allowance.tightest {
      limit = tightest.limit.flatMap(Int.init(exactly:))
      remaining = tightest.remaining.flatMap { Int(exactly: min($0, 1e15).rounded(.down)) }
      (reset, window) = (tightest.reset, tightest.length)
    }
    if limit == nil, remaining == nil, wait == nil { return nil }
  }

  /// Returns how long `count` more requests have to wait for windows. Zero if the remaining number
  /// is enough, or if too little is known.
  package func waiting(for count: Int) -> Duration {
    let first = wait ?? .zero
    guard let remaining, let reset, count > remaining else { return first }
    guard let limit, limit > 0 else { return max(first, reset) }
    let windows = count.minus(remaining).plus(limit - 1) / limit
    // If the length of windows is unknown, what is left of this one is the best lower bound.
    return max(first, reset + (window ?? reset) * min(max(0, windows - 1), 1 << 30))
  }
}

/// Parses the three date formats of HTTP. Source: RFC 9110, §5.6.7.
package enum HTTPDate {
  /// Returns the seconds since 1970; nil for other text.
  package static func secondsSince1970(_ text: String) -> Double? {
    // All three formats have the same parts in different orders; the ISO 8601 parser reads the
    // rest.
    let parts = text.split { " ,-".contains($0) }.map(String.init)
    let fields: (day: String, month: String, year: String, time: String)
    switch parts.count {
    // Some servers use other names of the same time zone.
    case 6 where ["GMT", "UTC", "+0000"].contains(parts[5]):
      fields = (parts[1], parts[2], parts[3], parts[4])
    case 5: fields = (parts[2], parts[1], parts[4], parts[3])
    default: return nil
    }
    guard let month = months.firstIndex(of: fields.month), let day = Int(fields.day),
      var year = Int(fields.year)
    else { return nil }
    // Two-digit years from 70 on are in the 20th century.
    if fields.year.count == 2 { year += year >= 70 ? 1900 : 2000 }
    let date = "\(year.padded(to: 4))-\((month + 1).padded(to: 2))-\(day.padded(to: 2))"
    return (try? Date("\(date)T\(fields.time)Z", strategy: .iso8601))?.timeIntervalSince1970
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
