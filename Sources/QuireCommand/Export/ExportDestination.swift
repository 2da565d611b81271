import Foundation
import Quire
import QuireCore
import QuireExport
import QuirePagination
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
        file: base as? FileSink, columns: files.columns)
    } catch {
      await session.close()
      throw error
    }
  }

  private final class Session: PausableSession {
    private let base: any SinkSession
    private let aside: BadItemWriter
    private let record: WrittenRecord
    private let file: FileSink?
    private var numbers: PageNumbers
    /// The chosen columns for which no item has had a value yet.
    private var emptyColumns: [TableColumn]
    private var hasItems = false

    init(
      base: any SinkSession, aside: BadItemWriter, record: WrittenRecord, file: FileSink?,
      columns: [TableColumn]
    ) {
      emptyColumns = columns
      self.base = base
      self.aside = aside
      self.record = record
      self.file = file
      numbers = PageNumbers(after: base.checkpoint)
      if file != nil { record.update { $0.output = nil } }
    }

    var checkpoint: Checkpoint? { base.checkpoint }

    func write(_ page: SinkPage) async throws {
      try await base.write(page)
      hasItems = hasItems || !page.items.isEmpty
      emptyColumns.removeAll { column in
        page.items.contains { (try? $0.compact(at: column.path)) != nil }
      }
      // Before the commit of the page: a failure in between repeats bad items and loses none.
      var page = page
      page.index = numbers.number(page)
      try aside.write(page)
    }

    func commit(_ checkpoint: Checkpoint) async throws {
      // On disk before the checkpoint that passes these items, which are not read again.
      try aside.store()
      var checkpoint = checkpoint
      let next = numbers.next(at: checkpoint.position)
      if let file = aside.record {
        // Where the next run finds the items of pages that were committed.
        checkpoint.aside = AsideFile(
          path: file.path, bytes: file.bytes, checksum: file.checksum, page: next)
      } else {
        checkpoint.aside?.page = next
      }
      try await base.commit(checkpoint)
    }

    func pause() async throws { try await (base as? any PausableSession)?.pause() }

    func close() async {
      aside.confirm()
      await base.close()
      record.update { content in
        content.badItems = aside.record
        if hasItems {
          content.warnings += emptyColumns.map {
            "no item of this run had anything at \($0.path.place), for the column \"\($0.name)\"."
          }
        }
        guard let file, let session = base as? FileSession else { return }
        content.output = session.committed.map {
          FileRecord(path: file.absolutePath, bytes: $0.length, checksum: $0.sum)
        }
        content.bytes = session.committedBytes
      }
    }
  }
}

/// The numbers of the pages of an export, from 0, which several runs may read.
struct PageNumbers {
  /// The number of the first page of this run.
  private var first: Int
  /// The last page, with its number in place of its index in the run.
  private var last: (number: Int, index: Int, position: Position)?

  /// Creates the numbers of the pages behind a checkpoint. A page that was read in parts counts
  /// once, unless the run has set nothing aside into a file.
  init(after checkpoint: Checkpoint?) {
    guard let checkpoint, !checkpoint.isOver else {
      first = 0
      return
    }
    let isWithinPage = checkpoint.position.map { $0.itemOffset > 0 } ?? false
    first = checkpoint.aside?.page ?? max(0, checkpoint.pages - (isWithinPage ? 1 : 0))
  }

  /// Returns the number of a page that has its index in this run.
  mutating func number(_ page: SinkPage) -> Int {
    // An expired cursor makes a run begin its listing again.
    if let last, page.index < last.index { first = 0 }
    last = (first + page.index, page.index, page.position)
    return first + page.index
  }

  /// The number of the page at a position behind the last page, or inside it.
  func next(at position: Position?) -> Int {
    guard let last else { return first }
    let isWithinPage = position.map { $0.itemOffset > 0 && $0.page == last.position.page } ?? false
    return isWithinPage ? last.number : last.number + 1
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
