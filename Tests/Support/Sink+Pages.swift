package import QuireExport
import QuireCore
import QuireJSON
import QuirePagination

extension Sink {
  /// Commits pages of lines, each in a session of its own; the last one completes the run.
  package func write(
    _ pages: [[String]], restarts: Bool = false, completes: Bool = true
  ) async throws {
    for (index, lines) in pages.enumerated() {
      let session = try await open(SinkOpening(restarts: restarts && index == 0))
      do {
        try await session.write(SinkPage(lines.map { try RawItem(Array($0.utf8)) }))
        var checkpoint = session.checkpoint ?? Checkpoint()
        if checkpoint.isComplete {
          checkpoint = Checkpoint(sequence: checkpoint.sequence, run: checkpoint.run + 1)
        }
        checkpoint.sequence += 1
        checkpoint.items += lines.count
        checkpoint.position =
          completes && index == pages.count - 1 ? nil : Position(.string("p\(index)"))
        try await session.commit(checkpoint)
      } catch {
        await session.close()
        throw error
      }
      await session.close()
    }
  }
}

/// A table of a database as a sink that knows the table's name.
package struct TableSink<Base: Sink>: Sink {
  package let base: Base
  package let table: String

  package init(_ base: Base, table: String) {
    self.base = base
    self.table = table
  }

  package var mode: SinkMode { base.mode }

  package func open(_ opening: SinkOpening) async throws -> any SinkSession {
    try await base.open(opening)
  }
}
