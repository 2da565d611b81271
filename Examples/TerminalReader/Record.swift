import Foundation

/// An item of the reader's list, shown like a message.
struct Record: Codable, Identifiable, Equatable, Sendable {
  let id: Int
  let name: String
  /// The date, such as 2026-03-01; the demo API has none.
  let date: String?

  /// The day by which records are sectioned. Without a date it is derived from `id`: eight records
  /// for each day, newest first.
  var day: String {
    if let date { return date }
    let time = Date(timeIntervalSince1970: 1_772_323_200 - Double((id - 1) / 8) * 86_400)
    return time.formatted(.iso8601.year().month().day())
  }
}
