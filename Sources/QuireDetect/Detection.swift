public import QuireCore
import QuireHTTP
public import QuirePagination

/// The descriptions that fit an answer, and the confidence in each.
///
/// ```swift
/// let detection = try await client.detect(at: "https://api.example.com/things")
/// for candidate in detection.candidates { print(candidate.confidence, candidate.swift) }
/// ```
/// Only numbers and flags of the page are quoted, because tokens and links may be secrets.
public struct Detection: Sendable {
  /// The descriptions that fit the answer, best first; at most nine. Each leads to a different
  /// second page.
  public internal(set) var candidates: [DetectedPagination]
  /// Facts about the answer in words, for a message if no description fits.
  public internal(set) var observations: [String]
  /// Whether nothing in the answer indicates a further page.
  package internal(set) var mayBeWhole = false
  /// The settings that may help if the page could not be read.
  public internal(set) var remedies: [Remedy] = []

  /// The description to use; nil if all candidates are guesses.
  public var best: DetectedPagination? {
    candidates.first { $0.confidence > .guess }
  }

  /// The confidence of a detection in a candidate, in ascending order.
  public enum Confidence: Comparable, Sendable {
    /// Nothing contradicts the description, but nothing supports it either.
    case guess
    /// The answer supports the description weakly, or supports others as well.
    case possible
    /// The answer supports this description and no other.
    case likely
    /// The second page was loaded, and then the third one or the end of the listing. All their
    /// items are new.
    case verified
  }
}

extension Detection {
  /// Returns the detection without secrets that the page repeats and without unprintable
  /// characters.
  func redacted(by redactor: Redactor) -> Detection {
    var copy = self
    copy.observations = observations.map(redactor.printable)
    for index in candidates.indices {
      copy.candidates[index].evidence = candidates[index].evidence.map(redactor.printable)
      copy.candidates[index].doubts = candidates[index].doubts.map(redactor.printable)
      copy.candidates[index].remedies = candidates[index].remedies.map {
        var remedy = $0
        remedy.values = remedy.values.map(redactor.printable)
        return remedy
      }
      guard let check = candidates[index].check else { continue }
      copy.candidates[index].check = SecondPageCheck(
        check.result, redactor.printable(check.explanation), request: check.request)
    }
    return copy
  }
}

/// A description that fits an answer, and the reasons.
public struct DetectedPagination: Sendable {
  /// The name of the preset; nil for a description composed from the answer.
  public let preset: String?
  /// The path of the items to give to the preset, if it has none or the items are elsewhere; nil
  /// otherwise.
  public let items: PagePath?
  /// The description.
  public internal(set) var pagination: Pagination
  /// The confidence of the detection in the description.
  public internal(set) var confidence: Detection.Confidence
  /// The observations that support the description, in words.
  public internal(set) var evidence: [String]
  /// The observations that contradict the description, in words.
  public internal(set) var doubts: [String]
  /// The settings that may resolve the doubts.
  public internal(set) var remedies: [Remedy] = []
  /// Other presets that lead to the same second page.
  public let alternatives: [String]
  /// The result of loading further pages; nil if none were loaded.
  public internal(set) var check: SecondPageCheck?
  /// The description as a Swift expression of type `Pagination`.
  public let swift: String

  /// The behaviour of the description after the first page.
  let next: DetectorFit.Outcome

  /// Whether the description finds a page after the first one.
  package var leadsOn: Bool { if case .next = next { true } else { false } }
}

extension DetectedPagination {
  /// The candidate without the total that makes its first page the last, because that number may be
  /// the length of the page. Nil unless the description counts pages or items and such a total ends
  /// it.
  var withoutTotal: DetectedPagination? {
    guard !leadsOn, pagination.next.isCounter else { return nil }
    let longer = pagination.withoutTotal(nil)
    return longer.end == pagination.end ? nil : composed(longer)
  }

  /// Returns the candidate with another description, which belongs to no preset and is unchecked.
  func composed(_ pagination: Pagination) -> DetectedPagination {
    DetectedPagination(
      preset: nil, items: nil, pagination: pagination, confidence: confidence, evidence: evidence,
      doubts: doubts, remedies: remedies, alternatives: [], check: nil, swift: pagination.swift,
      next: next)
  }
}

extension Pagination {
  /// Returns the description without the total of items that ends it, or the description itself if
  /// more items are declared than the first page has.
  func withoutTotal(_ declared: Int?) -> Pagination {
    var longer = self
    guard declared == nil else { return longer }
    longer.end.removeAll { if case .total(let total) = $0 { total.kind != .pages } else { false } }
    guard longer.end != end else { return longer }
    if !longer.end.contains(.emptyPage) { longer.end.append(.emptyPage) }
    longer.total = nil
    return longer
  }

  /// The description without any total of items, which its pages disprove; nil if it has none.
  var withoutItemTotal: Pagination? {
    var longer = withoutTotal(nil)
    if longer.total?.kind == .items { longer.total = nil }
    return longer == self ? nil : longer
  }
}

/// The result of loading the second page of a candidate, and the third one if there is one.
public struct SecondPageCheck: Hashable, Sendable {
  /// The verdict on the description.
  public enum Result: String, Hashable, Sendable {
    /// All items of the second page are new, and so are those of the third one if there is one.
    case confirmed
    /// A page repeats items of an earlier one or contradicts the description, or the server refused
    /// it.
    case refuted
    /// The pages decide neither way, for example because the second one is empty.
    case undecided
  }

  /// The verdict.
  public let result: Result
  /// The reason, in a sentence.
  public let explanation: String
  /// The request for the second page, or the request that failed, with secrets redacted; nil if
  /// there was none.
  public internal(set) var request: String?

  init(_ result: Result, _ explanation: String, request: String? = nil) {
    self.result = result
    self.explanation = explanation
    self.request = request
  }
}

extension Pagination {
  /// The description as a Swift expression. It has only the parts that a detector composes.
  var swift: String {
    var parts = ["next: \(next.swift)"]
    if send != .url { parts.append("send: \(send.swift)") }
    if request != Pagination.RequestRule() { parts.append("request: \(request.swift)") }
    if !end.isEmpty { parts.append("end: [\(end.map(\.swift).joined(separator: ", "))]") }
    switch items {
    case .path(let path) where !path.text.isEmpty: parts.append("items: \(path.swift)")
    case .members(.path(let path)): parts.append("items: .members(.path(\(path.swift)))")
    default: break
    }
    if let total { parts.append("total: \(total.swift)") }
    return "Pagination(\(parts.joined(separator: ", ")))"
  }
}

extension Pagination.Preset {
  /// Returns the preset, or its variant, as a Swift expression, with its items at `place` if that is
  /// not nil.
  func swift(of variant: String? = nil, at place: PagePath?) -> String {
    (variant.map { "try .preset(named: \($0.swiftLiteral))" } ?? ".\(name)")
      + (place.map { ".items(at: \($0.swift))" } ?? "")
  }
}

extension PagePath {
  fileprivate var swift: String { text.swiftLiteral }
}

extension String {
  /// The text as a Swift literal.
  var swiftLiteral: String {
    let escaped = unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\"", "\\": "\\" + String(scalar)
      case _ where !scalar.isPlain: "\\u{\(String(scalar.value, radix: 16))}"
      default: String(scalar)
      }
    }
    return "\"" + escaped.joined() + "\""
  }
}

extension Pagination.Next {
  fileprivate var swift: String {
    switch self {
    case .linkHeader: ".linkHeader"
    case .header(let name): ".header(\(name.swiftLiteral))"
    case .body(let path): ".body(\(path.swift))"
    case .offset(let first, _): first == 0 ? ".offset" : ".offset(first: \(first))"
    case .pageNumber(let first, _): first == 1 ? ".pageNumber" : ".pageNumber(first: \(first))"
    case .lastItem(let path): ".lastItem(\(path.swift))"
    default: "\(self)"
    }
  }
}

extension Pagination.Placement {
  fileprivate var swift: String {
    switch self {
    case .query(let name, _): ".query(\(name.swiftLiteral))"
    case .header(let name): ".header(\(name.swiftLiteral))"
    case .jsonBody(let path): ".jsonBody(\(path.swift))"
    case .form(let name): ".form(\(name.swiftLiteral))"
    case .xmlBody(let path): ".xmlBody(\(path.swift))"
    case .placeholder(let text, _): ".placeholder(\(text.swiftLiteral))"
    default: ".\(self)"
    }
  }
}

extension Pagination.RequestRule {
  fileprivate var swift: String {
    var parts: [String] = []
    switch keep {
    case .except(let names):
      parts.append("keep: .except([\(names.map(\.swiftLiteral).joined(separator: ", "))])")
    case .none: parts.append("keep: .none")
    case .all, .only: break
    }
    if let first { parts.append("first: \(first.string?.swiftLiteral ?? first.description)") }
    if let query = then?.set.query {
      let members = query.sorted { $0.key < $1.key }
        .map { "\($0.key.swiftLiteral): \($0.value.swiftLiteral)" }
      let constants = "Pagination.RequestConstants(query: [\(members.joined(separator: ", "))])"
      parts.append("then: Pagination.RequestChange(set: \(constants))")
    }
    if isQuery { parts.append("isQuery: true") }
    return "Pagination.RequestRule(\(parts.joined(separator: ", ")))"
  }
}

extension Pagination.End {
  fileprivate var swift: String {
    switch self {
    case .flag(let rule):
      rule.continuesWhile
        ? ".flag(\(rule.source.swift))" : ".flag(\(rule.source.swift), continuesWhile: false)"
    case .total(let total):
      total.kind == .pages ? ".pages(\(total.source.swift))" : ".total(\(total.swift))"
    default: ".\(self)"
    }
  }
}

extension Pagination.TotalSource {
  fileprivate var swift: String {
    kind == .items ? source.swift : "Pagination.TotalSource(\(source.swift), .\(kind.rawValue))"
  }
}

extension Pagination.ValueSource {
  fileprivate var swift: String {
    if case .body(let path) = self { path.swift } else { "\(self)" }
  }
}
