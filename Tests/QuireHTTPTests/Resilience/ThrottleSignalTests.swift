import HTTPTypes
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("How long a server wants us to wait")
struct ThrottleSignalTests {
  /// 2026-01-01T00:00:00Z less 42.5 s.
  private let now = 1_767_225_557.5

  private func wait(_ fields: [(String, String)]) -> Duration? {
    var all = HTTPFields()
    for (name, value) in fields { all.append(HTTPField(name: .init(name)!, value: value)) }
    return ThrottleSignal.wait(in: all, now: now)
  }

  @Test(
    "V103: all spellings of a reset mean the same wait",
    arguments: [
      ("X-RateLimit-Reset", "1767225600"), ("X-RateLimit-Reset", "2026-01-01T00:00:00Z"),
      ("X-RateLimit-Reset", "42.5"), ("X-RateLimit-Reset", "1767225600000"),
      ("x-rate-limit-reset", "1767225600"), ("RateLimit-Reset", "42.5"),
      ("X-RateLimit-Reset", "42s500ms"),
    ])
  func resets(name: String, value: String) {
    let remaining = name.lowercased().replacing("reset", with: "Remaining")
    #expect(wait([(remaining, "0"), (name, value)]) == .seconds(42.5))
    #expect(wait([(remaining, "1"), (name, value)]) == nil)
    #expect(wait([(name, value)]) == nil)
  }

  @Test("V103: the RateLimit field waits for the policy that has nothing left")
  func rateLimitField() {
    let policy = ("RateLimit-Policy", #""burst";q=100;w=60,"daily";q=1000;w=86400"#)
    #expect(wait([policy, ("RateLimit", #""burst";r=0;t=12"#)]) == .seconds(12))
    #expect(wait([policy, ("RateLimit", #""burst";r=5;t=12"#)]) == nil)
    #expect(wait([policy, ("RateLimit", #""burst";r=0;t=12, "daily";r=0;t=90"#)]) == .seconds(90))
  }

  @Test(
    "V103: where nothing is left, the wait is until more comes back, however the fields are called",
    arguments: [
      [("RateLimit", "limit=100, remaining=0, reset=42.5")],
      [("X-RateLimit-Remaining-Requests", "0"), ("X-RateLimit-Reset-Requests", "42.5s")],
      [("X-RateLimit-Limit", "100"), ("X-RateLimit-Used", "100"), ("X-RateLimit-Reset", "42.5")],
      [("X-App-Usage", #"{"call_count":100,"reset_time_duration":42.5}"#)],
      [("RateLimit", #""a, b";r=0;t=42.5"#)],
    ])
  func exhausted(fields: [(String, String)]) { #expect(wait(fields) == .seconds(42.5)) }

  @Test(
    "V103: a reset is measured by the server's clock, and by ours where the server's is far off",
    arguments: [
      ("Thu, 01 Jan 2026 00:59:00 GMT", 1_767_229_200),
      ("Thu, 01 Jan 2015 00:00:00 GMT", 1_767_225_617.5),
      ("Mon, 01 Jan 2035 00:00:00 GMT", 1_767_225_617.5),
      ("Thu, 01 Jan 2015 00:00:00 GMT", 1_420_070_460),
    ])
  func wrongClock(date: String, reset: Double) {
    let fields = [
      ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "\(reset)"), ("Date", date),
    ]
    #expect(wait(fields) == .seconds(60))
  }

  @Test("V103: a Go duration of six minutes is 360 seconds")
  func goDuration() {
    #expect(ThrottleSignal.duration("6m0s", now: now) == .seconds(360))
    #expect(ThrottleSignal.duration("1h2m3.5s", now: now) == .seconds(3723.5))
    #expect(ThrottleSignal.duration("120ms", now: now) == .milliseconds(120))
  }

  @Test(
    "V103: a wait in quotes, or with its unit in words, is read as well",
    arguments: [
      (#""2""#, 2.0), ("2 seconds", 2), ("2 Seconds", 2), ("2 sec", 2), ("1 minute 30 seconds", 90),
      (#""2s""#, 2), ("1 hour", 3600), ("1 day", 86_400),
      (#""Thu, 01 Jan 2026 00:00:00 GMT""#, 42.5), (#""1767225600""#, 42.5),
    ])
  func lenientWait(value: String, seconds: Double) {
    #expect(wait([("Retry-After", value)]) == .seconds(seconds))
    #expect(ThrottleSignal.duration("2 lightyears", now: now) == nil)
    #expect(ThrottleSignal.duration("soon", now: now) == nil)
  }

  @Test("V103: Retry-After is seconds, fractions of seconds or a date, and comes first")
  func retryAfter() {
    #expect(wait([("Retry-After", "30")]) == .seconds(30))
    #expect(wait([("Retry-After", "2.0")]) == .seconds(2))
    #expect(wait([("Retry-After", "5"), ("Retry-After", "8")]) == .seconds(8))
    #expect(wait([("Retry-After", "8, 5")]) == .seconds(8))
    #expect(wait([("Retry-After", "1767225600, 1767225600")]) == .seconds(42.5))
    #expect(wait([("Retry-After", "8, soon")]) == nil)
    #expect(
      wait([
        ("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"),
        ("Date", "Wed, 21 Oct 2026 07:27:00 GMT"),
      ]) == .seconds(60))
    #expect(
      wait([("Retry-After", "7"), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "99")])
        == .seconds(7))
  }

  @Test("V103: an answer out of a cache asks for a wait from now on, not from when it was made")
  func cached() {
    let made = [
      ("Date", "Wed, 21 Oct 2026 07:27:00 GMT"), ("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"),
    ]
    #expect(wait(made + [("Age", "50")]) == .seconds(10))
    #expect(wait(made + [("Age", "3600")]) == .zero)
    for age in ["-5", "soon", "", "nan"] { #expect(wait(made + [("Age", age)]) == .seconds(60)) }
  }

  @Test("V103: all three forms of a date are a wait")
  func dates() {
    for text in [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ] {
      #expect(
        wait([("Retry-After", text), ("Date", "Sun, 06 Nov 1994 08:48:37 GMT")]) == .seconds(60),
        "\(text)")
    }
  }

  @Test("H26: a wait that is longer than any is written is no signal, and of limits 64 are read")
  func lengths() {
    let spaces = String(repeating: " ", count: 50_000)
    #expect(wait([("Retry-After", "1\(spaces)0")]) == nil)
    #expect(wait([("Retry-After", "1 0")]) == .seconds(10))
    var fields = HTTPFields()
    for number in 0..<2_000 {
      fields.append(HTTPField(name: .init("X-RateLimit-Remaining-A\(number)")!, value: "5"))
    }
    #expect(ServerAllowance(fields, now: now).windows.count == 64)
    let items = (0..<50).map { "\"p\($0)\";r=5;t=9" }.joined(separator: ", ")
    fields = HTTPFields()
    for number in 0..<40 {
      let value = items.replacing("\"p", with: "\"q\(number)-")
      fields.append(HTTPField(name: .init("RateLimit")!, value: value))
    }
    #expect(ServerAllowance(fields, now: now).windows.count == 64)
  }

  @Test(
    "a limit that is no finite amount is not one",
    arguments: [
      ("RateLimit", "limit=nan, remaining=nan, reset=30"),
      ("RateLimit", "limit=-1, remaining=-1, reset=30"), ("RateLimit-Policy", "nan;w=60"),
      ("RateLimit-Policy", "inf;w=60"), ("X-Shopify-Shop-Api-Call-Limit", "inf/40"),
    ])
  func impossibleAmounts(name: String, value: String) {
    var fields = HTTPFields()
    fields.append(HTTPField(name: .init(name)!, value: value))
    #expect(ServerAllowance(fields, now: now).windows.isEmpty)
  }

  @Test("Azure's milliseconds are a wait, and Retry-After beside them comes first")
  func milliseconds() {
    #expect(wait([("x-ms-retry-after-ms", "1500")]) == .milliseconds(1500))
    #expect(wait([("retry-after-ms", "250")]) == .milliseconds(250))
    #expect(wait([("x-ms-retry-after-ms", "1500"), ("Retry-After", "2")]) == .seconds(2))
    #expect(wait([("x-ms-retry-after-ms", "soon")]) == nil)
  }

  @Test("H26: garbage is no signal, the past is no wait, and the far future is finite")
  func garbage() {
    for text in ["soon", "", "NaN", "inf", "--1", "1,2", "12q", "Wed, 99 Foo 2026 07:28:00 GMT"] {
      #expect(wait([("Retry-After", text)]) == nil, "\(text)")
    }
    #expect(wait([("Retry-After", "-5")]) == .zero)
    #expect(wait([("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT")]) == .zero)
    #expect(wait([("Retry-After", "1e9")]) == .seconds(1e9))
    #expect(wait([("Retry-After", "1000000000000000000")]).map { $0 <= .seconds(3.2e9) } == true)
  }

  @Test(
    "The three date forms of HTTP are one date, however the zone is called",
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000",
    ])
  func dates(text: String) {
    #expect(HTTPDate.secondsSince1970(text) == 784_111_777)
  }
}
