import Foundation

/// Proves what is promised of feeds: `FeedProof ROW SERVER` prints the figures of one row.
///
/// `FeedProof rows` lists the rows, `FeedProof pages FOLDER` writes the feeds for the server. Every row is a
/// process of its own, so that memory is its own. The exit status is 1 when a figure misses its bar.
@main
struct FeedProof {
  private static let rows: KeyValuePairs<String, @Sendable (Server) async throws -> [Figure]> = [
    "parsing": { _ in try await FeedPages.measure() },
    "gauntlet": { try await FeedGauntlet.measure($0) },
    "merge": { _ in try await Merges.measure() },
    "kills": { _ in try await FeedKills.measure() },
    "tokens": { _ in try PageTokens.measure() },
  ]

  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let last = arguments.last ?? ""
    switch arguments.first ?? "" {
    case "rows": for row in rows { print(row.key) }
    case "pages": try FeedWeb.write(to: last)
    case "aggregate": try await FeedKills.aggregate(last)
    case let word where word.hasPrefix("poll-"):
      for (name, number) in try await FeedGauntlet.run(word, Server(base: last)) {
        print("\(name)=\(number)")
      }
    case let name:
      guard let row = rows.first(where: { $0.key == name }) else {
        fatalError("There is no row \(name); see `FeedProof rows`.")
      }
      let figures = try await row.value(Server(base: last))
      for figure in figures { print(figure) }
      if figures.contains(where: { !$0.holds }) { exit(1) }
    }
  }
}
