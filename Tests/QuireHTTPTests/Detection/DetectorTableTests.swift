import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// What a detector makes of the first answer of every transcript of a vector or a preset.
@Suite("Detection of the vectors", .timeLimit(.minutes(15)))
struct DetectorTableTests {
  /// One line of the table.
  private struct Row {
    enum Verdict: String {
      /// The preset of the transcript, by name.
      case named
      /// Another description, or one put together, by which the whole transcript is read as well.
      case drained
      /// Another description, or one put together, that reads as many items and makes the same next
      /// request or comes to the same end: by this answer they cannot be told apart.
      case equivalent
      case missed
      /// The answer is an error or a failure, or not of a listing: nothing to be named.
      case noPage = "no page"
    }

    let transcript: Transcript
    var verdict: Verdict
    var confidence: Detection.Confidence?
    var answer: String

    init(_ transcript: Transcript) async throws {
      self.transcript = transcript
      let sample = try DetectorSample(transcript).answer
      let links = transcript.pagination.policy.links
      let detector = try PaginationDetector(sample, links: links == .sameOrigin ? nil : links)
      let detection = try PaginationDetector(sample).detection()
      let expected = detector.fit(of: transcript.pagination, preset: nil)
      let best = detection.candidates.first
      confidence = best?.confidence
      let name = best.map { $0.preset ?? "composed" } ?? "-"
      answer = name + (best?.items.map { " at \($0)" } ?? "")
      guard let expected, expected.outcome != .failure, (200..<300).contains(sample.status) else {
        verdict = .noPage
        return
      }
      let found = best.flatMap { detector.fit(of: $0.pagination, preset: nil) }
      let isEquivalent = found?.behaviour == expected.behaviour
      if let name = best?.preset, name == transcript.preset {
        verdict = .named
      } else if let best, await transcript.drains(by: best.pagination) {
        verdict = .drained
      } else {
        verdict = isEquivalent ? .equivalent : .missed
      }
    }

    var line: String {
      let cells = [
        (verdict.rawValue, 11), (confidence.map { "\($0)" } ?? "-", 9), (transcript.file, 24),
        (transcript.preset ?? "custom", 20), (answer, 34),
      ]
      return cells.map { $0.0.padded(to: $0.1) }.joined() + transcript.title
    }
  }

  private static let rows = Task {
    var rows: [Row] = []
    for transcript in try Transcript.all()
    where transcript.file.hasPrefix("V") || transcript.file.hasPrefix("presets/") {
      rows.append(try await Row(transcript))
    }
    return rows
  }

  private static func share(of rows: [Row]) -> (hits: Int, pages: Int) {
    let pages = rows.filter { $0.verdict != .noPage }
    return (pages.count { $0.verdict != .missed }, pages.count)
  }

  @Test("The detector names at least nine of ten vectors by their first answer, and prints a table")
  func table() async throws {
    let rows = try await Self.rows.value
    print("verdict    sure     transcript              preset              detected")
    for row in rows { print(row.line) }
    let vectors = rows.filter { $0.transcript.file.hasPrefix("V") }
    // A vector's own transcript is the first in its file; the others are its variations.
    let own = Dictionary(grouping: vectors) { $0.transcript.file }.values
      .compactMap { rows in rows.first { $0.verdict != .noPage } }
    for (name, rows) in [
      ("all transcripts", rows), ("transcripts of vectors", vectors), ("vectors", Array(own)),
    ] {
      let share = Self.share(of: rows)
      print("\(share.hits) of \(share.pages) \(name)")
      #expect(share.hits * 10 >= share.pages * 9, "\(share.hits) of \(share.pages) \(name)")
    }
  }

  @Test("A detector that is wrong about a vector never calls it likely, nor an error a page")
  func modesty() async throws {
    for row in try await Self.rows.value
    where row.verdict == .missed || row.verdict == .noPage {
      #expect(row.confidence ?? .guess < .likely, "\(row.line)")
    }
  }
}

extension Transcript {
  /// Whether a walk by another description, from the first request as it went out, is the one that is
  /// written here.
  fileprivate func drains(by pagination: Pagination) async -> Bool {
    var other = self
    other.pagination = pagination
    other.exchanges = script
    (other.sentURL, other.givenBody, other.pageSize) = (nil, nil, nil)
    var player = TranscriptPlayer(other)
    return await player.drainsExactly()
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(1, width - count))
  }
}
