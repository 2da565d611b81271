package import HTTPTypes

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
    let now = fields[.date].flatMap(HTTPDate.secondsSince1970) ?? now
    if let text = fields[.retryAfter] { return duration(text, now: now) }
    for name in ["retry-after-ms", "x-ms-retry-after-ms"] {
      if let text = value(fields, name) { return duration(text + "ms", now: now) }
    }
    if let wait = rateLimitField(fields) { return wait }
    for prefix in ["x-ratelimit-", "x-rate-limit-", "ratelimit-"] {
      guard let remaining = value(fields, prefix + "remaining").flatMap(Double.init),
        remaining < 1, let reset = value(fields, prefix + "reset")
      else { continue }
      return duration(reset, now: now)
    }
    return nil
  }

  /// Reads one value in any of the forms above.
  package static func duration(_ text: String, now: Double) -> Duration? {
    let text = text.filter { $0 != " " || text.contains(",") }
    let seconds: Double?
    if let number = Double(text) {
      seconds = number > 1e12 ? number / 1000 - now : number > 1e9 ? number - now : number
    } else if let date = HTTPDate.secondsSince1970(text)
      ?? (try? Date(text, strategy: .iso8601))?.timeIntervalSince1970
    {
      seconds = date - now
    } else {
      seconds = unitDuration(text)
    }
    return seconds.flatMap { $0.isFinite ? .wait(seconds: $0) : nil }
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
