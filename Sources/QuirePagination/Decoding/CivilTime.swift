/// Days and seconds in the proleptic Gregorian calendar.
package enum CivilTime {
  /// Returns the seconds from 1970-01-01 UTC to a time whose time zone is `offset` seconds east of
  /// UTC; nil for a date or time that does not exist. A leap second (60) counts as the second after
  /// it.
  package static func seconds(
    _ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0,
    _ second: Double = 0, offset: Int = 0
  ) -> Double? {
    guard let days = Self.day(year, month, day), 0...24 ~= hour,
      hour < 24 || (minute == 0 && second == 0), 0..<60 ~= minute, 0..<61 ~= second
    else { return nil }
    return Double(days * 86_400 + hour * 3_600 + minute * 60 - offset) + second
  }

  /// Returns the days from 1970-01-01 to a date in the years 0 to 9999; nil for an invalid date.
  package static func day(_ year: Int, _ month: Int, _ day: Int) -> Int? {
    guard 0...9999 ~= year, 1...12 ~= month, day >= 1, day <= length(of: month, in: year) else {
      return nil
    }
    // Counted from March, a year ends with its leap day.
    let (era, yearOfEra) = (month > 2 ? year : year - 1).dividedRoundingDown(by: 400)
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// Returns the date that is `day` days after 1970-01-01.
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

  /// Returns the weekday of the day that is `day` days after 1970-01-01, a Thursday: 0 is Monday.
  package static func weekday(ofDay day: Int) -> Int { (day + 3).dividedRoundingDown(by: 7).rest }
}

extension Int {
  /// Returns the quotient, rounded down, and the remainder, which is never negative.
  package func dividedRoundingDown(by divisor: Int) -> (quotient: Int, rest: Int) {
    let quotient = self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
    return (quotient, self - quotient * divisor)
  }
}
