import Foundation
package import QuireCore
public import QuirePagination

/// A rule by which later runs of an export request only what has changed: the greatest value of a
/// field is stored with the data, and sent back to the server.
///
/// ```swift
/// let export = Export(to: sink, increment: Increment("/updated_at", key: "/id")) { since in
///   client.cursor(
///     of: RawItem.self, at: url, pagination: .github,
///     request: .init(parameters: since?.string.map { ["since": $0] } ?? [:]))
/// }
/// ```
/// Servers repeat the items that have exactly this value, and those within the look-back. Items
/// whose key and content are unchanged are dropped, so that no item is exported twice and none with
/// an equal value is lost.
///
/// If a run ends with fewer items than the server declared, the next one asks for the same value,
/// and what the first brought of before the look-back comes again.
///
/// An item may change after its page was read. If values are times (ISO 8601, or a number of seconds
/// to nanoseconds since 1970), the next run therefore begins no later than the time at which this
/// one began, by the clock here or the server's, whichever is behind; twelve hours earlier if the
/// times have no zone, because it is unknown.
public struct Increment: Sendable {
  /// The path to a value that grows with every change: a time (RFC 3339), a number, or a text that
  /// sorts.
  public var field: PagePath
  /// The path to the value that identifies an item.
  ///
  /// If nil, no items are remembered: use this for a sink with a key of its own, in which repeated
  /// items replace themselves. Otherwise, each checkpoint stores key, value and digest of every
  /// item within the look-back, of this run and the one before; a checkpoint beside a file has room
  /// for 16 MiB.
  public var key: PagePath?
  /// How far before the greatest value the next run begins, for servers whose clocks or indexes
  /// lag. For numbers it counts seconds since 1970, or milliseconds beyond 10¹¹, microseconds beyond
  /// 10¹⁴, and nanoseconds beyond 10¹⁷. Default: zero.
  public var lookBack: Duration
  /// The look-back from numbers, in their own unit; nil to use `lookBack`.
  package var numberLookBack: Int64?
  /// The name of the requests to which stored values belong. An increment with another scope reads
  /// everything. Default: the path of the field.
  package var scope: String?
  /// Whether the listing begins with the newest item. Reading then stops after the first page whose
  /// last item is older than the value asked for. Default false.
  ///
  /// Older items between newer ones, such as pinned ones, are left out. The export fails with
  /// `SinkError.Code.unfit` if values are texts whose order is unknown: neither times nor numbers,
  /// nor texts of equal length that consist of letters and digits or begin with a year.
  public var isNewestFirst: Bool

  /// Creates an increment by a field.
  public init(
    _ field: PagePath, key: PagePath? = nil, lookBack: Duration = .zero, isNewestFirst: Bool = false
  ) {
    self.field = field
    self.key = key
    self.lookBack = lookBack
    self.isNewestFirst = isNewestFirst
  }

  /// Whether the next run can begin before `value`: it is a time or a number.
  package static func canLookBack(from value: JSONValue) -> Bool {
    guard case .string(let text) = value else { return true }
    return IncrementTime(text) != nil || text.decimal != nil || ScriptTime(text) != nil
  }

  /// Whether `value` says by itself that it is a time, and one after `seconds` since 1970. Numbers do
  /// not say it.
  package static func isTime(_ value: JSONValue, after seconds: Double) -> Bool {
    guard let text = value.string else { return false }
    let time =
      ScriptTime(text).map { $0.milliseconds / 1000 }
      ?? IncrementTime(text)?.date.timeIntervalSince1970
    return time.map { $0 > seconds } ?? false
  }

  /// Returns the greater of two values.
  package static func greater(
    _ left: JSONValue, _ right: JSONValue
  ) throws(SinkError) -> JSONValue {
    try IncrementMachine.isLess(left, right) ? right : left
  }

  /// Returns the value at which one of several listings begins. It is `since`, the value for all of
  /// them, unless that is a number too small for a time since 1970: such numbers may count in each
  /// listing, and begin at the listing's own greatest value.
  package func beginning(
    _ since: JSONValue, behind greatest: JSONValue
  ) throws(SinkError) -> JSONValue {
    guard case .number(let text) = greatest, let all = Double(since.description), all < 5e8,
      let own = IncrementMachine.less(text, by: numberLookBack ?? 0)
    else { return since }
    return try IncrementMachine.isLess(own, since) ? own : since
  }
}

/// Decides what a run requests, and which of its items are new.
struct IncrementMachine {
  private let increment: Increment
  /// The value that this run asks for; nil to ask for everything.
  private(set) var since: JSONValue?
  /// Whether items are missing from this run: the next one then asks for the same value.
  var fellShort = false
  /// The greatest value of all runs.
  private var greatest: JSONValue?
  /// The items at or after the value at which the next run begins, by their keys. Cleared of older
  /// ones when their number exceeds `pruneThreshold`.
  private var recent: [JSONValue: Known] = [:]
  /// The size of `recent` at which older items are dropped.
  private var pruneThreshold = 1_024
  /// The value at which the next run begins, computed from `greatest`; nil until it is needed.
  private var nextSince: JSONValue?
  /// `recent` as the previous run left it, and its stored form.
  private let before: [JSONValue: Known]
  private let storedBefore: JSONValue
  /// When the run began, in seconds since 1970: by the clock here or the server's, whichever is
  /// behind, and by the clock here.
  private var began: ClosedRange<Double>

  private struct Known {
    var value: JSONValue
    var digest: String
  }

  /// Continues a run, or begins the one after it, with the memory of its checkpoint.
  init(
    _ increment: Increment, memory: JSONValue?, isNewRun: Bool, at now: Double
  ) throws(SinkError) {
    self.increment = increment
    let scope = increment.scope ?? increment.field.text
    // Values of another field or another request do not apply to this one.
    let isOfOthers = memory?["scope"].map { $0.string != scope } ?? false
    let memory = isOfOthers ? nil : memory
    since = memory?["since"]
    greatest = memory?["greatest"]
    recent = Self.known(memory?["recent"])
    before = isNewRun ? recent : Self.known(memory?["before"])
    storedBefore = Self.stored(before)
    let earliest = memory?["began"].flatMap { Double($0.description) } ?? now
    let here = memory?["clock"].flatMap { Double($0.description) } ?? earliest
    let lastBegan = earliest...max(earliest, here)
    began = isNewRun ? now...now : lastBegan
    let isShort = memory?["fellShort"] == .bool(true)
    guard isNewRun, !isShort else {
      fellShort = isShort && !isNewRun
      return
    }
    since = try greatest.map { value throws(SinkError) in
      try Self.start(of: value, increment, lastBegan)
    }
  }

  /// The memory to store in the checkpoint. Encodes all known items, so it is only used once for
  /// each commit.
  var memory: JSONValue {
    var members: [JSONValue.Member] = []
    if let since { members.append(.init("since", since)) }
    if let greatest { members.append(.init("greatest", greatest)) }
    members.append(.init("began", .number("\(began.lowerBound)")))
    members.append(.init("clock", .number("\(began.upperBound)")))
    members.append(.init("scope", .string(increment.scope ?? increment.field.text)))
    members.append(.init("recent", Self.stored(seenAgain)))
    members.append(.init("before", storedBefore))
    if fellShort { members.append(.init("fellShort", .bool(true))) }
    return .object(members)
  }

  /// Notes the server's time in seconds since 1970, as a page tells it. By a clock that is ahead
  /// here, what changes during the run would lie before its beginning, and never be read again.
  mutating func note(serverTime: Double) {
    guard serverTime < began.lowerBound else { return }
    (began, nextSince) = (serverTime...began.upperBound, nil)
  }

  /// Returns the new items of a page, and whether the listing has reached items of earlier runs.
  mutating func take(_ items: [RawItem]) throws -> (new: [RawItem], isOver: Bool) {
    var new: [RawItem] = []
    var isOver = false
    for item in items {
      guard let value = try item.valueIfUnicode(at: increment.field), value != .null else {
        new.append(item)
        continue
      }
      if increment.isNewestFirst {
        try checkOrder(of: value, and: since ?? greatest ?? value)
        isOver = try since.map { try Self.isLess(value, $0) } ?? false
        if isOver { continue }
      }
      guard let path = increment.key else {
        greatest = try greatest.map { try Self.isLess($0, value) ? value : $0 } ?? value
        new.append(item)
        continue
      }
      guard let key = try item.valueOrText(at: path) else {
        throw SinkError(.unfit, "An item has nothing at \(path.place), where its key should be.")
      }
      let digest = item.digest
      let isKnown = (recent[key] ?? before[key])?.digest == digest
      try note(key, Known(value: value, digest: digest))
      if !isKnown { new.append(item) }
    }
    return (new, isOver)
  }

  private mutating func note(_ key: JSONValue, _ known: Known) throws {
    if try greatest.map({ try Self.isLess($0, known.value) }) ?? true {
      (greatest, nextSince) = (known.value, nil)
    }
    guard let greatest else { return }
    let start = try nextSince ?? Self.start(of: greatest, increment, began)
    nextSince = start
    guard try !Self.isLess(known.value, start) else { return }
    recent[key] = known
    // Not done for each item, which would take quadratic time.
    guard recent.count > pruneThreshold else { return }
    recent = try recent.filter { try !Self.isLess($0.value.value, start) }
    pruneThreshold = max(pruneThreshold, 2 * recent.count)
  }

  /// The items of `recent` that the next run may read again.
  private var seenAgain: [JSONValue: Known] {
    guard let nextSince else { return recent }
    return recent.filter { (try? Self.isLess($0.value.value, nextSince)) != true }
  }

  private static func stored(_ known: [JSONValue: Known]) -> JSONValue {
    let entries = known.map { key, known in
      let entry: JSONValue = .array([key, known.value, .string(known.digest)])
      return (text: entry.description, entry: entry)
    }
    return .array(entries.sorted { $0.text < $1.text }.map(\.entry))
  }

  private static func known(_ stored: JSONValue?) -> [JSONValue: Known] {
    guard case .array(let entries)? = stored else { return [:] }
    var known: [JSONValue: Known] = [:]
    for case .array(let parts) in entries where parts.count == 3 {
      known[parts[0]] = Known(value: parts[1], digest: parts[2].string ?? "")
    }
    return known
  }
}

// MARK: - Values

extension IncrementMachine {
  /// Returns the value at which the next run begins. `value` is the greatest value, `began` the
  /// time at which the run that read it began.
  private static func start(
    of value: JSONValue, _ increment: Increment, _ began: ClosedRange<Double>
  ) throws(SinkError) -> JSONValue {
    let seconds = increment.lookBack / .seconds(1)
    switch value {
    case .number(let text):
      if let (latest, second) = beginning(of: text, began) {
        let back = increment.numberLookBack.map(Double.init) ?? seconds * second
        guard let start = Int64(exactly: (latest - back).rounded(.down)) else { break }
        return .number("\(start)")
      }
      if let back = increment.numberLookBack { return less(text, by: back) ?? value }
      guard seconds > 0 else { return value }
      guard let number = Double(text), number.isFinite else { break }
      let unit = units.last { abs(number) > $0 * 1e8 } ?? 1
      let start = (min(number, began.lowerBound * unit) - seconds * unit).rounded(.down)
      guard let start = Int64(exactly: start) else { break }
      return .number("\(start)")
    case .string(let text) where text.decimal != nil:
      let start = try start(of: .number(text), increment, began).description
      // A whole number gets as many decimals as the text has.
      let decimals = start.contains(".") ? 0 : text.decimal?.fraction.count ?? 0
      return .string(decimals == 0 ? start : "\(start).\(String(repeating: "0", count: decimals))")
    case .string(let text):
      if let time = ScriptTime(text) {
        let latest = min(time.milliseconds, began.lowerBound * 1000)
        guard let start = Int64(exactly: (latest - seconds * 1000).rounded(.down)) else { break }
        return .string("/Date(\(start)\(time.zone))/")
      }
      guard let time = IncrementTime(text) else {
        guard seconds > 0, increment.numberLookBack == nil else { return value }
        break
      }
      let beginning = Date(timeIntervalSince1970: began.lowerBound - time.zoneUncertainty)
      let latest = min(time.date, beginning)
      guard latest < time.date || seconds > 0 else { return value }
      return .string(time.text(of: latest - seconds))
    default: break
    }
    throw SinkError(
      .unfit,
      "\(value.description.prefix(40)) at \(increment.field.place) is neither a time (RFC 3339) nor a "
        + "number: there is no look-back from it.")
  }

  /// The numbers of seconds, milliseconds, microseconds and nanoseconds in a second.
  private static let units = [1.0, 1e3, 1e6, 1e9]

  /// Returns the time at which a run began in the unit of `text`, and the number of units in a
  /// second; nil if `text` is not a time at most two days after it, in one of `units` since 1970.
  private static func beginning(
    of text: String, _ began: ClosedRange<Double>
  ) -> (Double, second: Double)? {
    guard let number = Double(text) else { return nil }
    for second in units
    where number > began.lowerBound * second && number < (began.upperBound + 172_800) * second {
      return (began.lowerBound * second, second)
    }
    return nil
  }

  /// Throws if the order of two texts is unknown, as for dates that begin with the day: the listing
  /// might be left too early.
  private func checkOrder(of left: JSONValue, and right: JSONValue) throws(SinkError) {
    guard case .string(let left) = left, case .string(let right) = right else { return }
    let texts = [left, right]
    // Tries times last, because parsing them takes the longest and most texts have equal lengths.
    let isOrdered =
      left.utf8.count == right.utf8.count
      && texts.allSatisfy { $0.prefix(4).isWhole || $0.utf8.allSatisfy(\.isLetterOrDigit) }
      || texts.allSatisfy { $0.decimal != nil } || texts.allSatisfy { IncrementTime($0) != nil }
      || texts.allSatisfy { ScriptTime($0) != nil }
    guard !isOrdered else { return }
    throw SinkError(
      .unfit,
      "\(ServerText(left, limit: 40)) at \(increment.field.place) is neither a time (RFC 3339) nor a number: which "
        + "of two such texts is newer cannot be told. Read the listing to its end, without newestFirst."
    )
  }

  fileprivate static func less(_ text: String, by back: Int64) -> JSONValue? {
    if back == 0 { return .number(text) }
    if let whole = Int64(text) {
      let (difference, isOver) = whole.subtractingReportingOverflow(back)
      return isOver ? nil : .number("\(difference)")
    }
    guard let number = Decimal(string: text) else { return nil }
    return .number("\(number - Decimal(back))")
  }

  /// Returns whether a value precedes another. Throws `SinkError` with the code `unfit` if they
  /// cannot be compared.
  static func isLess(_ left: JSONValue, _ right: JSONValue) throws(SinkError) -> Bool {
    switch (left, right) {
    case (.number(let left), .number(let right)):
      if let left = Int64(left), let right = Int64(right) { return left < right }
      if let left = Double(left), let right = Double(right) { return left < right }
    case (.string(let left), .string(let right)):
      if let left = IncrementTime(left), let right = IncrementTime(right) {
        return left.date < right.date
      }
      if let left = ScriptTime(left), let right = ScriptTime(right) {
        return left.milliseconds < right.milliseconds
      }
      if let left = left.decimal, let right = right.decimal {
        guard left.whole.count == right.whole.count else {
          return left.whole.count < right.whole.count
        }
        guard left.whole.elementsEqual(right.whole) else {
          return left.whole.lexicographicallyPrecedes(right.whole)
        }
        return left.fraction.lexicographicallyPrecedes(right.fraction)
      }
      return left.utf8.lexicographicallyPrecedes(right.utf8)
    default: break
    }
    throw SinkError(
      .unfit,
      "\(left.description.prefix(40)) and \(right.description.prefix(40)) cannot be compared: a field that "
        + "increments are told by has one type.")
  }
}

extension StringProtocol {
  /// Whether the text is a whole number without a sign, of any length.
  fileprivate var isWhole: Bool { !isEmpty && utf8.allSatisfy(\.isDigit) }
}

extension String {
  /// The parts of a whole number of any length, without zeros in front, or of a time in seconds with
  /// a fraction; nil for any other text, such as the number of a version.
  fileprivate var decimal: (whole: Substring.UTF8View, fraction: Substring.UTF8View)? {
    let parts = split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts[0].isWhole, parts.count == 1 || parts[1].isWhole && parts[0].utf8.count >= 9 else {
      return nil
    }
    let fraction: Substring = parts.count == 1 ? "" : parts[1]
    return (parts[0].drop { $0 == "0" }.utf8, fraction.utf8)
  }
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool { isDigit || (0x61...0x7A).contains(self | 0x20) }
}

/// JSON allows half a surrogate pair (RFC 8259, section 8.2), which is not a character and cannot
/// be decoded. These methods let an export continue with the text as the server wrote it.
extension RawItem {
  /// Returns the value at a path; if it contains half a surrogate pair, its JSON text.
  func valueOrText(at path: PagePath) throws -> JSONValue? {
    do {
      return try value(at: path)
    } catch let error as PageError where error.code == .malformed {
      return try compact(at: path).map { .string(String(decoding: $0, as: UTF8.self)) }
    }
  }

  /// Returns the value at a path; nil also if it contains half a surrogate pair.
  package func valueIfUnicode(at path: PagePath) throws -> JSONValue? {
    do {
      return try value(at: path)
    } catch let error as PageError where error.code == .malformed {
      return nil
    }
  }
}
