import Foundation

/// Measures Quire against its bars: `Benchmarks ROW SERVER` prints the figures of one row.
///
/// `Benchmarks rows` lists the rows, `Benchmarks pages FOLDER` writes the pages for the server.
/// Every row is a process of its own, so that memory and threads are its own. The exit status is 1
/// when a figure misses its bar.
@main
struct Benchmarks {
  private static let rows: KeyValuePairs<String, @Sendable (Server) async throws -> [Figure]> = [
    "walk": { try await SequentialWalk.measure($0) },
    "typed": { try await SequentialWalk.measureTyped($0) },
    "views": { _ in try await InMemoryViews.measure() },
    "ahead": { _ in try await LookAhead.measure() },
    "idle": { _ in try await Paginators.measureIdle() },
    "reports": { _ in try await Paginators.measureReports() },
    "parallel": { _ in try await Paginators.measureParallel() },
    "merge": { _ in try await Merges.measure() },
    "edits": { _ in try await Lists.measureEdits() },
    "differences": { _ in try await Lists.measureDifferences() },
    "window": { _ in try await Lists.measureWindow() },
    "mixes": { _ in try await ListMixes.measure() },
    "long": { try await Memory.measureLongWalk($0) },
    "many": { try await Memory.measureManyCursors($0) },
    "live": { try await Memory.measureLiveCursors($0) },
    "names": { _ in try await Names.measureDeadResolver() },
    "decode": { _ in try await TypedPages.measure() },
    "index": { _ in try await JSONIndex.measure() },
    "xml": { _ in try await XMLPages.measure() },
    "first": { _ in try await XMLStreams.measureFirstItem() },
    "export": { try await Exports.measure($0) },
    "sqlite": { _ in try await Databases.measure() },
    "stream": { _ in try await XMLStreams.measureMemory() },
  ]

  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    switch arguments.first {
    case "rows": for row in rows { print(row.key) }
    case "pages": try SamplePage.write(to: arguments.last ?? "")
    case let name: try await measure(name, on: Server(base: arguments.last ?? ""))
    }
  }

  private static func measure(_ name: String?, on server: Server) async throws {
    guard let row = rows.first(where: { $0.key == name }) else {
      fatalError("There is no row \(name ?? "without a name"); see `Benchmarks rows`.")
    }
    let figures = try await row.value(server)
    for figure in figures { print(figure) }
    if figures.contains(where: { !$0.holds }) { exit(1) }
  }
}
