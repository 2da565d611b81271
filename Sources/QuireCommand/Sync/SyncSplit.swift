import ArgumentParser
import Foundation
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination

/// The rule by which a listing is read in parts.
struct SyncSplit: Sendable {
  /// The listing name in placeholders for the bounds of a part: `{split:lower}`.
  static let name = "split"

  private let members: SyncMembers.Split
  private let start: Int64
  /// Nil for the current time.
  private let end: Int64?
  private let step: Int64
  private let isTime: Bool
  private let total: PagePath?
  private let key: PagePath?

  /// Reads the `split` member at `place`. Throws `SyncFileError`.
  init(_ members: SyncMembers.Split, key: PagePath?, at place: String) throws {
    self.members = members
    let isTime = Int64(members.start) == nil
    self.isTime = isTime
    start = try Self.bound(members.start, at: "\(place).start", isTime: isTime)
    end = try members.end.map { try Self.bound($0, at: "\(place).end", isTime: isTime) }
    guard isTime || end != nil else {
      throw SyncFileError("\(place).end", "is missing: keys have no last one by themselves.")
    }
    step = try Self.step(members.every, isTime: isTime, at: "\(place).every")
    guard start < end ?? .max else {
      throw SyncFileError("\(place).end", "lies in front of the start.")
    }
    total = try SyncFileError.at("\(place).total") { try members.total.map { try PagePath($0) } }
    self.key = key
  }

  private static func bound(_ text: String, at place: String, isTime: Bool) throws -> Int64 {
    if !isTime, let number = Int64(text) { return number }
    let time = text.utf8.count == 10 ? "\(text)T00:00:00Z" : text
    guard isTime, let date = try? Date(time, strategy: .iso8601) else {
      throw SyncFileError(
        place,
        "expected \(isTime ? "a time such as 2015-01-01" : "a whole number, as the start is")"
          + ", not \(ServerText(text)).")
    }
    return Int64(date.timeIntervalSince1970)
  }

  private static func step(_ text: String, isTime: Bool, at place: String) throws -> Int64 {
    let time = isTime ? try? DurationOption.duration(text, for: place).components.seconds : nil
    guard let step = isTime ? time : Int64(text), step > 0 else {
      throw SyncFileError(
        place,
        "expected \(isTime ? "a time such as 30d or 12h" : "a number of keys"), not "
          + "\(ServerText(text)).")
    }
    return step
  }

  /// Returns the parts up to the current time, or those of one range.
  func split(of range: Range<Int64>?, at now: Date = Date()) -> Split {
    let last = max(start, end ?? Int64(now.timeIntervalSince1970) + 1)
    var split = Split(range ?? start..<last, every: step, isTime: isTime)
    (split.cap, split.total, split.key) = (members.cap, total, key)
    return split
  }

  /// Returns the query parameters of a part.
  func parameters(of part: Partition) -> SyncMembers.Texts {
    var parameters: SyncMembers.Texts = []
    if let lower = members.lower { parameters.append((lower, part.lower)) }
    if let upper = members.upper {
      parameters.append((upper, members.isClosed ? part.last : part.upper))
    }
    return parameters
  }

  /// Throws if requests would lack a bound of their part, as a parameter or in the URL or body:
  /// each part would be the whole listing.
  func check(_ placeholders: [SyncPlaceholder], at place: String) throws(SyncFileError) {
    let names = placeholders.names(of: Self.name)
    let known = ["lower", "upper", "last"]
    if let unknown = names.first(where: { !known.contains($0) }) {
      throw SyncFileError(
        place,
        "A part has no \(ServerText(unknown)).\(NearestName.hint(unknown, in: known)) Known are "
          + "{split:lower}, {split:upper} and {split:last}.")
    }
    let hasUpper = members.upper != nil || names.contains("upper") || names.contains("last")
    guard members.lower == nil && !names.contains("lower") || !hasUpper else { return }
    throw SyncFileError(
      place,
      "Its requests need both bounds of their part: name the parameters by lower and upper, or write "
        + "{split:lower} and {split:upper} in url or body.")
  }

  /// Returns a bound of a part by its name in a URL or a body.
  static func value(_ path: PagePath, of part: Partition?) -> JSONValue? {
    let bound: String? =
      switch path.text {
      case "/lower": part?.lower
      case "/upper": part?.upper
      case "/last": part?.last
      default: nil
      }
    // In a body of JSON, a key is a number.
    return bound.map { Int64($0) == nil ? .string($0) : .number($0) }
  }
}
