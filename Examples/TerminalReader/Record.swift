import Foundation

/// What the reader lists: a message, as it were.
struct Record: Codable, Identifiable, Equatable, Sendable {
  let id: Int
  let name: String
  /// When it came, such as 2026-03-01; the demo API does not say.
  let date: String?

  /// The day by which records are sectioned: eight came on each, the first ones last.
  var day: String {
    if let date { return date }
    let time = Date(timeIntervalSince1970: 1_772_323_200 - Double((id - 1) / 8) * 86_400)
    return time.formatted(.iso8601.year().month().day())
  }
}
