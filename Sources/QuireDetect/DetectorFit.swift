import QuireCore
import QuirePagination

/// The fit of one description to an answer: its score, and the reasons.
struct DetectorFit {
  /// The behaviour of the description after the answer.
  enum Outcome: Hashable {
    case next(PageRequest)
    case end
    /// The continuation cannot be followed, for this reason.
    case refused(String)
    /// The answer is an error.
    case failure
  }

  var preset: Pagination.Preset?
  /// The alias of the preset that the description belongs to; nil for the preset itself.
  var variant: String?
  var pagination: Pagination
  /// The path of the items to give to the preset; nil if the preset's own path is right.
  var place: PagePath?
  var score = 0.0
  var outcome = Outcome.end
  var itemCount = 0
  /// Whether the answer has a continuation, a flag or a total that the description reads, so that
  /// the description is more than a guess.
  var isSupported = false
  /// Whether the description reads its items or total at a place that hardly any other one reads.
  var isDistinctive = false
  /// Whether the description finds no items, although the page has a list elsewhere or declares
  /// items.
  var isMisplaced = false
  /// Whether the description expects a continuation that the page does not have.
  var lacksContinuation = false
  /// Whether the page has a continuation or a flag, or is an end, as the description expects.
  var isExplicit = false
  /// Whether the description continues by a parameter that the request has already.
  var usesOwnParameter = false
  /// The observations that support the description.
  var evidence: [String] = []
  /// The observations that contradict the description.
  var doubts: [String] = []
  /// The settings that may resolve the doubts.
  var remedies: [Remedy] = []

  /// The description as a Swift expression.
  var swift: String {
    preset?.swift(of: variant, at: place) ?? pagination.swift
  }

  /// Whether the continuation cannot be followed.
  var isRefused: Bool { if case .refused = outcome { true } else { false } }

  /// Whether the answer itself says that another page follows.
  var statesNextPage: Bool { if case .next = outcome { isSupported } else { false } }

  /// The source of the token; nil if the description reads a link or none.
  var token: Pagination.Next? {
    guard let route = pagination.routes.first, !route.next.isCounter, route.send != .url else {
      return nil
    }
    return route.next.untransformed
  }

  /// The behaviour that fits are grouped by: it is equal for descriptions that find the same number
  /// of items and the same second page.
  var behaviour: Behaviour { Behaviour(outcome: outcome, itemCount: itemCount) }

  struct Behaviour: Hashable {
    var outcome: Outcome
    var itemCount: Int
  }
}

/// Looks up paths in one answer, each once, because many descriptions read the same ones.
///
/// A class, because a lookup changes nothing but the cost of the next one; used by one task.
final class DetectorLookups {
  private let answer: PageAnswer
  private var values: [Pagination.ValueSource: JSONValue?] = [:]
  private var counts: [PagePath: Int?] = [:]
  private var items: [Pagination.Items: Int?] = [:]

  init(_ answer: PageAnswer) { self.answer = answer }

  /// Returns the value at a source; nil if there is none or more than one.
  func value(at source: Pagination.ValueSource, items: Pagination.Items) -> JSONValue? {
    if case .lastItem = source { return find(source, items) }
    if let known = values[source] { return known }
    let value = find(source, items)
    values[source] = .some(value)
    return value
  }

  private func find(_ source: Pagination.ValueSource, _ items: Pagination.Items) -> JSONValue? {
    try? answer.value(at: source, items: items)
  }

  /// Returns the number of elements of the container at a path; nil if there is none.
  func count(at path: PagePath) -> Int? {
    if let known = counts[path] { return known }
    let count = try? answer.document.count(at: path)
    counts[path] = .some(count)
    return count
  }

  /// Returns the number of items that a selector finds; nil if there is no such list.
  func count(of selector: Pagination.Items) -> Int? {
    if let known = items[selector] { return known }
    let count = (try? answer.document.values(at: .nowhere, inItemsOf: selector))?.count
    items[selector] = .some(count)
    return count
  }
}
