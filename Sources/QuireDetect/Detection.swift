public import QuireCore
import QuireHTTP
public import QuirePagination

/// What one answer shows about how its listing is paged, and how sure that is.
///
/// ```swift
/// let detection = try await client.detect(at: "https://api.example.com/things")
/// for candidate in detection.candidates { print(candidate.confidence, candidate.swift) }
/// ```
/// Nothing in it quotes a value of the page but numbers and flags: tokens and links may be secrets.
public struct Detection: Sendable {
  /// Descriptions that the answer allows, best first, each leading to another second page than those
  /// before it; at most five.
  public internal(set) var candidates: [DetectedPagination]
  /// What the answer is and holds, in words: what is left to say where nothing fits.
  public internal(set) var observations: [String]

  /// The description to use; nil when the answer does not tell, and the candidates are guesses.
  public var best: DetectedPagination? {
    candidates.first { $0.confidence > .guess }
  }

  /// How sure a detection is of a candidate.
  public enum Confidence: Int, Comparable, Sendable, CustomStringConvertible {
    /// Nothing in the answer speaks for it but that nothing speaks against it.
    case guess
    /// The answer speaks for it, and for others as well, or not much.
    case possible
    /// The answer speaks for it and for no other.
    case likely
    /// The second page has come, and the third or the end, and all their items are new.
    case verified

    /// Compares how sure they are.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The case's name.
    public var description: String {
      switch self {
      case .guess: "guess"
      case .possible: "possible"
      case .likely: "likely"
      case .verified: "verified"
      }
    }
  }
}

extension Detection {
  /// Without what must not be read: secrets that the page repeats, and characters that are none.
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

/// A description that fits an answer, and why.
public struct DetectedPagination: Sendable {
  /// The name of the preset; nil for a description put together from what the answer has.
  public let preset: String?
  /// Where the items are, if the preset does not say it, or they are elsewhere.
  public let items: PagePath?
  /// The description.
  public internal(set) var pagination: Pagination
  /// How sure the detection is.
  public internal(set) var confidence: Detection.Confidence
  /// What speaks for it, in words.
  public internal(set) var evidence: [String]
  /// What speaks against it, in words.
  public internal(set) var doubts: [String]
  /// What may be changed about what speaks against it.
  public internal(set) var remedies: [Remedy] = []
  /// Other presets that lead to the same second page.
  public let alternatives: [String]
  /// What came of the second page; nil when it was not asked for.
  public internal(set) var check: SecondPageCheck?
  /// The description as one writes it where a `Pagination` is expected.
  public let swift: String

  /// Where the second page starts; nil when the first is the only one.
  let next: DetectorFit.Outcome

  /// Whether the answer, read so, is followed by another page.
  package var leadsOn: Bool { if case .next = next { true } else { false } }
}

extension DetectedPagination {
  /// The same description without the total that says that its first page is the last, where pages or items are
  /// counted: what is taken for the total may be that of the page. nil for others.
  var beyondTotal: DetectedPagination? {
    guard !leadsOn, pagination.next.isCounter else { return nil }
    var longer = pagination
    longer.end.removeAll { if case .total(let total) = $0 { total.kind != .pages } else { false } }
    guard longer.end != pagination.end else { return nil }
    if !longer.end.contains(.emptyPage) { longer.end.append(.emptyPage) }
    longer.total = nil
    return composed(longer)
  }

  /// The candidate with a description that is no preset's, not checked yet.
  func composed(_ pagination: Pagination) -> DetectedPagination {
    DetectedPagination(
      preset: nil, items: nil, pagination: pagination, confidence: confidence, evidence: evidence,
      doubts: doubts, remedies: remedies, alternatives: [], check: nil, swift: pagination.swift,
      next: next)
  }
}

/// What came of asking for a second page, and for a third one where the second leads on.
public struct SecondPageCheck: Hashable, Sendable {
  /// What the second page says about the description.
  public enum Result: String, Hashable, Sendable {
    /// It has other items, and so has the third, or it is the last.
    case confirmed
    /// One of them repeats items of a page before, or is refused.
    case refuted
    /// They say nothing, as when the second is empty.
    case undecided
  }

  /// What it says.
  public let result: Result
  /// Why, in a sentence.
  public let explanation: String
  /// The request for it, secrets redacted.
  public internal(set) var request: String?

  init(_ result: Result, _ explanation: String, request: String? = nil) {
    self.result = result
    self.explanation = explanation
    self.request = request
  }
}

extension Pagination {
  /// The description in Swift, where it is of the kind that a detector puts together.
  var swift: String {
    var parts = ["next: \(next.swift)"]
    if send != .url { parts.append("send: \(send.swift)") }
    if request != Pagination.RequestRule() { parts.append("request: \(request.swift)") }
    if !end.isEmpty { parts.append("end: [\(end.map(\.swift).joined(separator: ", "))]") }
    if case .path(let path) = items, !path.text.isEmpty { parts.append("items: \(path.swift)") }
    if let total { parts.append("total: \(total.swift)") }
    return "Pagination(\(parts.joined(separator: ", ")))"
  }
}

extension Pagination.Preset {
  /// The preset in Swift, its items at `place` if that is not nil.
  func swift(at place: PagePath?) -> String {
    ".\(name)" + (place.map { ".items(at: \($0.swift))" } ?? "")
  }
}

extension PagePath {
  fileprivate var swift: String { text.swiftLiteral }
}

extension String {
  /// The text as a literal in Swift.
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
    if case .except(let names) = keep {
      parts.append("keep: .except([\(names.map(\.swiftLiteral).joined(separator: ", "))])")
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
