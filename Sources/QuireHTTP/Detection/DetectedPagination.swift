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

/// What came of asking for a second page.
public struct SecondPageCheck: Hashable, Sendable {
  /// What the second page says about the description.
  public enum Result: String, Hashable, Sendable {
    /// It has other items, and leads elsewhere.
    case confirmed
    /// It repeats the first page, or is no page at all.
    case refuted
    /// It says nothing, as when it is empty.
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
