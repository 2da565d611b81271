#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the three date forms of HTTP. Source: RFC 9110, §5.6.7.
package enum HTTPDate {
  /// Seconds since 1970, or nil for anything that is not such a date.
  package static func secondsSince1970(_ text: String) -> Double? {
    // All three forms are the same parts in another order; ISO 8601 has a parser of its own.
    let parts = text.split { " ,-".contains($0) }.map(String.init)
    let fields: (day: String, month: String, year: String, time: String)
    switch parts.count {
    case 6 where parts[5] == "GMT": fields = (parts[1], parts[2], parts[3], parts[4])
    case 5: fields = (parts[2], parts[1], parts[4], parts[3])
    default: return nil
    }
    guard let month = months.firstIndex(of: fields.month), let day = Int(fields.day),
      var year = Int(fields.year)
    else { return nil }
    // A two-digit year more than fifty years ahead is of the last century; no clock is needed to
    // the year.
    if fields.year.count == 2 { year += year >= 70 ? 1900 : 2000 }
    let iso = "\(pad(year, to: 4))-\(pad(month + 1, to: 2))-\(pad(day, to: 2))T\(fields.time)Z"
    return (try? Date(iso, strategy: .iso8601))?.timeIntervalSince1970
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func pad(_ number: Int, to width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}
