package import HTTPTypes

/// How many requests a server says it still takes, and until when.
///
/// Reads the `RateLimit` fields of the IETF draft (`"default";r=50;t=30`, with the quota in
/// `RateLimit-Policy`), the older `RateLimit-*` and `X-RateLimit-*` in the spellings of the wild, and
/// Retry-After. Garbage is nothing.
package struct RateLimitBudget: Hashable, Sendable {
  /// Requests in a window; nil when nobody said.
  package var limit: Int?
  /// Requests that are left in this window; nil when nobody said.
  package var remaining: Int?
  /// How long until the next window.
  package var reset: Duration?
  /// How long the server asks to wait now.
  package var wait: Duration?

  /// The budget in an answer's fields at `now`, in seconds since 1970; nil when they have none.
  package init?(_ fields: HTTPFields, now: Double) {
    let now = fields[.date].flatMap(HTTPDate.secondsSince1970) ?? now
    wait = fields[.retryAfter].flatMap { ThrottleSignal.duration($0, now: now) }
    func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
    func count(_ text: String?) -> Int? {
      // Some add the policy: "100, 100;w=60".
      let number = text?.prefix { $0 != "," && $0 != ";" }.filter { $0 != " " }
      return number.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
    if let text = field("ratelimit") {
      remaining = Self.parameter("r", of: text).flatMap { Int($0) }
      reset = Self.parameter("t", of: text).flatMap { ThrottleSignal.duration($0, now: now) }
      limit = field("ratelimit-policy").flatMap { Self.parameter("q", of: $0) }.flatMap { Int($0) }
    }
    for prefix in ["x-ratelimit-", "x-rate-limit-", "ratelimit-"] {
      limit = limit ?? count(field(prefix + "limit"))
      remaining = remaining ?? count(field(prefix + "remaining"))
      reset = reset ?? field(prefix + "reset").flatMap { ThrottleSignal.duration($0, now: now) }
    }
    if limit == nil, remaining == nil, wait == nil { return nil }
  }

  /// The parameter of the first item of a structured field (RFC 9651).
  private static func parameter(_ name: String, of text: String) -> String? {
    let item = text.prefix { $0 != "," }
    for parameter in item.split(separator: ";").dropFirst() {
      let parts = parameter.split(separator: "=", maxSplits: 1)
      if parts.count == 2, parts[0].filter({ $0 != " " }) == name { return String(parts[1]) }
    }
    return nil
  }

  /// How long `count` more requests have to wait for windows to come, where the budget does not
  /// suffice and says enough to tell.
  package func waiting(for count: Int) -> Duration {
    let first = wait ?? .zero
    guard let remaining, let reset, count > remaining else { return first }
    guard let limit, limit > 0 else { return max(first, reset) }
    let windows = (count.minus(remaining) + limit - 1) / limit
    // Nobody says how long a window is, but none so far was shorter than what is left of this one.
    return max(first, reset * max(1, windows))
  }
}
