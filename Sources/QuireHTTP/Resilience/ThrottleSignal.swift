package import HTTPTypes
import QuireCore
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads how long a server wants its clients to wait.
///
/// `Retry-After` comes first (RFC 9110, §10.2.3: seconds or a date; in the wild also fractions of
/// seconds), then `x-ms-retry-after-ms` (Azure) and `retry-after-ms`, then the `RateLimit` field of
/// the IETF draft, then the `X-RateLimit-Reset` family where nothing remains: seconds, epoch
/// seconds or milliseconds, ISO dates, or durations such as `6m0s`. Garbage is nil; the past is
/// zero.
package enum ThrottleSignal {
  /// The wait that `fields` ask for, seen at `now`, in seconds since 1970; a Date field in `fields`
  /// is used instead of `now`, because only the difference to the server's own clock means
  /// anything.
  package static func wait(in fields: HTTPFields, now: Double) -> Duration? {
    // Most answers ask for nothing: their dates are not read.
    func duration(_ text: String) -> Duration? {
      Self.duration(text, now: fields[.date].flatMap(HTTPDate.secondsSince1970) ?? now)
    }
    let asked = fields[values: .retryAfter]
    if !asked.isEmpty { return asked.compactMap(duration).max() }
    for name in ["retry-after-ms", "x-ms-retry-after-ms"] {
      if let text = value(fields, name) { return duration(text + "ms") }
    }
    if let wait = rateLimitField(fields) { return wait }
    for prefix in ["x-ratelimit-", "x-rate-limit-", "ratelimit-"] {
      guard let remaining = value(fields, prefix + "remaining").flatMap(Double.init),
        remaining < 1, let reset = value(fields, prefix + "reset")
      else { continue }
      return duration(reset)
    }
    return nil
  }

  /// Reads one value in any of the forms above.
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

  /// `RateLimit: "burst";r=0;t=12`, possibly several, in the structured fields of RFC 9651.
  private static func rateLimitField(_ fields: HTTPFields) -> Duration? {
    guard let text = value(fields, "ratelimit") else { return nil }
    let waits = text.split(separator: ",").compactMap { item -> Double? in
      var remaining: Double?
      var reset: Double?
      for parameter in item.split(separator: ";").dropFirst() {
        let parts = parameter.split(separator: "=", maxSplits: 1)
        guard parts.count == 2 else { continue }
        switch parts[0].filter({ $0 != " " }) {
        case "r": remaining = Double(parts[1])
        case "t": reset = Double(parts[1])
        default: break
        }
      }
      return remaining.map { $0 < 1 } == true ? reset : nil
    }
    return waits.max().flatMap { .wait(seconds: $0) }
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

  private static func value(_ fields: HTTPFields, _ name: String) -> String? {
    HTTPField.Name(name).flatMap { fields[$0] }
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
