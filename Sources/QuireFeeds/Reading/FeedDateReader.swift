import QuirePagination
import QuireXML

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Parses dates as feeds write them.
public enum FeedDate {
  /// Parses a date in any form that feeds use. Returns nil if the text is not a date.
  public static func read(_ text: String) -> Date? {
    FeedDateReader.read(text, as: .rfc3339)?.date
  }
}

/// Parses dates in every form that feeds use, and checks whether they are in the form that their
/// format requires.
///
/// Supports RFC 822 and 2822 with correct, wrong or missing day names, two-digit years, and zones
/// by name or number; RFC 3339 and other profiles of ISO 8601 (W3C-DTF); C's `asctime`; HTTP dates;
/// dates that begin with the month's name; `yyyy/mm/dd`, `yy-mm-dd`, `dd.mm.yyyy`, `mm/dd/yyyy`;
/// times with AM and PM; and seconds or milliseconds since 1970. Month names may be in twenty-one
/// languages; the Chinese, Japanese and Korean characters for year, month and day are read, too. A
/// time without a zone, or in an unknown one, is UTC (RFC 2822, §4.3). A date before the year 2 is
/// not read.
enum FeedDateReader {
  /// The forms of dates that formats require.
  enum Style {
    /// RSS: RFC 822, with years of two or four digits.
    case rfc822
    /// JSON Feed: RFC 3339, which allows a lowercase `t` and `z`.
    case rfc3339
    /// Atom: RFC 3339 with `T` and `Z` (RFC 4287, §3.3).
    case atom
    /// Dublin Core, sitemaps: W3C-DTF, which also allows a year or a month alone.
    case w3c
  }

  /// A parsed date.
  struct Finding: Equatable {
    var seconds: Double
    /// Whether the date is in the form that its format requires.
    var isProper: Bool

    var date: Date { Date(timeIntervalSince1970: seconds) }
  }

  /// The beginning of the year 2. Programs that have no date write the first one that they know: Go
  /// and .NET 0001-01-01, PHP -0001-11-30.
  private static let earliest = -62_104_060_800.0

  /// Parses a date. Returns nil if the text is not a date.
  static func read(_ text: String, as style: Style) -> Finding? {
    finding(text, as: style).flatMap { $0.seconds < earliest ? nil : $0 }
  }

  private static func finding(_ text: String, as style: Style) -> Finding? {
    // No date is longer.
    guard text.utf8.count <= 128 else { return nil }
    let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
    var text = isASCII ? text : eastern(text)
    return text.withUTF8 { buffer in
      let bytes = XMLText.trimmed(buffer)
      if style == .rfc822, let seconds = common(bytes) {
        return Finding(seconds: seconds, isProper: true)
      }
      if let iso = ISODate.read(bytes[...]) {
        return Finding(
          seconds: iso.seconds, isProper: isASCII && ISODate.isProper(bytes[...], style))
      }
      var words = WordDate(bytes[...])
      guard let found = words.read() else { return nil }
      return Finding(
        seconds: found.seconds, isProper: isASCII && style == .rfc822 && found.isRFC822)
    }
  }
}

extension FeedDateReader {
  private static let months = Array("JanFebMarAprMayJunJulAugSepOctNovDec".utf8)
  private static let weekdays = Array("MonTueWedThuFriSatSun".utf8)

  /// Returns the seconds since 1970 of a date in RSS's most common form, for speed: `Tue, 03 Jun
  /// 2003 09:39:21 GMT`, or with `+0200` at the end. Any other form, and any error, is nil, and
  /// left to the general parser.
  private static func common(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    guard text.count == 29 || text.count == 31, text[3] == 0x2C, text[4] == 0x20, text[7] == 0x20,
      text[11] == 0x20, text[16] == 0x20, text[19] == 0x3A, text[22] == 0x3A, text[25] == 0x20,
      let weekday = place(of: text, at: 0, in: weekdays),
      let month = place(of: text, at: 8, in: months),
      let day = number(text, 5), let century = number(text, 12), let year = number(text, 14),
      let hour = number(text, 17), let minute = number(text, 20), let second = number(text, 23),
      let offset = offset(text)
    else { return nil }
    let whole = century * 100 + year
    guard let date = CivilTime.day(whole, month + 1, day),
      CivilTime.weekday(ofDay: date) == weekday
    else { return nil }
    return CivilTime.seconds(
      whole, month + 1, day, hour, minute, Double(second), offset: offset)
  }

  /// Returns the offset of `GMT` or `+0200` at the end, in seconds east of UTC.
  private static func offset(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
    if text.count == 29 { return text[26...].elementsEqual("GMT".utf8) ? 0 : nil }
    guard text[26] == 0x2B || text[26] == 0x2D, let hours = number(text, 27), hours <= 15,
      let minutes = number(text, 29), minutes < 60
    else { return nil }
    return (text[26] == 0x2D ? -1 : 1) * (hours * 3_600 + minutes * 60)
  }

  /// Returns a two-digit number.
  private static func number(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> Int? {
    let (first, second) = (text[place] &- 0x30, text[place + 1] &- 0x30)
    return first < 10 && second < 10 ? Int(first) * 10 + Int(second) : nil
  }

  /// Returns the index of a three-letter abbreviation among months or days.
  private static func place(
    of text: UnsafeBufferPointer<UInt8>, at start: Int, in names: [UInt8]
  ) -> Int? {
    (0..<names.count / 3).first {
      names[$0 * 3] == text[start] && names[$0 * 3 + 1] == text[start + 1]
        && names[$0 * 3 + 2] == text[start + 2]
    }
  }

  /// Rewrites a date with Chinese, Japanese or Korean characters, or with typographic spaces and
  /// dashes, in common characters.
  private static func eastern(_ text: String) -> String {
    var result = ""
    var half = ""
    for character in text {
      switch character {
      case "年", "년": result.append("-")
      case "月", "월": writeMonth(to: &result)
      case "日", "일", "秒", "초": result.append(" ")
      case "時", "时", "시", "分", "분": result.append(":")
      case "上", "下", "午", "오": half.append(character)
      case "\u{A0}", "\u{2009}", "\u{202F}": result.append(" ")
      case "\u{2010}"..."\u{2013}", "\u{2212}": result.append("-")
      case "前", "전": half = " AM"
      case "後", "后", "후": half = " PM"
      default: result.append(character)
      }
    }
    guard result != text || !half.isEmpty else { return text }
    if half == "上午" { half = " AM" }
    if half == "下午" { half = " PM" }
    for sign in ["-", ":"] { result = result.replacing(sign + " ", with: sign) }
    while let last = result.last, "-: ".contains(last) { result.removeLast() }
    return result + (half.count == 3 ? half : "")
  }

  /// Ends a date at the character for a month. The number before it is the month: if that follows
  /// the year, as in `2003年6月3日`, a dash separates it from the day, and else, as in `03 6月 2003`,
  /// its English name replaces it.
  private static func writeMonth(to result: inout String) {
    let digits = result.reversed().prefix { "0123456789一二三四五六七八九十".contains($0) }
    let text = String(digits.reversed())
    guard let month = Int(text) ?? numerals.firstIndex(of: text).map({ $0 + 1 }),
      1...12 ~= month
    else { return result.append("-") }
    result.removeLast(text.count)
    while result.last == " " { result.removeLast() }
    if result.last == "-" || result.last == "/" {
      result += "\(month)-"
    } else {
      result += " \(String(decoding: months[(month * 3 - 3)..<(month * 3)], as: UTF8.self)) "
    }
  }

  /// The Chinese numbers of the months.
  private static let numerals = [
    "一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二",
  ]
}

/// A date that begins with its year: RFC 3339, W3C-DTF and other profiles of ISO 8601; or a number
/// of seconds or milliseconds since 1970.
private struct ISODate {
  var seconds: Double

  static func read(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> ISODate? {
    var reader = DateScanner(rest: text)
    guard let year = reader.number(exactly: 4) else { return nil }
    if let date = epoch(text) { return date }
    // The year alone.
    if reader.isAtEnd { return make(year, 1, 1) }
    if reader.take("-") { return extended(year, &reader) }
    if reader.take("/") || reader.take(".") {
      guard let month = reader.number(upTo: 2), reader.take("/") || reader.take("."),
        let day = reader.number(upTo: 2)
      else { return nil }
      return timed(year, month, day, &reader)
    }
    // yyyyddd, and yyyymmdd.
    let start = reader
    if let ordinal = reader.number(exactly: 3), reader.isAtEnd {
      return Self.ordinal(year, ordinal)
    }
    reader = start
    guard let month = reader.number(exactly: 2), let day = reader.number(exactly: 2) else {
      return nil
    }
    return timed(year, month, day, &reader)
  }

  /// Whether a date is in the form that its format requires, of which `read` forgives much.
  static func isProper(
    _ text: Slice<UnsafeBufferPointer<UInt8>>, _ style: FeedDateReader.Style
  ) -> Bool {
    guard style != .rfc822 else { return false }
    var reader = DateScanner(rest: text)
    guard reader.number(exactly: 4) != nil else { return false }
    for _ in 0..<2 {
      if reader.isAtEnd { return style == .w3c }
      guard reader.take("-"), reader.number(exactly: 2) != nil else { return false }
    }
    if reader.isAtEnd { return style == .w3c }
    guard reader.take("T") || style == .rfc3339 && reader.take("t"),
      let hour = reader.number(exactly: 2), hour < 24, reader.take(":"),
      reader.number(exactly: 2) != nil
    else { return false }
    if reader.take(":") {
      guard reader.number(exactly: 2) != nil else { return false }
      if reader.take(".") {
        guard reader.peekIsDigit else { return false }
        reader.skip("0123456789")
      }
    } else if style != .w3c {
      return false
    }
    if reader.take("Z") || style == .rfc3339 && reader.take("z") { return reader.isAtEnd }
    guard reader.take("+") || reader.take("-"), reader.number(exactly: 2) != nil,
      reader.take(":"), reader.number(exactly: 2) != nil
    else { return false }
    return reader.isAtEnd
  }

  private static func make(_ year: Int, _ month: Int, _ day: Int) -> ISODate? {
    CivilTime.seconds(year, month, day).map { ISODate(seconds: $0) }
  }

  /// Parses seconds since 1970 (9 or 10 digits), or milliseconds (13 digits).
  private static func epoch(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> ISODate? {
    guard text.allSatisfy({ 0x30...0x39 ~= $0 }),
      text.count == 9 || text.count == 10 || text.count == 13
    else { return nil }
    let number = text.reduce(0) { $0 * 10 + Double($1 - 0x30) }
    return ISODate(seconds: text.count == 13 ? number / 1_000 : number)
  }

  /// Returns a date by its day of the year.
  private static func ordinal(_ year: Int, _ day: Int) -> ISODate? {
    guard let start = CivilTime.seconds(year, 1, 1), let end = CivilTime.seconds(year, 12, 31)
    else { return nil }
    let seconds = start + Double(day - 1) * 86_400
    return start...end ~= seconds ? ISODate(seconds: seconds) : nil
  }

  /// Parses the rest of a date after `yyyy-`.
  private static func extended(_ year: Int, _ reader: inout DateScanner) -> ISODate? {
    let start = reader
    // yyyy-ddd.
    if let ordinal = reader.number(exactly: 3), reader.isAtEnd {
      return Self.ordinal(year, ordinal)
    }
    reader = start
    guard let month = reader.number(upTo: 2) else { return nil }
    if reader.isAtEnd { return make(year, month, 1) }
    guard reader.take("-"), let day = reader.number(upTo: 2) else { return nil }
    return timed(year, month, day, &reader)
  }

  /// Parses the time and the zone after a date, if there are any.
  private static func timed(
    _ year: Int, _ month: Int, _ day: Int, _ reader: inout DateScanner
  ) -> ISODate? {
    if reader.isAtEnd { return make(year, month, day) }
    let isT = reader.take("T") || reader.take("t")
    if !isT {
      // "2003-12-31Z" and "2003-12-31+01:00" are dates of XML Schema.
      if let offset = reader.zone(), reader.isAtEnd {
        return CivilTime.seconds(year, month, day, offset: offset.seconds).map {
          ISODate(seconds: $0)
        }
      }
      guard reader.skipSpaces() > 0 || reader.take(",") else { return nil }
      _ = reader.skipSpaces()
    }
    let whole = reader.time(isAfterT: isT)
    // After `T`, ISO 8601 allows the hour alone.
    let hour = isT && whole == nil ? reader.number(exactly: 2) : nil
    guard let time = whole ?? hour.map({ DateScanner.Time(hour: $0) }) else { return nil }
    _ = reader.skipSpaces()
    let zone = reader.zone()
    _ = reader.skipSpaces()
    guard reader.isAtEnd else { return nil }
    return CivilTime.seconds(
      year, month, day, time.hour, time.minute, time.second, offset: zone?.seconds ?? 0
    ).map { ISODate(seconds: $0) }
  }
}

/// A date with the name of a month, or with its day or month first.
private struct WordDate {
  private var reader: DateScanner

  init(_ text: Slice<UnsafeBufferPointer<UInt8>>) { reader = DateScanner(rest: text) }

  private struct Parts {
    var weekday: Int?
    /// Whether the date begins with a day of the week, in any language.
    var beginsWithDay = false
    var numbers: [(value: Int, digits: Int)] = []
    /// The character after the first number: a dash, a slash or a dot; nil for any other.
    var separator: Unicode.Scalar?
    var month: Int?
    /// The number of numbers before the month.
    var numbersBeforeMonth = 0
    /// Whether the month may be a day of the week instead, such as the French `mar.`.
    var mayBeDay = false
    var time: DateScanner.Time?
    var zone: DateScanner.Zone?
    /// Whether a part of the date is in a form that RFC 822 does not allow.
    var isOdd = false
  }

  mutating func read() -> (seconds: Double, isRFC822: Bool)? {
    guard let parts = parts(), let (year, month, day, digits) = date(of: parts) else { return nil }
    let time = parts.time ?? .init()
    guard
      let seconds = CivilTime.seconds(
        year, month, day, time.hour, time.minute, time.second, offset: parts.zone?.seconds ?? 0)
    else { return nil }
    let weekday = CivilTime.day(year, month, day).map(CivilTime.weekday)
    let weekdayIsRight = parts.weekday == nil || parts.weekday == weekday
    let isProper =
      parts.time != nil && parts.zone?.isInRFC822 == true && weekdayIsRight && !parts.isOdd
      && !time.isTwelveHour && parts.numbersBeforeMonth == 1 && digits != 3
      && time.second == time.second.rounded(.down)
    return (seconds, isProper)
  }

  /// Splits a date into its parts. Returns nil if it contains anything else.
  private mutating func parts() -> Parts? {
    var parts = Parts()
    while true {
      reader.skip(" \t\n\r")
      while reader.take(",") {
        // RFC 822 has one only after the day of the week.
        if !parts.numbers.isEmpty { parts.isOdd = true }
        reader.skip(" \t\n\r")
      }
      guard !reader.isAtEnd else { return parts }
      if reader.peekIsDigit {
        let start = reader
        if parts.time == nil, let time = reader.time() {
          parts.time = time
          continue
        }
        reader = start
        if parts.time == nil, parts.month != nil, parts.numbers.count == 2,
          let time = reader.dottedTime()
        {
          (parts.time, parts.isOdd) = (time, true)
          continue
        }
        reader = start
        guard let (value, digits) = reader.digits(), parts.numbers.count < 3 else { return nil }
        parts.numbers.append((value, digits))
        if let separator = (["-", "/", "."] as [Unicode.Scalar]).first(where: { reader.take($0) }) {
          if parts.numbers.count == 1 { parts.separator = separator }
          parts.isOdd = true
        }
        reader.takeOrdinal()
      } else if parts.time != nil, parts.zone == nil, let zone = reader.zone() {
        parts.zone = zone
      } else if reader.take("(") {
        // A comment (RFC 822, §3.4.3).
        if !reader.skip(through: ")") { parts.isOdd = true }
      } else {
        guard take(&parts) else { return nil }
      }
    }
  }

  /// Parses a word: a day, a month, a zone, or a filler.
  private mutating func take(_ parts: inout Parts) -> Bool {
    let word = reader.word()
    guard !word.isEmpty else {
      // A stray character, such as in "-0-" or "'".
      parts.isOdd = true
      return reader.skipOne()
    }
    if parts.month == nil || parts.mayBeDay, let month = DateWords.month(word) {
      if parts.mayBeDay { parts.isOdd = true }
      parts.mayBeDay =
        parts.month == nil && parts.numbers.isEmpty && DateWords.mayBeWeekday(word)
      parts.month = month.number
      parts.numbersBeforeMonth = parts.numbers.count
      if !month.isEnglish { parts.isOdd = true }
      if reader.take("-") || reader.take("/") || reader.take(".") { parts.isOdd = true }
      return true
    }
    if parts.weekday == nil, let day = DateWords.weekday(word) {
      parts.weekday = day
      parts.beginsWithDay = parts.numbers.isEmpty
      if word.count != 3 { parts.isOdd = true }
      _ = reader.take(".")
      return true
    }
    parts.isOdd = true
    if DateWords.isFiller(word) { return true }
    if DateWords.mayBeWeekday(word) {
      if parts.numbers.isEmpty { parts.beginsWithDay = true }
      return true
    }
    // A day in another language before the date, or an unknown zone after it.
    let isBefore = parts.numbers.isEmpty && parts.month == nil && parts.time == nil
    let isBehind = parts.time != nil && parts.numbers.count == (parts.month == nil ? 3 : 2)
    guard isBefore else { return isBehind }
    parts.beginsWithDay = !reader.isAtEnd && (reader.take(",") || reader.take("."))
    return parts.beginsWithDay
  }

  /// Returns the year, the month and the day, and the number of digits of the year.
  private func date(of parts: Parts) -> (Int, Int, Int, Int)? {
    let numbers = parts.numbers
    if let month = parts.month {
      guard numbers.count == 2 else { return nil }
      // "31 Dec 2003", "Dec 31 2003", "2003 Dec 31".
      let yearFirst = numbers[0].digits == 4
      let (year, day) = yearFirst ? (numbers[0], numbers[1]) : (numbers[1], numbers[0])
      return (Self.year(year), month, day.value, year.digits)
    }
    guard numbers.count == 3 else { return nil }
    // "2003/12/31" with more text around it, and "03-12-31".
    let isShort =
      parts.separator == "-" && numbers.allSatisfy { $0.digits == 2 } && numbers[2].value > 12
    if numbers[0].digits == 4 || isShort {
      return (Self.year(numbers[0]), numbers[1].value, numbers[2].value, numbers[0].digits)
    }
    // "31.12.2003", "12/31/2003", "Tue, 31 12 2003"; if ambiguous, slashes mean that the month is
    // first.
    let (first, second, last) = (numbers[0].value, numbers[1].value, numbers[2])
    let hasSpaces = parts.separator == nil && parts.beginsWithDay
    let isDayFirst = first > 12 || (second <= 12 && (parts.separator == "." || hasSpaces))
    return isDayFirst
      ? (Self.year(last), second, first, last.digits)
      : (Self.year(last), first, second, last.digits)
  }

  /// Returns a full year. Two digits up to 68 are in this century (RFC 2822, §4.3, has the limit at
  /// 49; POSIX at 68), and three count from 1900.
  private static func year(_ number: (value: Int, digits: Int)) -> Int {
    switch number.digits {
    case ...2: number.value + (number.value < 69 ? 2_000 : 1_900)
    case 3: number.value + 1_900
    default: number.value
    }
  }
}
