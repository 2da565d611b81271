package import HTTPTypes
import QuireCore
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads how long a server wants its clients to wait.
package enum ThrottleSignal {
  /// The wait that `fields` ask for, seen at `now`, in seconds since 1970: what they say outright, or else until the
  /// last of the limits that have nothing left is reset. Garbage is nil; the past is zero.
  package static func wait(in fields: HTTPFields, now: Double) -> Duration? {
    let allowance = ServerAllowance(fields, now: now)
    return allowance.wait
      ?? allowance.windows.filter { $0.remaining ?? 1 < 1 }.compactMap(\.reset).max()
  }

  /// Reads one value: seconds (RFC 9110, §10.2.3; in the wild also fractions of seconds), a date, epoch seconds or
  /// milliseconds, or a duration such as `6m0s`.
  package static func duration(_ text: String, now: Double) -> Duration? {
    // No form is longer.
    guard text.utf8.count <= 64 else { return nil }
    let compact = text.filter { $0 != " " }
    let seconds: Double?
    if let number = Double(compact) {
      seconds = number > 1e12 ? number / 1000 - now : number > 1e9 ? number - now : number
    } else if let date = HTTPDate.secondsSince1970(text)
      ?? (try? Date(compact, strategy: .iso8601))?.timeIntervalSince1970
    {
      seconds = date - now
    } else {
      seconds = unitDuration(compact) ?? longest(in: text)
    }
    return seconds.flatMap { $0.isFinite ? .wait(seconds: $0) : nil }
  }

  /// The longest of several numbers of seconds: what a proxy makes of a field that came twice (RFC 9110, §5.3).
  /// A comma without a space may be that of a fraction.
  private static func longest(in list: String) -> Double? {
    let waits = list.split(separator: ", ", omittingEmptySubsequences: false).map { Double($0) }
    return waits.contains(nil) ? nil : waits.compactMap(\.self).max()
  }

  /// Go's and OpenAI's durations: `6m0s`, `1h2m3.5s`, `120ms`.
  private static func unitDuration(_ text: String) -> Double? {
    let units: [(name: String, seconds: Double)] = [
      ("ms", 0.001), ("h", 3600), ("m", 60), ("s", 1),
    ]
    var rest = text[...]
    var total = 0.0
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isNumber || $0 == "." }
      rest = rest.dropFirst(digits.count)
      guard let number = Double(digits), let unit = units.first(where: { rest.hasPrefix($0.name) })
      else { return nil }
      rest = rest.dropFirst(unit.name.count)
      total += number * unit.seconds
    }
    return text.isEmpty ? nil : total
  }
}

/// How many requests a server says it still takes, and until when: of the limits that an answer's fields
/// tell of, the one that binds first.
package struct RateLimitBudget: Hashable, Sendable {
  /// Requests in a window; nil when unknown.
  package var limit: Int?
  /// Requests that are left in this window; nil when unknown.
  package var remaining: Int?
  /// How long until the next window.
  package var reset: Duration?
  /// How long the server asks to wait now.
  package var wait: Duration?
  /// How long a window is; nil when unknown.
  package var window: Duration?

  /// The budget in an answer's fields at `now`, in seconds since 1970; nil when they have none.
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

  /// How long `count` more requests have to wait for windows to come, where the budget does not
  /// suffice and says enough to tell.
  package func waiting(for count: Int) -> Duration {
    let first = wait ?? .zero
    guard let remaining, let reset, count > remaining else { return first }
    guard let limit, limit > 0 else { return max(first, reset) }
    let windows = count.minus(remaining).plus(limit - 1) / limit
    // Where it is not said how long a window is, none so far was shorter than what is left of this one.
    return max(first, reset + (window ?? reset) * min(max(0, windows - 1), 1 << 30))
  }
}

/// Reads the three date forms of HTTP. Source: RFC 9110, §5.6.7.
package enum HTTPDate {
  /// Seconds since 1970, or nil for anything that is not such a date.
  package static func secondsSince1970(_ text: String) -> Double? {
    // All three forms are the same parts in another order; ISO 8601 has a parser of its own.
    let parts = text.split { " ,-".contains($0) }.map(String.init)
    let fields: (day: String, month: String, year: String, time: String)
    switch parts.count {
    // Some servers name the same zone in another way.
    case 6 where ["GMT", "UTC", "+0000"].contains(parts[5]):
      fields = (parts[1], parts[2], parts[3], parts[4])
    case 5: fields = (parts[2], parts[1], parts[4], parts[3])
    default: return nil
    }
    guard let month = months.firstIndex(of: fields.month), let day = Int(fields.day),
      var year = Int(fields.year)
    else { return nil }
    // Two digits from 70 on are of the last century.
    if fields.year.count == 2 { year += year >= 70 ? 1900 : 2000 }
    let date = "\(year.padded(to: 4))-\((month + 1).padded(to: 2))-\(day.padded(to: 2))"
    return (try? Date("\(date)T\(fields.time)Z", strategy: .iso8601))?.timeIntervalSince1970
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
