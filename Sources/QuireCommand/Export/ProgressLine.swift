import QuireCore

/// The text of the progress line. A pure value, so that it can be tested.
struct ProgressLine: Equatable {
  /// The listing that is read; empty if there is only one.
  var name = ""
  var pages = 0
  var items = 0
  var bytes = 0
  var retries = 0
  /// The expected amount; nil if it is unknown.
  var goal: Goal?
  var elapsed: Duration = .zero
  /// What the walk is waiting for.
  var waitingFor = ""

  /// The amount that counts as everything.
  enum Goal: Equatable {
    case items(Int)
    case pages(Int)
    /// The parents whose listings have been read, of all.
    case parents(done: Int, of: Int)
  }

  /// The part that is done, from 0 to 1; nil without a goal.
  var fraction: Double? {
    switch goal {
    case .items(let count)?: count > 0 ? min(1, Double(items) / Double(count)) : nil
    case .pages(let count)?: count > 0 ? min(1, Double(pages) / Double(count)) : nil
    case .parents(let done, let count)?: count > 0 ? min(1, Double(done) / Double(count)) : nil
    case nil: nil
    }
  }

  /// Returns the line with at most `width` characters. If it is too long, the least useful parts
  /// are left out first.
  func text(width: Int) -> String {
    var parts = self.parts
    while Self.joined(parts).count > width, let least = parts.map(\.worth).min() {
      guard parts.count > 1 else { break }
      parts.removeAll { $0.worth == least }
    }
    return String(Self.joined(parts).prefix(max(width, 0)))
  }

  /// A part of the line, with its rank among the others.
  private struct Part {
    var text: String
    var worth: Worth

    enum Worth: Comparable { case rate, size, pages, retries, items, bar, time, wait, name }
  }

  private var parts: [Part] {
    var parts: [Part] = []
    func add(_ text: String, _ worth: Part.Worth) { parts.append(Part(text: text, worth: worth)) }
    if !name.isEmpty { add("\(name):", .name) }
    if let fraction {
      let filled = Int(fraction * 10)
      let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 10 - filled)
      add("[\(bar)] \(Int(fraction * 100))%", .bar)
    }
    add(pages.counted("page"), .pages)
    add(items.counted("item"), .items)
    let seconds = elapsed / .seconds(1)
    if seconds > 0 { add("\(Int(Double(items) / seconds)) items/s", .rate) }
    add(Self.size(bytes), .size)
    if let fraction, fraction > 0, fraction < 1 {
      add("ETA \(Self.clock(seconds * (1 - fraction) / fraction))", .time)
    }
    if retries > 0 { add(retries.counted("retry", "retries"), .retries) }
    if !waitingFor.isEmpty { add(waitingFor, .wait) }
    return parts
  }

  private static func joined(_ parts: [Part]) -> String {
    parts.map(\.text).joined(separator: "  ")
  }

  /// Returns the goal of a walk, from the declared total and the caller's limits.
  ///
  /// A resumed walk does not know how much came before it, and a lower bound is not a goal.
  static func goal(total: Total?, limits: Limits, resumed: Bool, items: Int) -> Goal? {
    var goal: Goal?
    if let total {
      switch total.kind {
      case .items where !resumed, .estimate where !resumed: goal = .items(total.value)
      case .pages where !resumed: goal = .pages(total.value)
      case .remaining: goal = sum(items, total.value).map { .items($0) }
      default: break
      }
    }
    switch goal {
    case .items(let count)?: return .items(min(count, limits.items ?? count))
    case .pages(let count)?: return .pages(min(count, limits.pages ?? count))
    case .parents?, nil: return limits.items.map { .items($0) } ?? limits.pages.map { .pages($0) }
    }
  }

  /// Returns the sum; nil if a server's number is too large to be true.
  private static func sum(_ left: Int, _ right: Int) -> Int? {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? nil : sum
  }

  /// Returns a size in decimal units.
  static func size(_ bytes: Int) -> String {
    switch bytes {
    case ..<1_000: "\(bytes) B"
    case ..<1_000_000: "\(tenths(bytes, 1_000)) kB"
    case ..<1_000_000_000: "\(tenths(bytes, 1_000_000)) MB"
    default: "\(tenths(bytes, 1_000_000_000)) GB"
    }
  }

  /// Returns a time as `0:07` or `1:02:03`.
  static func clock(_ seconds: Double) -> String {
    let whole = Int(min(seconds, 359_999).rounded(.up))
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    let tail = rest.padded(to: 2)
    guard hours > 0 else { return "\(minutes):\(tail)" }
    return "\(hours):\(minutes.padded(to: 2)):\(tail)"
  }

  /// Returns a time to wait: `0.4 s` or `30 s`, and from a minute on as `clock` writes it.
  static func span(_ duration: Duration) -> String {
    let tenths = max(0, Int((min(duration / .seconds(1), 359_999) * 10).rounded()))
    switch tenths {
    case ..<100: return "\(tenths / 10).\(tenths % 10) s"
    case ..<600: return "\(tenths / 10) s"
    default: return clock(Double(tenths) / 10)
    }
  }

  private static func tenths(_ value: Int, _ unit: Int) -> String {
    "\(value / unit).\(value % unit * 10 / unit)"
  }
}
