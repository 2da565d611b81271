import Foundation
import Quire
import QuireExport
import Synchronization

/// The destination of an export of the command line: one of the library's sinks or a stream,
/// together with the output for bad items.
struct ExportDestination: Sink {
  let files: OutputFiles
  /// The sink of `-o`; nil for standard output, pipes and devices, which hold no checkpoint.
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
        isContinued: isContinued, from: session.checkpoint?.aside, opening.isStopping, record)
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
      // Before the commit of the page: a failure in between repeats bad items and loses none.
      try aside.write(page)
    }

    func commit(_ checkpoint: Checkpoint) async throws {
      // On disk before the checkpoint that passes these items, which are not read again.
      try aside.store()
      var checkpoint = checkpoint
      if let file = aside.record {
        // Where the next run finds the items of pages that were committed.
        checkpoint.aside = AsideFile(path: file.path, bytes: file.bytes, checksum: file.checksum)
      }
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

/// Standard output, a pipe or a device. A commit passes the lines to the system.
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
    // A report must not count what a crash of the machine would undo.
    writer.confirm()
    record.update { ($0.output, $0.bytes) = (writer.record, writer.bytesWritten) }
  }
}

/// The state of an export's files once they are closed.
final class WrittenRecord: Sendable {
  struct Content: Sendable {
    /// The file with the items; nil if they were written elsewhere.
    var output: FileRecord?
    /// The file with the bad items.
    var badItems: FileRecord?
    /// The bytes of items written, line breaks included.
    var bytes = 0
    /// Warnings about the files.
    var warnings: [String] = []
  }

  private let state: Mutex<Content>

  init(_ content: Content) { state = Mutex(content) }

  var content: Content { state.withLock { $0 } }

  func update(_ change: (inout Content) -> Void) { state.withLock { change(&$0) } }
}
