import Foundation

/// The file beside a file of items that stores how much of it is committed, readable by its owner
/// only.
///
/// Two slots of equal size take turns: while one is written, the other keeps the previous
/// generation. The newer of two intact generations counts. Both slots are allocated when the file
/// is created, so a full disk has room for the next generation. A generation that needs larger
/// slots is written to a new file, which replaces the old one atomically.
struct GenerationFile {
  private let calls: FileCalls
  private let path: String
  private var file: SinkFile?
  private var slotSize = 4096
  /// The newest intact generation; nil if there is none.
  private(set) var newest: FileCommit?
  private var number = 0

  private struct Entry: Codable {
    var number: Int
    var commit: FileCommit
  }

  /// Returns the path of the generation file of a file of items.
  static func path(beside target: String) -> String { target + ".checkpoint" }

  /// Returns the path at which a larger file is written before it replaces the one at `path`.
  static func temporaryPath(for path: String) -> String { path + ".new" }

  /// Creates an empty value without opening a file at `path`.
  init(emptyWith calls: FileCalls, at path: String = "") { (self.path, self.calls) = (path, calls) }

  /// Opens the file at `path`, if it exists, and reads the newest intact generation.
  ///
  /// Throws `SinkError` with the code `.damaged` if all generations are damaged.
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
      file.close()
      throw error
    }
  }

  private mutating func read(_ file: SinkFile) throws(SinkError) {
    let size = try file.size
    // `replace` makes two slots of at most twice the longest line.
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
        let entry = try Seal.file.unseal(Entry.self, from: text)
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

  /// The longest line in bytes. Positions are small, and so are the items that an increment
  /// remembers.
  private static let longest = 16 << 20

  /// Stores a new generation, and returns once it survives a loss of power.
  ///
  /// Throws `SinkError` with the code `.unsupported` if it is too long to be read again, and then
  /// leaves the file as it is.
  mutating func save(_ commit: FileCommit) throws(SinkError) {
    var line = Seal.file.seal(Entry(number: number + 1, commit: commit))
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

  /// Replaces this file with a larger one that has the new generation and the one before it.
  private mutating func replace(with line: [UInt8]) throws(SinkError) {
    while slotSize < 2 * line.count { slotSize *= 2 }
    var content = [UInt8](repeating: 0, count: 2 * slotSize)
    var lines = [(number + 1, line)]
    if let newest {
      lines.append((number, Seal.file.seal(Entry(number: number, commit: newest)) + [0x0A]))
    }
    for (number, line) in lines where line.count <= slotSize {
      let start = number % 2 * slotSize
      content.replaceSubrange(start..<start + line.count, with: line)
    }
    let temporary = Self.temporaryPath(for: path)
    _ = calls.remove(temporary)
    let file = try SinkFile(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, calls)
    do throws(SinkError) {
      try file.write(content, at: 0)
      try file.sync()
      try Self.rename(temporary, to: path, calls)
    } catch {
      file.close()
      _ = calls.remove(temporary)
      throw error
    }
    close()
    self.file = SinkFile(calls: calls, path: path, descriptor: file.descriptor)
  }

  /// Renames a file atomically and durably.
  static func rename(_ old: String, to new: String, _ calls: FileCalls) throws(SinkError) {
    let result = calls.rename(old, new)
    guard result == 0 else { throw SinkFile.failure(-result, "rename", old) }
    let folder = URL(fileURLWithPath: new).deletingLastPathComponent().path
    try SinkFile.checkSync(calls.syncFolder(folder), folder)
  }

  /// Closes the file.
  mutating func close() {
    file?.close()
    file = nil
  }
}

/// A generation: how much of a file of items is committed.
struct FileCommit: Codable {
  /// The number of committed bytes, without the text that closes the file.
  var length = 0
  /// The CRC-32 of these bytes, in the notation of the `crc32` command.
  var sum = FileSum().text
  /// Whether bytes after the committed ones were written by an export, and may be cut off.
  var mayHaveUncommittedBytes = false
  /// The length in bytes of the text after them that closes the file.
  var closingLength = 0
  /// The file that contains these bytes and is to replace the destination; nil if they are in the
  /// destination.
  var staged: Staged?
  /// The format and the settings with which the bytes were written.
  var format: String
  /// The columns that were found in the items of a table; nil for other files and for chosen
  /// columns.
  var columns: [String]?
  /// Whether the first rows have fewer cells than there are columns.
  var isRagged = false
  /// The checkpoint of these bytes; nil if no export has committed yet.
  var checkpoint: Checkpoint.Stored?

  private enum CodingKeys: String, CodingKey {
    case length, sum, staged, format, columns, isRagged, checkpoint
    case mayHaveUncommittedBytes = "isOpen"
    case closingLength = "closing"
  }

  /// The kind of a file that replaces the destination when a run is complete.
  enum Staged: String, Codable, CaseIterable {
    /// The items of a later run, by `SinkMode.replace`.
    case replacement
    /// A copy of the table with all columns in every row.
    case filled

    func path(beside target: String) -> String { "\(target).quire-\(rawValue)" }
  }

  /// Whether the run is complete.
  var isComplete: Bool { checkpoint.map { $0.position == nil } ?? false }

  /// Whether the run fell short of the one that it was to replace; see `Checkpoint.fellShort`.
  var fellShort: Bool { checkpoint?.fellShort ?? false }
}
