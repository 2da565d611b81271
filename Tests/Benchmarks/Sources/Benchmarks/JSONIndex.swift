import Foundation
import Quire
import QuireJSON

/// Checking and indexing a page of 1 MB, against parsing it with Foundation.
enum JSONIndex {
  static func measure() async throws -> [Figure] {
    let page = SamplePage.page(of: 1_680)
    let data = Data(page)
    let repetitions = 25
    let rounds = try await Measurement.rounds(
      of: { for _ in 0..<repetitions { _ = try JSONDocument(page) } },
      { _ = try JSONSerialization.jsonObject(with: data) })
    let speedup = rounds.ratio(1, to: 0) * Double(repetitions)
    let throughput = Double(page.count * repetitions) / rounds.seconds(0) / 1e9
    return [
      Figure("JSONSerialization to JSONDocument, 1 MB page", speedup, "×", .atLeast(25)),
      Figure("  JSONDocument", throughput, "GB/s"),
    ]
  }
}
