import Foundation
import QuireCore

/// A file that one export has open: what is committed of it, and what stands behind that.
package final class FileSession: SinkSession {
  private let sink: FileSink
  private let format: FileFormat
  private let target: String
  private let calls: FileCalls
  private var claim: FileClaim?
  private var generations: GenerationFile
  /// What is committed, and stored so.
  private var stored: FileCommit
  /// Whether nothing of this session is stored yet: the file is as it was found.
  private var isUntouched = true
  /// Whether something was written behind what is committed.
  private var isDirty = false
  /// Whether it is open which of two generations counts: saving the newer one has failed.
  private var isInDoubt = false
  /// Whether the file is to be emptied first.
  private var restarts: Bool
  private var isNew: Bool

  /// The destination itself, and what takes its place when the run is complete.
  private var destination: SinkFile
  private var staged: SinkFile?

  package private(set) var checkpoint: Checkpoint?
  /// Bytes that this session has committed.
  package private(set) var committedBytes = 0

  private var content: FileContent
  /// Where the next bytes go, and the sum of those in front.
  private var end = 0
  private var sum = FileSum()
  /// Where the bytes of this session begin.
  private var start = 0
  /// Bytes in front of `end` that are not on their way to the disk.
  private var unbegun = 0

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
      let descriptor = calls.open(target, O_RDWR | O_CREAT)
      guard descriptor >= 0 else { throw SinkFile.failure(-descriptor, "open", target) }
      destination = SinkFile(calls: calls, path: target, descriptor: descriptor)
      isNew = try destination.size == 0
    }
    let empty = FileCommit(format: sink.settings(format))
    stored = empty
    content = FileContent(sink, format, empty)
    generations = GenerationFile(none: calls)
    do {
      try find(opening)
    } catch {
      close()
      throw error
    }
    start = end
  }

  // MARK: What is there

  /// What is committed of the file, by this session or before; nil where nothing is.
  package var committed: FileSink.Content? {
    isInDoubt ? sink.committed : generations.newest.map(FileSink.Content.init)
  }

  private func path(_ staged: FileCommit.Staged) -> String { staged.path(beside: target) }

  private func find(_ opening: SinkOpening) throws {
    do throws(SinkError) {
      generations = try GenerationFile(GenerationFile.path(beside: target), calls)
    } catch {
      // What cannot be read is of no use to an export that begins anew, which replaces it.
      guard restarts || sink.adopted != nil, [.damaged, .unsupported].contains(error.code) else {
        throw error
      }
      generations = GenerationFile(none: calls, at: GenerationFile.path(beside: target))
    }
    if restarts { return }
    if let adopted = sink.adopted { return try adopt(adopted) }
    guard var found = generations.newest else { return try takeOver() }
    if found.isComplete {
      try settle(&found)
      // An empty one was made in its place by a run that was killed in front of its first commit.
      let isGone = try isNew || destination.size == 0 && found.length + found.closing > 0
      if isGone { return takenAway(found) }
    }
    try checkSettings(found)
    // In front of all that may fail: what is stored is not taken away when the session closes.
    stored = found
    if let staged = found.staged { self.staged = try open(staged, O_CREAT) }
    try verify(found, in: staged ?? destination)
    content = FileContent(sink, format, found)
    checkpoint = found.checkpoint?.checkpoint
  }

  /// A file without a checkpoint is begun only where it is empty, and continued only where that was asked
  /// for.
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

  /// Goes on with what is known from elsewhere.
  private func adopt(_ known: FileSink.Content) throws {
    var found = FileCommit(
      length: known.length, sum: known.sum, isOpen: true, format: sink.settings(format))
    found.checkpoint = known.checkpoint.map(Checkpoint.Stored.init)
    try verify(found, in: destination)
    stored = found
    content = FileContent(sink, format, found)
    checkpoint = known.checkpoint
  }

  /// A complete run whose file was about to take the destination's place does so now.
  private func settle(_ found: inout FileCommit) throws {
    guard let staged = found.staged, !found.isOpen else { return }
    found.staged = nil
    let file: SinkFile
    do throws(SinkError) {
      file = try open(staged, 0)
    } catch {
      guard error.reason == ENOENT else { throw error }
      // It has the destination's name already.
      return
    }
    do {
      // Before its lock is taken, which would end with this descriptor.
      defer { calls.close(file.descriptor) }
      try verify(found, in: file)
    }
    // The name may be that of what is complete from here on: what fails behind it takes no file away.
    isNew = false
    try takePlace(staged)
    guard sink.isLocked else {
      calls.close(destination.descriptor)
      let descriptor = calls.open(target, O_RDWR)
      guard descriptor >= 0 else { throw SinkFile.failure(-descriptor, "open", target) }
      destination = SinkFile(calls: calls, path: target, descriptor: descriptor)
      return
    }
    // Another file has the name now, and needs a lock of its own.
    claim = nil
    let claim = try FileClaim(target)
    self.claim = claim
    destination = SinkFile(calls: calls, path: target, descriptor: claim.descriptor)
    isNew = claim.isNew
  }

  /// The file was taken away once it was complete: the next run begins another one, and knows what came
  /// before where that matters.
  private func takenAway(_ found: FileCommit) {
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
    let path = path(staged)
    let descriptor = calls.open(path, O_RDWR | O_NOFOLLOW | flags)
    guard descriptor >= 0 else { throw SinkFile.failure(-descriptor, "open", path) }
    return SinkFile(calls: calls, path: path, descriptor: descriptor)
  }

  /// Throws where the committed bytes are not what they were.
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
    let whole = found.length + found.closing
    guard found.isOpen || size <= whole else {
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
      // What is to be emptied keeps what it has until the first commit.
      if content.isFull, !restarts { try flush(ends: false) }
    }
  }

  package func commit(_ checkpoint: Checkpoint) throws {
    try flush(ends: true)
    var next = FileCommit(
      length: end, sum: sum.text, isOpen: !checkpoint.isComplete,
      staged: staged == nil ? nil : stored.staged ?? .replacement,
      format: stored.format, columns: content.foundColumns, isRagged: content.isRagged)
    next.checkpoint = Checkpoint.Stored(checkpoint)
    let filled = checkpoint.isComplete && content.isRagged ? try fresh(.filled) : nil
    do {
      if let filled { try fill(filled, &next) }
      let file = filled ?? staged ?? destination
      let closing = try content.closing(after: next.length)
      if !closing.isEmpty {
        isDirty = true
        try file.write(closing, at: next.length)
      }
      next.closing = closing.count
      try file.sync()
      unbegun = 0
      try save(next)
    } catch {
      if let filled { drop(filled) }
      throw error
    }
    if let filled {
      if let staged { calls.close(staged.descriptor) }
      staged = filled
    }
    (self.checkpoint, committedBytes, isDirty) = (checkpoint, end - start, false)
    if checkpoint.isComplete, let staged, let kind = next.staged {
      self.staged = nil
      defer { calls.close(staged.descriptor) }
      try takePlace(kind)
    }
  }

  private func save(_ next: FileCommit) throws(SinkError) {
    isInDoubt = true
    do throws(SinkError) {
      try generations.save(next)
    } catch {
      // What is too long is refused before it is written.
      isInDoubt = error.code != .unsupported
      throw error
    }
    isInDoubt = false
    stored = next
  }

  /// What is complete takes the destination's place.
  private func takePlace(_ kind: FileCommit.Staged) throws(SinkError) {
    try GenerationFile.rename(path(kind), to: target, calls)
    // Of a replacement that was filled, what it was made of is left.
    if kind == .filled, sink.mode == .replace { _ = calls.remove(path(.replacement)) }
  }

  /// Writes what is in memory; the end of a commit ends a gzip member, too.
  private func flush(ends: Bool) throws {
    try begin()
    try content.take(ends: ends) { bytes in
      guard !bytes.isEmpty else { return }
      isDirty = true
      // First, while they are near: what is written has passed through the processor's cache.
      var sum = sum
      sum.add(bytes)
      let file = staged ?? destination
      try file.write(bytes, at: end)
      (end, self.sum) = (end + bytes.count, sum)
      // So that a commit has little to wait for: the disk writes while the next pages are read.
      unbegun += bytes.count
      guard unbegun >= 4 << 20 else { return }
      file.beginSync(end - unbegun..<end)
      unbegun = 0
    }
  }

  /// Before the first byte is written: says where the bytes of exports end, so that what comes behind is
  /// known for what it is, whenever the machine stops.
  private func begin() throws {
    guard isUntouched else { return }
    var next = stored
    next.isOpen = true
    let wasStaged = generations.newest?.staged != nil
    // Names that this run or another one has made or taken are there for good before a generation counts on them.
    try syncFolder()
    if restarts {
      next = FileCommit(isOpen: true, format: stored.format)
    } else if stored.fellShort {
      // The file beside the destination begins anew.
      next = FileCommit(isOpen: true, staged: stored.staged, format: stored.format)
      next.checkpoint = stored.checkpoint
      (start, end, sum) = (0, 0, FileSum())
      content.beginAnew(sink)
    } else if stored.isComplete, sink.mode == .replace, !isNew {
      // The destination stays what it is, and what is in the other file counts for nothing before its first
      // commit: nor may it be taken for the complete one that had its name before.
      if wasStaged { try save(stored) }
      staged = try fresh(.replacement)
      (start, end, sum, isUntouched) = (0, 0, FileSum(), false)
      content.beginAnew(sink)
      return
    }
    try save(next)
    let file = staged ?? destination
    if try file.size > next.length { try file.truncate(to: next.length) }
    // Only now does no generation count what others have staged.
    if staged == nil {
      _ = calls.remove(path(.replacement))
      _ = calls.remove(path(.filled))
    }
    (isUntouched, restarts) = (false, false)
  }

  /// An empty file to take the destination's place later.
  private func fresh(_ staged: FileCommit.Staged) throws -> SinkFile {
    _ = calls.remove(path(staged))
    let file = try open(staged, O_CREAT | O_EXCL)
    do {
      try syncFolder()
    } catch {
      drop(file)
      throw error
    }
    return file
  }

  /// Returns when the names of new files survive a loss of power.
  private func syncFolder() throws {
    let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
    try SinkFile.checkSync(calls.syncFolder(folder), folder)
  }

  /// Writes the table once more, each row with all columns that were found.
  private func fill(_ filled: SinkFile, _ next: inout FileCommit) throws {
    (next.length, next.sum) = try content.fill(staged ?? destination, upTo: end, into: filled)
    (next.staged, next.isRagged) = (.filled, false)
  }

  /// Takes a file away that no generation counts on.
  private func drop(_ file: SinkFile) {
    calls.close(file.descriptor)
    if !isInDoubt { _ = calls.remove(file.path) }
  }

  package func close() {
    // What is not committed counts for nothing; as far as that goes, it is taken out of sight as well.
    let isReplacement = staged != nil && stored.staged == nil
    if isReplacement, !isInDoubt { _ = calls.remove(path(.replacement)) }
    if isDirty, !isInDoubt, !isReplacement, let closing = try? content.closing(after: stored.length)
    {
      let file = staged ?? destination
      try? file.truncate(to: stored.length)
      if stored.closing > 0 { try? file.write(closing, at: stored.length) }
    }
    if isUntouched, isNew, sink.isLocked { _ = calls.remove(target) }
    if let staged { calls.close(staged.descriptor) }
    staged = nil
    generations.close()
    if !sink.isLocked { calls.close(destination.descriptor) }
    claim = nil
  }
}
