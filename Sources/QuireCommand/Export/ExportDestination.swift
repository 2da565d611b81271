import Foundation
import Quire
import QuireExport
import Synchronization

/// Where an export of the command line writes: a sink of the library's, or a stream, and beside it the items
/// that were set aside.
struct ExportDestination: Sink {
  let files: OutputFiles
  /// What `-o` names; nil for standard output, pipes and devices, which hold no checkpoint.
  let base: (any Sink)?
  let meter: ProgressMeter
  let record: WrittenRecord

  var mode: SinkMode { base?.mode ?? .once }

  func open(_ opening: SinkOpening) async throws -> any SinkSession {
    let session: any SinkSession
    if let base {
      session = try await base.open(opening)
    } else {
      session = StreamSession(try await files.openItems(opening.isStopping, record), record)
    }
    do {
      let isContinued = session.checkpoint != nil || files.point != nil
      let aside = try await files.openBadItems(
        isContinued: isContinued, opening.isStopping, record)
      return Session(
        base: session, aside: BadItemWriter(aside, meter: meter), record: record,
        file: base as? FileSink)
    } catch {
      await session.close()
      throw error
    }
  }

  private final class Session: SinkSession {
    private let base: any SinkSession
    private let aside: BadItemWriter
    private let record: WrittenRecord
    private let file: FileSink?

    init(
      base: any SinkSession, aside: BadItemWriter, record: WrittenRecord, file: FileSink?
    ) {
      self.base = base
      self.aside = aside
      self.record = record
      self.file = file
      if file != nil { record.update { $0.output = nil } }
    }

    var checkpoint: Checkpoint? { base.checkpoint }

    func write(_ page: SinkPage) async throws {
      try await base.write(page)
      // Before the page counts: what fails in between comes again, and nothing is lost.
      try aside.write(page)
    }

    func commit(_ checkpoint: Checkpoint) async throws {
      if checkpoint.isComplete { try aside.finish() }
      try await base.commit(checkpoint)
    }

    func close() async {
      aside.confirm()
      await base.close()
      record.update { content in
        content.badItems = aside.record
        guard let file, let session = base as? FileSession else { return }
        content.output = session.committed.map {
          FileRecord(path: file.absolutePath, bytes: $0.length, checksum: $0.sum)
        }
        content.bytes = session.committedBytes
      }
    }
  }
}

/// Standard output, a pipe or a device: lines that are out of the process when they are committed.
private final class StreamSession: SinkSession {
  private let writer: LineWriter
  private let record: WrittenRecord
  private(set) var checkpoint: Checkpoint?

  init(_ writer: LineWriter, _ record: WrittenRecord) {
    self.writer = writer
    self.record = record
  }

  func write(_ page: SinkPage) {
    for item in page.items { writer.appendLine(item.appendCompact) }
  }

  func commit(_ checkpoint: Checkpoint) throws {
    if checkpoint.isComplete { try writer.finish() } else { try writer.commit() }
    self.checkpoint = checkpoint
  }

  func close() {
    // What a crash of the machine takes back must not be in a report.
    writer.confirm()
    record.update { ($0.output, $0.bytes) = (writer.record, writer.bytesWritten) }
  }
}

/// What is known of the files of an export once they are closed.
final class WrittenRecord: Sendable {
  struct Content: Sendable {
    /// The file with the items; nil where they went elsewhere.
    var output: FileRecord?
    /// The file with the items that were set aside.
    var badItems: FileRecord?
    /// Bytes of items written, line breaks included.
    var bytes = 0
    /// What is to be said of the files.
    var warnings: [String] = []
  }

  private let state: Mutex<Content>

  init(_ content: Content) { state = Mutex(content) }

  var content: Content { state.withLock { $0 } }

  func update(_ change: (inout Content) -> Void) { state.withLock { change(&$0) } }
}
