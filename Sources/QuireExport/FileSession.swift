import Foundation
import QuireCore

/// An export file that is open: its committed content, and the text written after that.
package final class FileSession: PausableSession {
  private let sink: FileSink
  private let format: FileFormat
  private let target: String
  private let calls: FileCalls
  private var claim: FileClaim?
  private var generations: GenerationFile
  /// The committed generation, as stored beside the file.
  private var stored: FileCommit
  /// Whether this session has stored nothing yet, so the file is as it was found.
  private var isUntouched = true
  /// Whether bytes were written after the committed ones.
  private var isDirty = false
  /// Whether saving a generation has failed, so that either of two generations may be the stored
  /// one.
  private var isInDoubt = false
  /// Whether the first commit is to empty the file.
  private var restarts: Bool
  private var isNew: Bool

  /// The destination, and the file that takes its place when the run is complete.
  private var destination: SinkFile
  private var staged: SinkFile?

  package private(set) var checkpoint: Checkpoint?
  /// The number of bytes that this session has committed.
  package private(set) var committedBytes = 0

  private var content: FileContent
  /// The offset of the next bytes, and the check sum of all bytes before it.
  private var end = 0
  private var sum = FileSum()
  /// The offset at which this session began to write.
  private var start = 0
  /// The number of bytes before `end` for which `beginSync` was not called yet.
  private var unsyncedBytes = 0

  init(_ sink: FileSink, _ format: FileFormat, _ opening: SinkOpening) throws {
    self.sink = sink
    self.format = format
    target = sink.target
    calls = sink.calls
    restarts = opening.restarts
    if sink.isLocked {
      let claim = try FileClaim(target)
      self.claim = claim
      (destination, isNew) = (
        SinkFile(calls: calls, path: target, descriptor: claim.descriptor), claim.isNew
      )
    } else {
      destination = try SinkFile(target, O_RDWR | O_CREAT, calls)
      isNew = try destination.size == 0
    }
    let empty = FileCommit(format: sink.settings(format))
    stored = empty
    content = FileContent(sink, format, empty)
    generations = GenerationFile(emptyWith: calls)
    do {
      try find(opening)
      if sink.isLocked, generations.newest == nil { try checkFolder() }
    } catch {
      close()
      throw error
    }
    start = end
  }

  // MARK: Existing content

  /// The committed content of the file, by this session or an earlier one; nil if there is none.
  package var committed: FileSink.Content? {
    isInDoubt ? sink.committed : generations.newest.map(FileSink.Content.init)
  }

  private func path(_ staged: FileCommit.Staged) -> String { staged.path(beside: target) }

  private func find(_ opening: SinkOpening) throws {
    do throws(SinkError) {
      generations = try GenerationFile(GenerationFile.path(beside: target), calls)
    } catch {
      // An export that begins anew replaces the checkpoint, so it need not be readable.
      guard restarts || sink.adopted != nil, [.damaged, .unsupported].contains(error.code) else {
        throw error
      }
      generations = GenerationFile(emptyWith: calls, at: GenerationFile.path(beside: target))
    }
    if restarts { return }
    if let adopted = sink.adopted { return try adopt(adopted) }
    guard var found = generations.newest else { return try takeOver() }
    // A table that a limit ended is replaced by a filled one, too.
    if found.isComplete || found.staged == .filled { try settle(&found) }
    if found.isComplete {
      // A run that was killed before its first commit may have left an empty file in place of a
      // complete one that was removed.
      let isGone = try isNew || destination.size == 0 && found.length + found.closingLength > 0
      if isGone { return handleRemovedFile(found) }
    }
    try checkSettings(found)
    // Set before anything can fail: `close` removes a staged file that `stored` does not name.
    stored = found
    if let staged = found.staged { self.staged = try open(staged, O_CREAT) }
    try verify(found, in: staged ?? destination)
    content = FileContent(sink, format, found)
    checkpoint = found.checkpoint?.checkpoint
  }

  /// Handles a file without a checkpoint: begins it if it is empty, and appends to it if the mode
  /// says so.
  private func takeOver() throws {
    let size = try destination.size
    guard size > 0 else { return }
    guard sink.mode == .append, format.kind == .jsonLines else {
      let isPlain = format.kind == .jsonLines
      let advice =
        sink.mode == .append && !isPlain
        ? "Only JSON Lines can be appended to what something else wrote."
        : "Begin anew to write in their place, \(isPlain ? "append to them, " : "")or write to another file."
      throw SinkError(
        .notOurs,
        "\(target) has \(size) bytes, and no checkpoint says that an export wrote them. \(advice) "
          + "Nothing was requested.")
    }
    let (sum, last) = try sum(of: destination, upTo: size)
    guard let endsLine = try format.isCompressed ? GzipReader.endsLine(destination) : last == 0x0A
    else {
      throw SinkError(
        .notOurs,
        "\(target) is no whole file of gzip: what came behind it could not be read. Nothing was requested."
      )
    }
    guard endsLine else {
      throw SinkError(
        .notOurs,
        "\(target) ends in the middle of a line: the next item would be glued to it. Nothing was "
          + "requested.")
    }
    (stored.length, stored.sum) = (size, sum.text)
    (end, self.sum) = (size, sum)
    content = FileContent(sink, format, stored)
  }

  /// Continues with content that is known from elsewhere than the file's checkpoint.
  private func adopt(_ known: FileSink.Content) throws {
    var found = FileCommit(
      length: known.length, sum: known.sum, mayHaveUncommittedBytes: true,
      format: sink.settings(format))
    found.checkpoint = known.checkpoint.map(Checkpoint.Stored.init)
    try verify(found, in: destination)
    stored = found
    content = FileContent(sink, format, found)
    checkpoint = known.checkpoint
  }

  /// Finishes an interrupted replacement: the staged file of a complete or paused run takes the
  /// destination's place.
  private func settle(_ found: inout FileCommit) throws {
    guard let staged = found.staged, !found.mayHaveUncommittedBytes else { return }
    found.staged = nil
    let file: SinkFile
    do throws(SinkError) {
      file = try open(staged, 0)
    } catch {
      guard error.reason == ENOENT else { throw error }
      // The staged file has the destination's name already.
      return
    }
    do {
      // Closed before the destination is locked: closing any descriptor of a file releases its
      // record locks.
      defer { file.close() }
      try verify(found, in: file)
    }
    // From here on the name may belong to the complete file: if a later step fails, `close` must
    // not remove it.
    isNew = false
    try takePlace(staged)
    guard sink.isLocked else {
      destination.close()
      destination = try SinkFile(target, O_RDWR, calls)
      return
    }
    // The name now belongs to another file, which needs its own lock.
    claim = nil
    let claim = try FileClaim(target)
    self.claim = claim
    destination = SinkFile(calls: calls, path: target, descriptor: claim.descriptor)
    isNew = claim.isNew
  }

  /// Handles a complete file that was removed: the next run writes a new one. Unless the mode is
  /// `.once`, it keeps the checkpoint, from which later runs take what they need.
  private func handleRemovedFile(_ found: FileCommit) {
    if sink.mode != .once { checkpoint = found.checkpoint?.checkpoint }
    stored.checkpoint = checkpoint.map(Checkpoint.Stored.init)
  }

  private func checkSettings(_ found: FileCommit) throws {
    guard found.format != sink.settings(format) else { return }
    throw SinkError(
      .otherRequest,
      "\(target) was written with the settings \(found.format), and this export has "
        + "\(sink.settings(format)). Go on with the same, begin anew, or write to another file. "
        + "Nothing was requested.")
  }

  private func open(_ staged: FileCommit.Staged, _ flags: Int32) throws(SinkError) -> SinkFile {
    try SinkFile(path(staged), O_RDWR | O_NOFOLLOW | flags, calls)
  }

  /// Throws if the committed bytes have changed.
  private func verify(_ found: FileCommit, in file: SinkFile) throws {
    let size = try file.size
    guard size >= found.length else {
      throw SinkError(
        .damaged,
        "\(file.path) has \(size) bytes, and \(found.length) are committed: items are missing. Restore "
          + "it, or begin anew. Nothing was requested.")
    }
    let (sum, _) = try sum(of: file, upTo: found.length)
    guard sum.text == found.sum else {
      throw SinkError(
        .damaged,
        "\(file.path) has other content than when it was committed: its first \(found.length) bytes "
          + "have the CRC-32 \(sum.text), and had \(found.sum). Restore it, or begin anew. Nothing "
          + "was requested.")
    }
    let whole = found.length + found.closingLength
    guard found.mayHaveUncommittedBytes || size <= whole else {
      throw SinkError(
        .notOurs,
        "\(file.path) has \(size - whole) bytes behind its \(whole) that something else wrote. Take "
          + "them away, or begin anew. Nothing was requested.")
    }
    (end, self.sum) = (found.length, sum)
  }

  private func sum(of file: SinkFile, upTo length: Int) throws -> (FileSum, last: UInt8?) {
    var (sum, offset, last) = (FileSum(), 0, UInt8?.none)
    var buffer = [UInt8](repeating: 0, count: min(1 << 20, max(length, 1)))
    while offset < length {
      let count = min(try file.read(&buffer, at: offset), length - offset)
      guard count > 0 else { break }
      buffer.withUnsafeBytes { sum.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      last = buffer[count - 1]
      offset += count
    }
    return (sum, last)
  }

  // MARK: Writing

  package func write(_ page: SinkPage) throws {
    var next = 0
    while next < page.items.count {
      next = try content.append(page.items, from: next)
      // A file to be emptied keeps its content until the first commit.
      if content.isFull, !restarts { try flush(ends: false) }
    }
  }

  package func commit(_ checkpoint: Checkpoint) throws {
    try checkPlace()
    try flush(ends: true)
    var next = FileCommit(
      length: end, sum: sum.text, mayHaveUncommittedBytes: !checkpoint.isComplete,
      staged: staged == nil ? nil : stored.staged ?? .replacement,
      format: stored.format, columns: content.foundColumns, isRagged: content.isRagged)
    next.checkpoint = Checkpoint.Stored(checkpoint)
    let filled = checkpoint.isComplete && content.isRagged ? try createStaged(.filled) : nil
    do {
      if let filled { try fill(filled, &next) }
      let file = filled ?? staged ?? destination
      let closing = try content.closing(after: next.length)
      if !closing.isEmpty {
        isDirty = true
        try file.write(closing, at: next.length)
      }
      next.closingLength = closing.count
      try file.sync()
      unsyncedBytes = 0
      try save(next)
    } catch {
      if let filled { drop(filled) }
      throw error
    }
    if let filled {
      staged?.close()
      staged = filled
    }
    (self.checkpoint, committedBytes, isDirty) = (checkpoint, end - start, false)
    if checkpoint.isComplete, let staged, let kind = next.staged {
      self.staged = nil
      defer { staged.close() }
      try takePlace(kind)
    }
  }

  /// Throws if others have moved, removed or replaced the file that is written.
  private func checkPlace() throws(SinkError) {
    guard staged == nil, let claim, !claim.isAt(target) else { return }
    throw SinkError(
      .writeFailed,
      "\(target) was moved, removed or replaced while the export wrote to it. Put it back, or begin anew."
    )
  }

  /// Removes what a killed run left behind the committed bytes. Replaces a table whose rows have
  /// fewer cells than there are columns by a filled one, with which the run can be continued.
  package func pause() throws {
    // The rows of a replacement are not for readers before the run is complete.
    guard staged == nil, !isDirty else { return }
    if isUntouched, stored.checkpoint != nil { try restoreEnd(of: destination) }
    guard content.isRagged else { return }
    var next = stored
    let filled = try createStaged(.filled)
    do {
      try fill(filled, &next)
      next.mayHaveUncommittedBytes = false
      try filled.sync()
      try save(next)
    } catch {
      drop(filled)
      throw error
    }
    defer { filled.close() }
    try takePlace(.filled)
  }

  /// Removes the bytes behind the committed ones, and restores the closing text.
  private func restoreEnd(of file: SinkFile) throws {
    let closing = try content.closing(after: stored.length)
    try file.truncate(to: stored.length)
    if stored.closingLength > 0 { try file.write(closing, at: stored.length) }
  }

  private func save(_ next: FileCommit) throws(SinkError) {
    isInDoubt = true
    do throws(SinkError) {
      try generations.save(next)
    } catch {
      // A generation that is too long is refused before anything is written.
      isInDoubt = error.code != .unsupported
      throw error
    }
    isInDoubt = false
    stored = next
  }

  /// Renames the staged file of a complete run to the destination.
  private func takePlace(_ kind: FileCommit.Staged) throws(SinkError) {
    try GenerationFile.rename(path(kind), to: target, calls)
    // A filled table was copied from the replacement, which is no longer needed.
    if kind == .filled, sink.mode == .replace { _ = calls.remove(path(.replacement)) }
  }

  /// Writes the text in memory. If a commit `ends`, also ends the gzip member.
  private func flush(ends: Bool) throws {
    try begin()
    try content.drain(endsMember: ends) { bytes in
      guard !bytes.isEmpty else { return }
      isDirty = true
      // Summed before the write, while the bytes are in the processor's cache.
      var sum = sum
      sum.add(bytes)
      let file = staged ?? destination
      try file.write(bytes, at: end)
      (end, self.sum) = (end + bytes.count, sum)
      // Starts writing to disk while the next pages are read, so that the commit has less to wait
      // for.
      unsyncedBytes += bytes.count
      guard unsyncedBytes >= 4 << 20 else { return }
      file.beginSync(end - unsyncedBytes..<end)
      unsyncedBytes = 0
    }
  }

  /// Marks the file as open before the first byte is written, so that after a crash the bytes
  /// behind the committed ones are known to be an export's own.
  private func begin() throws {
    guard isUntouched else { return }
    var next = stored
    next.mayHaveUncommittedBytes = true
    let wasStaged = generations.newest?.staged != nil
    // Names that this run or an earlier one has created must be durable before a generation refers
    // to them.
    try syncFolder()
    if restarts {
      next = FileCommit(mayHaveUncommittedBytes: true, format: stored.format)
    } else if stored.fellShort {
      // The file beside the destination is written from its beginning.
      next = FileCommit(mayHaveUncommittedBytes: true, staged: stored.staged, format: stored.format)
      next.checkpoint = stored.checkpoint
      (start, end, sum) = (0, 0, FileSum())
      content.beginAnew(sink)
    } else if stored.isComplete, sink.mode == .replace, !isNew {
      // The destination stays as it is, and the other file does not count before its first commit.
      // A stored generation that names a complete file there is replaced first: it would take the
      // new file for that one.
      if wasStaged { try save(stored) }
      staged = try createStaged(.replacement)
      (start, end, sum, isUntouched) = (0, 0, FileSum(), false)
      content.beginAnew(sink)
      return
    }
    try save(next)
    let file = staged ?? destination
    if try file.size > next.length { try file.truncate(to: next.length) }
    // No stored generation refers to files staged by earlier runs any more.
    if staged == nil {
      _ = calls.remove(path(.replacement))
      _ = calls.remove(path(.filled))
    }
    (isUntouched, restarts) = (false, false)
  }

  /// Creates an empty file that takes the destination's place later, for the same readers.
  private func createStaged(_ staged: FileCommit.Staged) throws -> SinkFile {
    _ = calls.remove(path(staged))
    let file = try open(staged, O_CREAT | O_EXCL)
    calls.imitate(file.descriptor, destination.descriptor)
    do {
      try syncFolder()
    } catch {
      drop(file)
      throw error
    }
    return file
  }

  private var folder: String { URL(fileURLWithPath: target).deletingLastPathComponent().path }

  /// Throws if no checkpoint can be created beside the file: the first commit would fail.
  private func checkFolder() throws {
    guard access(folder, W_OK) != 0 else { return }
    let reason = errno
    throw SinkError(
      .writeFailed,
      "Cannot write to \(folder), where the checkpoint of \(target) is to be: \(String(cString: strerror(reason))). "
        + "Nothing was requested.", reason: reason)
  }

  /// Makes the names of new files durable.
  private func syncFolder() throws {
    try SinkFile.checkSync(calls.syncFolder(folder), folder)
  }

  /// Copies the table to `filled`, giving each row all columns that were found.
  private func fill(_ filled: SinkFile, _ next: inout FileCommit) throws {
    (next.length, next.sum) = try content.fill(staged ?? destination, upTo: end, into: filled)
    (next.staged, next.isRagged) = (.filled, false)
  }

  /// Closes and removes a file that no generation refers to.
  private func drop(_ file: SinkFile) {
    file.close()
    if !isInDoubt { _ = calls.remove(file.path) }
  }

  package func close() {
    // Removes uncommitted bytes and restores the closing text where possible. The next run would
    // also do so.
    let isReplacement = staged != nil && stored.staged == nil
    if isReplacement, !isInDoubt { _ = calls.remove(path(.replacement)) }
    if isDirty, !isInDoubt, !isReplacement { try? restoreEnd(of: staged ?? destination) }
    if isUntouched, isNew, claim?.isAt(target) == true { _ = calls.remove(target) }
    staged?.close()
    staged = nil
    generations.close()
    if !sink.isLocked { destination.close() }
    claim = nil
  }
}
