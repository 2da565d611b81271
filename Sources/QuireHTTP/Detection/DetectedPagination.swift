/// A description that fits an answer, and why.
public struct DetectedPagination: Sendable {
  /// The name of the preset; nil for a description put together from what the answer has.
  public let preset: String?
  /// Where the items are, if not where the preset has them.
  public let items: PagePath?
  /// The description.
  public internal(set) var pagination: Pagination
  /// How sure the detection is.
  public internal(set) var confidence: Detection.Confidence
  /// What speaks for it, in words.
  public internal(set) var evidence: [String]
  /// What speaks against it, in words.
  public internal(set) var doubts: [String]
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
  /// The same description where it counts pages from 0 in place of 1; nil for others.
  var countedFromZero: DetectedPagination? {
    guard case .pageNumber(1, let echo) = pagination.next else { return nil }
    var counted = pagination
    counted.next = .pageNumber(first: 0, from: echo)
    return DetectedPagination(
      preset: nil, items: nil, pagination: counted, confidence: confidence, evidence: evidence,
      doubts: doubts, alternatives: [], check: nil, swift: counted.swift, next: next)
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
