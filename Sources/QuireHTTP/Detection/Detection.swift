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
      guard let check = candidates[index].check else { continue }
      copy.candidates[index].check = SecondPageCheck(
        check.result, redactor.printable(check.explanation), request: check.request)
    }
    return copy
  }
}
