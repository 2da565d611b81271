import Quire

/// What merging costs when fetching costs nothing.
enum Merges {
  struct Entry: Sendable {
    var date: Int
    var id: String
  }

  static func measure() async throws -> [Figure] {
    let before = ProcessStatus.residentBytes
    let wide = merge(sources: 1_000, pages: 10, of: 20)
    let compared = merge(sources: 1_000, pages: 10, of: 20, comparing: true)
    let narrow = merge(sources: 2, pages: 1_000, of: 100)
    let rounds = try await Measurement.rounds(
      of: { try await read(wide, 200_000) }, { try await read(compared, 200_000) },
      { try await read(narrow, 200_000) }, count: 5)
    let held = Double(ProcessStatus.peakResidentBytes - before) / 1_048_576
    return [
      Figure(
        "merge of 1,000 sources, entries", 200_000 / rounds.fastest(0), "/s", .atLeast(200_000)),
      Figure("  the same without duplicates", 200_000 / rounds.fastest(1), "/s", .atLeast(200_000)),
      Figure("merge of 2 sources, entries", 200_000 / rounds.fastest(2), "/s", .atLeast(200_000)),
      Figure("merges of 1,000 sources, memory", held, "MiB", .atMost(64)),
    ]
  }

  /// Entries whose dates lie between those of all other sources.
  private static func merge(
    sources: Int, pages: Int, of count: Int, comparing: Bool = false
  ) -> Cursor<Entry> {
    let cursors = (0..<sources).map { source in
      Cursor<Entry> { position in
        let page = position?.value?.integer ?? 0
        let entries = (page * count..<(page + 1) * count).map {
          Entry(date: $0 * sources + source, id: "https://example.org/\(source)/\($0)")
        }
        return Page(entries, next: page + 1 < pages ? Position(integerLiteral: page + 1) : nil)
      }
    }
    return comparing
      ? .merged(cursors, by: \.date, duplicates: \.id) : .merged(cursors, by: \.date)
  }

  private static func read(_ cursor: Cursor<Entry>, _ count: Int) async throws {
    var (entries, last) = (0, -1)
    for try await entry in cursor.items {
      precondition(entry.date > last)
      (entries, last) = (entries + 1, entry.date)
    }
    precondition(entries == count)
  }
}
