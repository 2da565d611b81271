import HTTPTypes
import QuireCore
import QuirePagination

/// The limits that an answer's fields state: how much more its server takes, and from when on.
///
/// Every answer is read, including successes. Known are the `RateLimit` fields in all versions of
/// the IETF draft (items with `r` and `t`, a dictionary, or one field for each number); all other
/// fields with `ratelimit` or `rate-limit` in their names, followed by what they count (`requests`,
/// `minute`) and which number they hold (`remaining`, `reset`); Retry-After; and the usage fields
/// of Shopify, Salesforce and Meta. Malformed fields are ignored.
struct ServerAllowance: Hashable, Sendable {
  /// One of several limits that a server applies at the same time.
  struct Window: Hashable, Sendable {
    /// The server's name for the limit.
    var name: String
    /// The allowance of a whole window.
    var limit: Double?
    /// The remaining allowance of this window.
    var remaining: Double?
    /// The time until the next window.
    var reset: Duration?
    /// The length of a window.
    var length: Duration?
    /// The unit of the numbers.
    var unit = Unit.requests
  }

  /// The unit of a limit.
  enum Unit: Hashable, Sendable {
    case requests
    /// Another unit, such as bytes or per cent of processor time. Requests only wait if nothing
    /// remains.
    case other
    /// Concurrent requests.
    case concurrency
  }

  /// The limits, in the order in which they were found.
  var windows: [Window] = []
  /// The time that the server asks to wait now, even if requests remain.
  var wait: Duration?

  var isEmpty: Bool { windows.isEmpty && wait == nil }

  init() {}

  /// Reads header fields at `now`, in seconds since 1970. A Date field, and the Age that a cache
  /// adds to it (RFC 9111, §4.2.3), replace `now`, because times only have a meaning relative to the
  /// server's clock. Where the two are more than a day apart, one of them is wrong: the one that is
  /// further from the times in the fields.
  init(_ fields: HTTPFields, now: Double) {
    var reader = AllowanceReader(now: now)
    // By index, because fields of an iteration are copied.
    for index in fields.indices
    where AllowanceReader.mayStateLimit(fields[index].name.canonicalName) {
      reader.fields.append(fields[index])
      if reader.fields.count == AllowanceReader.most { break }
    }
    guard !reader.fields.isEmpty else { return }
    if let date = fields[.date].flatMap(HTTPDate.secondsSince1970) {
      let server = date + (fields[.age].flatMap { Double(amount: $0) } ?? 0)
      let time = abs(server - now) > 86_400 ? reader.statedTime() : nil
      if time.map({ abs($0 - server) <= abs($0 - now) }) ?? true { reader.now = server }
    }
    self = reader.allowance()
  }

  /// The limit on requests that is reached first.
  var tightest: Window? {
    windows.filter { $0.unit == .requests && $0.remaining ?? $0.limit != nil }
      .min { ($0.remaining ?? .infinity) < ($1.remaining ?? .infinity) }
  }
}

/// Reads the header fields that state limits, and combines them into windows.
private struct AllowanceReader {
  var now: Double
  var fields: [HTTPField] = []
  private var result = ServerAllowance()

  /// The maximum numbers of fields and of windows, because each is compared with all others.
  static let most = 64

  init(now: Double) { self.now = now }

  /// Returns whether a field may state a limit. Called for every field of every answer.
  static func mayStateLimit(_ name: String) -> Bool {
    // The names of all known fields contain "imit", "rate", "etry" or "sage".
    var name = name
    return name.withUTF8 { name in
      var last: UInt32 = 0
      return name.contains { byte in
        last = last << 8 | UInt32(byte)
        return switch last {
        case 0x696D_6974, 0x7261_7465, 0x6574_7279, 0x7361_6765: true
        default: false
        }
      }
    }
  }

  /// Returns the first point in time at which a field says that more requests are taken.
  func statedTime() -> Double? {
    fields.lazy
      .filter { field in ["reset", "after"].contains { field.name.canonicalName.contains($0) } }
      .compactMap { ThrottleSignal.time($0.value) }.first
  }

  mutating func allowance() -> ServerAllowance {
    var named = NamedNumbers()
    for field in fields {
      let (name, value) = (field.name.canonicalName, field.value)
      switch name {
      case "retry-after": ask(ThrottleSignal.duration(value, now: now))
      case "retry-after-ms", "x-ms-retry-after-ms":
        ask(ThrottleSignal.duration(value + "ms", now: now))
      case "ratelimit": draft(value)
      case "ratelimit-policy": policies(value)
      case "x-shopify-shop-api-call-limit": shopify(value)
      case "sforce-limit-info": salesforce(value)
      case "x-app-usage", "x-business-use-case-usage", "x-ad-account-usage", "x-page-usage":
        meta(name, value)
      case "x-amzn-ratelimit-limit", "x-amzn-rate-limit-limit":
        // A rate, in requests per second.
        if let rate = Double(amount: value), rate > 0 {
          add(.init(name: "x-amzn", limit: 1, length: .wait(seconds: 1 / rate)))
        }
      default: named.add(name, value)
      }
    }
    for window in named.windows(now: now) { add(window) }
    if let wait = named.wait(now: now) { ask(wait) }
    return result
  }

  private mutating func ask(_ wait: Duration?) {
    if let wait { result.wait = max(result.wait ?? .zero, wait) }
  }

  private mutating func add(_ window: ServerAllowance.Window) {
    guard let index = result.windows.firstIndex(where: { $0.name == window.name }) else {
      if result.windows.count < Self.most { result.windows.append(window) }
      return
    }
    result.windows[index].merge(window)
  }

  // MARK: The IETF draft

  /// Reads `"burst";r=50;t=30, "daily";r=5`, or `limit=100, remaining=50, reset=5`.
  private mutating func draft(_ text: String) {
    let items = StructuredItem.list(text)
    var single = ServerAllowance.Window(name: "ratelimit")
    for item in items {
      if let (name, value) = item.member {
        switch name {
        case "limit": single.limit = Double(amount: value)
        case "remaining": single.remaining = Double(amount: value)
        case "reset": single.reset = ThrottleSignal.duration(value, now: now)
        default: break
        }
        continue
      }
      guard let remaining = item.number("r") else { continue }
      add(
        .init(
          name: item.name, remaining: remaining,
          reset: item.parameters["t"].flatMap { ThrottleSignal.duration($0, now: now) }))
    }
    if single.limit != nil || single.remaining != nil { add(single) }
  }

  /// Reads `"burst";q=100;w=60`, or `100;w=10` of older versions.
  private mutating func policies(_ text: String) {
    for item in StructuredItem.list(text) {
      var window = ServerAllowance.Window(
        name: item.name,
        length: item.parameters["w"].flatMap { ThrottleSignal.duration($0, now: now) })
      if let quota = item.number("q") {
        window.limit = quota
        switch item.parameters["qu"] {
        case nil, "requests"?: break
        case "concurrent-requests"?: window.unit = .concurrency
        default: window.unit = .other
        }
      } else if let quota = Double(amount: item.name), item.member == nil {
        (window.name, window.limit) = ("ratelimit-fields", quota)
      } else {
        continue
      }
      add(window)
    }
  }

  // MARK: Vendor formats

  /// Reads `32/40`, a bucket that leaks a twentieth of its size per second.
  private mutating func shopify(_ text: String) {
    guard let (used, limit) = Self.ratio(text[...]) else { return }
    add(
      .init(
        name: "shopify", limit: limit, remaining: max(0, limit - used),
        reset: .wait(seconds: 20 * max(1, used - limit + 1) / limit),
        length: .seconds(20)))
  }

  /// Reads `api-usage=18/5000`, the usage of a day without a known end.
  private mutating func salesforce(_ text: String) {
    for part in text.split(whereSeparator: { $0 == "," || $0 == " " || $0 == ";" }) {
      let sides = part.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, sides[0] == "api-usage", let (used, limit) = Self.ratio(sides[1])
      else { continue }
      add(.init(name: "sforce", limit: limit, remaining: max(0, limit - used)))
    }
  }

  private static func ratio(_ text: Substring) -> (Double, Double)? {
    let sides = text.split(separator: "/")
    guard sides.count == 2, let used = Double(amount: sides[0]),
      let limit = Double(amount: sides[1]), limit > 0
    else { return nil }
    return (used, limit)
  }

  /// Reads JSON with percentages of several limits, and the minutes until access is regained.
  private mutating func meta(_ name: String, _ text: String) {
    guard let value = try? JSONValue(parsing: Array(text.utf8)) else { return }
    var (used, minutes) = (0.0, 0.0)
    var seconds: Double?
    Self.visit(value, depth: 0) { key, number in
      switch key {
      case "call_count", "total_time", "total_cputime", "acc_id_util_pct": used = max(used, number)
      case "estimated_time_to_regain_access": minutes = max(minutes, number)
      case "reset_time_duration": seconds = number
      default: break
      }
    }
    if minutes > 0 { ask(.wait(seconds: minutes * 60)) }
    add(
      .init(
        name: name, limit: 100, remaining: max(0, 100 - used),
        reset: seconds.flatMap { $0 > 0 ? .wait(seconds: $0) : nil }, unit: .other))
  }

  private static func visit(
    _ value: JSONValue, depth: Int, _ found: (String, Double) -> Void
  ) {
    guard depth < 8 else { return }
    switch value {
    case .object(let members):
      for member in members {
        if case .number(let text) = member.value, let number = Double(text) {
          found(member.name, number)
        } else {
          visit(member.value, depth: depth + 1, found)
        }
      }
    case .array(let values): for value in values { visit(value, depth: depth + 1, found) }
    default: break
    }
  }
}

extension Double {
  /// Parses the amount that a server states; nil unless it is finite and at least 0.
  init?(amount text: some StringProtocol) {
    guard let number = Double(text), number.isFinite, number >= 0 else { return nil }
    self = number
  }
}

extension ServerAllowance.Window {
  /// Adds the values of another window that this one lacks.
  fileprivate mutating func merge(_ other: Self) {
    limit = limit ?? other.limit
    remaining = remaining ?? other.remaining
    reset = reset ?? other.reset
    length = length ?? other.length
    if other.unit != .requests { unit = other.unit }
  }
}

/// Reads fields whose names say which number they hold, such as `X-RateLimit-Remaining-Requests`.
private struct NamedNumbers {
  private enum Role { case limit, remaining, used, reset, length, wait }

  private struct Entry {
    var family: String
    var subject: String
    var role: Role
    var value: String
    var milliseconds: Bool
  }

  private var entries: [Entry] = []

  /// Words that name the kind of a number.
  private static let roles: [Substring: Role] = [
    "limit": .limit, "quota": .limit, "max": .limit, "remaining": .remaining, "left": .remaining,
    "used": .used, "reset": .reset, "window": .length, "interval": .length, "period": .length,
  ]
  /// Words that name a window, and its length in seconds.
  private static let lengths: [Substring: Double] = [
    "second": 1, "secondly": 1, "minute": 60, "hour": 3600, "hourly": 3600, "day": 86_400,
    "daily": 86_400,
  ]

  /// Adds a field, classified by the words of its name.
  mutating func add(_ name: String, _ value: String) {
    guard let range = name.firstRange(of: "ratelimit") ?? name.firstRange(of: "rate-limit") else {
      return
    }
    let family = String(name[..<range.upperBound])
    var words = name[range.upperBound...].split(separator: "-")
    var (role, milliseconds, subject) = (Role?.none, false, [Substring]())
    if words.count >= 2, words[0] == "retry", words[1] == "after" {
      (role, words) = (.wait, Array(words.dropFirst(2)))
    }
    for word in words {
      if let found = Self.roles[word], role == nil || role == .limit {
        role = found
      } else if word == "ms" || word == "milliseconds" {
        milliseconds = true
      } else if !["seconds", "time", "after", "requests", "resource", "api"].contains(word) {
        subject.append(word)
      }
    }
    if words.isEmpty, role == nil { role = .limit }
    guard let role else { return }
    entries.append(
      Entry(
        family: family, subject: subject.joined(separator: "-"), role: role, value: value,
        milliseconds: milliseconds))
  }

  /// Returns the windows of all fields: one for each subject of a family of names. A time that a
  /// family states only once applies to all of its windows.
  func windows(now: Double) -> [ServerAllowance.Window] {
    var windows: [ServerAllowance.Window] = []
    for family in Set(entries.map(\.family)).sorted() {
      let own = entries.filter { $0.family == family }
      let counting = own.filter { [.limit, .remaining, .used].contains($0.role) }
      for subject in Set(counting.map(\.subject)).sorted() {
        var window = Self.window(own, subject, now: now)
        window.name = family == "ratelimit" ? "ratelimit-fields" : family
        if !subject.isEmpty { window.name += "-" + subject }
        // Some servers state a limit of 0 if there is none.
        guard window.limit != 0 else { continue }
        if window.limit != nil || window.remaining != nil { windows.append(window) }
      }
    }
    return windows
  }

  private static func window(
    _ own: [Entry], _ subject: String, now: Double
  ) -> ServerAllowance.Window {
    var window = ServerAllowance.Window(name: "")
    func value(_ role: Role) -> Entry? {
      let all = own.filter { $0.role == role }
      return all.first { $0.subject == subject } ?? (all.count == 1 ? all[0] : nil)
    }
    func count(_ role: Role) -> Double? {
      own.first { $0.role == role && $0.subject == subject }.flatMap { Self.count($0.value) }
    }
    (window.limit, window.remaining) = (count(.limit), count(.remaining))
    if let used = count(.used) {
      if window.limit == nil { window.limit = window.remaining.map { $0 + used } }
      window.remaining = window.remaining ?? window.limit.map { max(0, $0 - used) }
    }
    window.reset = value(.reset).flatMap { duration($0, now: now) }
    let words = subject.split(separator: "-")
    window.length =
      words.compactMap { lengths[$0] }.first.flatMap { .wait(seconds: $0) }
      ?? value(.length).flatMap { duration($0, now: now) }
    // A policy in the value, such as "100;w=21600".
    if window.length == nil, let limit = value(.limit)?.value ?? value(.remaining)?.value {
      window.length = StructuredItem.list(limit).lazy.compactMap { $0.number("w") }.first
        .flatMap { .wait(seconds: $0) }
    }
    if words.contains(where: { $0.contains("token") || $0 == "bytes" || $0 == "cost" }) {
      window.unit = .other
    }
    return window
  }

  /// Returns the time that the fields ask to wait.
  func wait(now: Double) -> Duration? {
    entries.filter { $0.role == .wait }.compactMap { Self.duration($0, now: now) }.max()
  }

  private static func duration(_ entry: Entry, now: Double) -> Duration? {
    ThrottleSignal.duration(entry.milliseconds ? entry.value + "ms" : entry.value, now: now)
  }

  /// Returns the first number of a list: some servers append the policy, as in `100, 100;w=60`.
  private static func count(_ text: String) -> Double? {
    Double(amount: text.prefix { $0 != "," && $0 != ";" }.filter { $0 != " " })
  }
}

/// An item of a list in a structured field (RFC 9651, §3.1), parsed leniently.
private struct StructuredItem {
  /// The item without its parameters and quotes.
  var name = ""
  var parameters: [Substring: String] = [:]

  /// The name and the value if the item is a member of a dictionary; nil otherwise.
  var member: (Substring, String)? {
    let sides = name.split(separator: "=", maxSplits: 1)
    return sides.count == 2 ? (sides[0], String(sides[1])) : nil
  }

  func number(_ name: Substring) -> Double? {
    parameters[name].flatMap { Double(amount: $0) }
  }

  /// Returns the items of a list. Quoted text may contain commas and semicolons.
  static func list(_ text: String) -> [StructuredItem] {
    split(text[...], at: ",").map { item in
      let parts = split(item, at: ";")
      var result = StructuredItem(name: unquoted(parts.first ?? ""))
      for part in parts.dropFirst() {
        let sides = part.split(separator: "=", maxSplits: 1)
        guard sides.count == 2 else { continue }
        let name = sides[0].filter { $0 != " " }
        result.parameters[name[...]] = unquoted(sides[1])
      }
      return result
    }
  }

  private static func split(_ text: Substring, at separator: Character) -> [Substring] {
    var isQuoted = false
    return text.split(maxSplits: 64, omittingEmptySubsequences: true) { character in
      if character == "\"" { isQuoted.toggle() }
      return character == separator && !isQuoted
    }
  }

  private static func unquoted(_ text: Substring) -> String {
    let trimmed = text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
    return String(trimmed).replacing("\"", with: "")
  }
}
