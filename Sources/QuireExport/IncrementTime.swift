import Foundation
import QuirePagination

/// A time as servers write it: a day, with `-` or `/`, or a time in ISO 8601, extended or basic,
/// perhaps with a space between day and time or in front of the zone, or without a zone.
struct IncrementTime {
  let date: Date
  /// What stands between the parts of the day, between day and time, and between the parts of the
  /// time; empty for nothing.
  private let daySeparator: String
  private let separator: String
  private let clockSeparator: String
  /// The zone as a time in UTC has it; empty for none.
  private let zone: String

  /// The number of seconds by which a time without a zone may be behind UTC: twelve hours, in the
  /// westernmost zone.
  var zoneUncertainty: Double { separator.isEmpty || !zone.isEmpty ? 0 : 12 * 3600 }

  /// Creates a time; nil for text that is not a time.
  init?(_ text: String) {
    var rest = text.utf8[...]
    guard let year = Self.number(4, &rest) else { return nil }
    daySeparator = Self.take("-/", &rest)
    guard let month = Self.number(2, &rest), Self.take("-/", &rest) == daySeparator,
      let day = Self.number(2, &rest)
    else { return nil }
    guard !rest.isEmpty else {
      // Eight digits are a number.
      guard !daySeparator.isEmpty, let seconds = CivilTime.seconds(year, month, day) else {
        return nil
      }
      (separator, clockSeparator, zone) = ("", "", "")
      date = Date(timeIntervalSince1970: seconds)
      return
    }
    separator = Self.take("Tt ", &rest)
    guard !separator.isEmpty, let hour = Self.number(2, &rest) else { return nil }
    clockSeparator = Self.take(":", &rest)
    guard let minute = Self.number(2, &rest), let second = Self.second(clockSeparator, &rest),
      let found = Self.zone(rest),
      let seconds = CivilTime.seconds(year, month, day, hour, minute, second, offset: found.offset)
    else { return nil }
    zone = found.text
    date = Date(timeIntervalSince1970: seconds)
  }

  /// Takes the seconds with their fraction, which may be missing; nil if they are malformed.
  private static func second(_ separator: String, _ rest: inout Substring.UTF8View) -> Double? {
    let hasSeconds =
      separator.isEmpty ? rest.first?.isDigit == true : !take(separator, &rest).isEmpty
    guard hasSeconds else { return 0 }
    guard let whole = number(2, &rest) else { return nil }
    guard !take(".,", &rest).isEmpty else { return Double(whole) }
    let decimals = Substring(rest.prefix(while: \.isDigit))
    rest = rest.dropFirst(decimals.utf8.count)
    return Double("\(whole).\(decimals)")
  }

  /// Returns the zone that is all the rest, as a time in UTC has it, and its seconds east of UTC; nil
  /// if it is none.
  private static func zone(_ rest: Substring.UTF8View) -> (text: String, offset: Int)? {
    guard !rest.isEmpty else { return ("", 0) }
    var rest = rest
    let space = take(" ", &rest)
    let name = Substring(rest).uppercased()
    if ["Z", "UTC", "GMT"].contains(name) { return (space + name, 0) }
    let sign = take("+-", &rest)
    guard !sign.isEmpty, let hours = number(2, &rest) else { return nil }
    let colon = take(":", &rest)
    guard let minutes = rest.isEmpty && colon.isEmpty ? 0 : number(2, &rest), rest.isEmpty else {
      return nil
    }
    let offset = (hours * 3600 + minutes * 60) * (sign == "-" ? -1 : 1)
    guard !space.isEmpty else { return ("Z", offset) }
    let zeros = String(name.dropFirst().map { $0 == ":" ? $0 : "0" })
    return (" +" + zeros, offset)
  }

  /// Takes one of some characters; empty if there is none.
  private static func take(_ characters: String, _ rest: inout Substring.UTF8View) -> String {
    guard let first = rest.first, characters.utf8.contains(first) else { return "" }
    rest = rest.dropFirst()
    return String(Unicode.Scalar(first))
  }

  private static func number(_ count: Int, _ rest: inout Substring.UTF8View) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(\.isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// Returns another time to the second, in the notation of this one; in UTC if this one has a
  /// zone.
  func text(of date: Date) -> String {
    let text = date.formatted(.iso8601)
    let day = text.prefix(10).replacing("-", with: daySeparator)
    guard !separator.isEmpty else { return String(day) }
    let clock = text.dropFirst(11).prefix(8).replacing(":", with: clockSeparator)
    return "\(day)\(separator)\(clock)\(zone)"
  }
}

/// A time as ASP.NET writes it, in milliseconds since 1970: `/Date(1700000000000)/`, perhaps with a
/// zone, `/Date(1700000000000+0200)/`, which does not change the time.
struct ScriptTime {
  let milliseconds: Double
  let zone: Substring

  /// Creates a time; nil for any other text.
  init?(_ text: String) {
    guard text.hasPrefix("/Date("), text.hasSuffix(")/") else { return nil }
    let parts = text.dropFirst(6).dropLast(2)
    let sign = parts.dropFirst().firstIndex { $0 == "+" || $0 == "-" } ?? parts.endIndex
    guard let number = Int64(parts[..<sign]) else { return nil }
    (milliseconds, zone) = (Double(number), parts[sign...])
  }
}

extension UInt8 {
  var isDigit: Bool { (0x30...0x39).contains(self) }
}
