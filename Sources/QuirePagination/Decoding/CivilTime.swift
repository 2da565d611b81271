/// Days and seconds in the proleptic Gregorian calendar.
package enum CivilTime {
  /// Seconds since 1970; nil for a date that does not exist. A leap second is the second after it.
  package static func seconds(
    _ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0,
    _ second: Double = 0, offset: Int = 0
  ) -> Double? {
    guard let days = Self.day(year, month, day), 0...24 ~= hour,
      hour < 24 || (minute == 0 && second == 0), 0..<60 ~= minute, 0..<61 ~= second
    else { return nil }
    return Double(days * 86_400 + hour * 3_600 + minute * 60 - offset) + second
  }

  /// The day, from 1970-01-01, of a date in the years 0 to 9999; nil for one that does not exist.
  package static func day(_ year: Int, _ month: Int, _ day: Int) -> Int? {
    guard 0...9999 ~= year, 1...12 ~= month, day >= 1, day <= length(of: month, in: year) else {
      return nil
    }
    // Years that begin in March end with the leap day.
    let (era, yearOfEra) = (month > 2 ? year : year - 1).dividedRoundingDown(by: 400)
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// Year, month and day of a day since 1970.
  package static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
    let (era, dayOfEra) = (day + 719_468).dividedRoundingDown(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let civil = month < 10 ? month + 3 : month - 9
    return (
      yearOfEra + era * 400 + (civil <= 2 ? 1 : 0), civil, dayOfYear - (153 * month + 2) / 5 + 1
    )
  }

  private static func length(of month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The day of the week of a day since 1970, which began on a Thursday: 0 is Monday.
  package static func weekday(ofDay day: Int) -> Int { (day + 3).dividedRoundingDown(by: 7).rest }
}

extension Int {
  /// The quotient, rounded down, and the rest, which is never negative.
  package func dividedRoundingDown(by divisor: Int) -> (quotient: Int, rest: Int) {
    let quotient = self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
    return (quotient, self - quotient * divisor)
  }
}
