import Foundation

/// How far a file of items is committed, in a file of its own beside it, readable by its owner only.
///
/// Two slots of equal size take turns: while one is written, the other keeps the generation before it,
/// and of two whole ones the newer counts. The room of both is taken when the file is made, so that a
/// full disk has room for the next generation; a larger one moves both into a new file, which takes
/// the old one's place at once.
struct GenerationFile {
  private let calls: FileCalls
  private let path: String
  private var file: SinkFile?
  private var slotSize = 4096
  /// The newest generation and its number; nil where there is none.
  private(set) var newest: FileCommit?
  private var number = 0

  private struct Entry: Codable {
    var number: Int
    var commit: FileCommit
  }

  /// Where it is beside a file of items.
  static func path(beside target: String) -> String { target + ".checkpoint" }

  /// Where a larger one is until it takes its place.
  static func temporaryPath(for path: String) -> String { path + ".new" }

  /// No file at all.
  init(none calls: FileCalls, at path: String = "") { (self.path, self.calls) = (path, calls) }

  /// Opens the file at `path` where there is one, and reads the newest whole generation.
  ///
  /// Throws `SinkError` with the code `.damaged` where there are only broken ones.
  init(_ path: String, _ calls: FileCalls) throws(SinkError) {
    (self.path, self.calls) = (path, calls)
    let descriptor = calls.open(path, O_RDWR | O_NOFOLLOW)
    if descriptor == -ENOENT { return }
    guard descriptor >= 0 else { throw SinkFile.failure(-descriptor, "open", path) }
    let file = SinkFile(calls: calls, path: path, descriptor: descriptor)
    self.file = file
    do throws(SinkError) {
      try read(file)
    } catch {
      calls.close(descriptor)
      throw error
    }
  }

  private mutating func read(_ file: SinkFile) throws(SinkError) {
    let size = try file.size
    // Slots of twice the longest line, as `replace` makes them.
    guard size <= 4 * Self.longest else {
      throw SinkError(.damaged, "\(path) has \(size) bytes, far more than a checkpoint has.")
    }
    slotSize = max(4096, size / 2)
    var buffer = [UInt8](repeating: 0, count: max(size, 1))
    var count = 0
    while count < size {
      var rest = [UInt8](repeating: 0, count: size - count)
      let more = try file.read(&rest, at: count)
      if more == 0 { break }
      buffer.replaceSubrange(count..<count + more, with: rest[..<more])
      count += more
    }
    var fault: SinkError?
    for slot in 0..<2 {
      let start = slot * slotSize
      let text = buffer[min(start, count)..<min(start + slotSize, count)].prefix {
        $0 != 0x0A && $0 != 0
      }
      guard !text.isEmpty else { continue }
      do {
        let entry = try Seal.file.open(Entry.self, in: text)
        if entry.number > number { (newest, number) = (entry.commit, entry.number) }
      } catch {
        fault = error
      }
    }
    if newest == nil, var fault {
      fault.message = "\(path): \(fault.message)"
      throw fault
    }
  }

  /// The longest line: positions are small, and so is what an increment keeps of its items.
  private static let longest = 16 << 20

  /// Makes a generation the newest; it survives a loss of power when this returns.
  ///
  /// Throws `SinkError` with the code `.unsupported`, and leaves the file as it is, for one that is too long to be
  /// read again.
  mutating func save(_ commit: FileCommit) throws(SinkError) {
    var line = Seal.file.close(Entry(number: number + 1, commit: commit))
    line.append(0x0A)
    guard line.count <= Self.longest else {
      throw SinkError(
        .unsupported,
        "The checkpoint that belongs into \(path) has \(line.count) bytes, more than \(Self.longest): what was "
          + "committed before stays. An increment with a key keeps what is as new as its look-back: make that "
          + "shorter, or write to a database.")
    }
    if let file, line.count <= slotSize {
      line += repeatElement(0, count: slotSize - line.count)
      try file.write(line, at: (number + 1) % 2 * slotSize)
      try file.sync()
    } else {
      try replace(with: line)
    }
    number += 1
    newest = commit
  }

  /// Puts a larger file in the place of this one, with the newest generation and the one before it.
  private mutating func replace(with line: [UInt8]) throws(SinkError) {
    while slotSize < 2 * line.count { slotSize *= 2 }
    var content = [UInt8](repeating: 0, count: 2 * slotSize)
    var lines = [(number + 1, line)]
    if let newest {
      lines.append((number, Seal.file.close(Entry(number: number, commit: newest)) + [0x0A]))
    }
    for (number, line) in lines where line.count <= slotSize {
      let start = number % 2 * slotSize
      content.replaceSubrange(start..<start + line.count, with: line)
    }
    let temporary = Self.temporaryPath(for: path)
    _ = calls.remove(temporary)
    let descriptor = calls.open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    guard descriptor >= 0 else { throw SinkFile.failure(-descriptor, "open", temporary) }
    let file = SinkFile(calls: calls, path: temporary, descriptor: descriptor)
    do throws(SinkError) {
      try file.write(content, at: 0)
      try file.sync()
      try Self.rename(temporary, to: path, calls)
    } catch {
      calls.close(descriptor)
      _ = calls.remove(temporary)
      throw error
    }
    close()
    self.file = SinkFile(calls: calls, path: path, descriptor: descriptor)
  }

  /// Gives a file another's name, at once and for good.
  static func rename(_ old: String, to new: String, _ calls: FileCalls) throws(SinkError) {
    let result = calls.rename(old, new)
    guard result == 0 else { throw SinkFile.failure(-result, "rename", old) }
    let folder = URL(fileURLWithPath: new).deletingLastPathComponent().path
    try SinkFile.checkSync(calls.syncFolder(folder), folder)
  }

  /// Lets the file go.
  mutating func close() {
    if let file { calls.close(file.descriptor) }
    file = nil
  }
}

/// How much of a file of items is committed.
struct FileCommit: Codable, Equatable {
  /// Bytes that are committed, without what closes the text behind them.
  var length = 0
  /// Their CRC-32, as `crc32` prints it.
  var sum = FileSum().text
  /// Whether what stands behind them is an export's own, to be cut off.
  var isOpen = false
  /// What else stands behind them and closes the text, in bytes.
  var closing = 0
  /// Which file they are in that is to take the destination's place; nil where they are in that.
  var staged: Staged?
  /// What the bytes are: format and settings.
  var format: String
  /// The columns of the table.
  var columns: [String]?
  /// Whether the first rows have fewer cells than there are columns.
  var isRagged = false
  /// How far the listing reaches in them; nil while nothing is committed.
  var checkpoint: Checkpoint.Stored?

  /// A file beside the destination.
  enum Staged: String, Codable, CaseIterable {
    /// A later run, by `SinkMode.replace`.
    case replacement
    /// A table once more, with all columns in every row.
    case filled

    func path(beside target: String) -> String { "\(target).quire-\(rawValue)" }
  }

  /// Whether the run is complete.
  var isComplete: Bool { checkpoint.map { $0.position == nil } ?? false }

  /// Whether the run is over, and stays beside what it was to replace.
  var fellShort: Bool { checkpoint?.fellShort ?? false }
}

extension Checkpoint.Stored: Equatable {
  static func == (left: Self, right: Self) -> Bool { left.checkpoint == right.checkpoint }
}
