import QuireCore
import QuirePagination

/// The content of a file of items: encodes appended items as bytes.
struct FileContent {
  private let format: FileFormat
  private var rows: TableRows?
  /// Items held back until the columns are found, because the table's first line names the columns.
  private var waiting: [RawItem] = []
  private var waitingBytes = 0
  private var text: [UInt8] = []
  /// Whether the file has no content before `text`.
  private var isAtStart: Bool
  private var member: GzipMember?

  /// Creates the content that follows a commit.
  init(_ sink: FileSink, _ format: FileFormat, _ commit: FileCommit) {
    self.format = format
    isAtStart = commit.length == 0
    guard format.isTable else { return }
    rows = TableRows(
      format, chosen: sink.columns, guardsFormulas: sink.guardsFormulas,
      found: isAtStart ? nil : commit.columns, isRagged: commit.isRagged)
  }

  /// Restarts at the beginning of a file. Items that were appended but not taken are kept.
  mutating func beginAnew(_ sink: FileSink) {
    isAtStart = true
    guard isFinding else { return }
    rows = TableRows(
      format, chosen: nil, guardsFormulas: sink.guardsFormulas, found: nil, isRagged: false)
  }

  /// Whether the text should be taken now. Text is summed and written in pieces of 256 KiB, which
  /// fit the processor's cache; a table's columns are found in its first megabyte.
  var isFull: Bool { text.count >= 256 << 10 || waitingBytes >= 1 << 20 }

  /// The columns found in the items; nil if the caller chose the columns, and for other formats.
  var foundColumns: [String]? { rows.flatMap { $0.isFinding ? $0.columns : nil } }

  /// Whether rows have fewer cells than there are columns.
  var isRagged: Bool { rows?.isRagged ?? false }

  /// Appends items from index `start` until the text is full, but at least one. Returns the index
  /// after the last one appended.
  mutating func append(_ items: [RawItem], from start: Int) throws -> Int {
    var next = start
    repeat {
      let item = items[next]
      switch format.kind {
      case .jsonLines:
        item.appendCompact(to: &text)
        text.append(0x0A)
      case .json:
        if !text.isEmpty { text += Self.separator }
        item.appendCompact(to: &text)
      case .csv, .tsv:
        if rows?.isFinding == true {
          waiting.append(item)
          waitingBytes += item.bytes.count
        } else {
          try rows?.append(item, to: &text)
        }
      }
      next += 1
    } while next < items.count && !isFull
    return next
  }

  /// Passes the bytes since the last call to `use`, in pieces. If a commit `ends`, these include
  /// all that the compressor held back.
  mutating func drain(endsMember ends: Bool, _ use: ([UInt8]) throws -> Void) throws {
    for item in waiting { try rows?.find(item) }
    let isFirst = isAtStart && !(text.isEmpty && waiting.isEmpty)
    var plain: [UInt8] = isFirst ? try head() : []
    if !isFirst, format.kind == .json, !text.isEmpty { plain = Self.separator }
    isAtStart = isAtStart && !isFirst
    defer {
      text.removeAll(keepingCapacity: true)
      (waiting, waitingBytes) = ([], 0)
    }
    if plain.isEmpty, waiting.isEmpty {
      // Passed without a copy, which would cost a tenth of the time of writing.
      return try use(format.isCompressed ? compressed(text, ends: ends) : text)
    }
    plain += text
    for item in waiting {
      try rows?.append(item, to: &plain)
      // A row has a cell for each column even if its item has few members, so rows can be much
      // larger than items.
      guard plain.count >= Self.pieceSize else { continue }
      try use(format.isCompressed ? compressed(plain, ends: false) : plain)
      plain.removeAll(keepingCapacity: true)
    }
    try use(format.isCompressed ? compressed(plain, ends: ends) : plain)
  }

  /// The size from which text is passed on in several pieces.
  static let pieceSize = 1 << 20

  /// Returns the text before the first item.
  private mutating func head() throws -> [UInt8] {
    switch format.kind {
    case .jsonLines: return []
    case .json: return Array("[\n".utf8)
    case .csv, .tsv:
      rows?.hasHead = true
      return rows?.head ?? []
    }
  }

  private static let separator = Array(",\n".utf8)

  private mutating func compressed(_ plain: [UInt8], ends: Bool) throws -> [UInt8] {
    guard !plain.isEmpty || member != nil else { return [] }
    let current = try member ?? GzipMember()
    member = ends ? nil : current
    return try current.add(plain, ends: ends)
  }

  /// Returns the text that makes the committed `length` bytes a complete document. Later items
  /// overwrite it.
  func closing(after length: Int) throws -> [UInt8] {
    var plain: [UInt8] = []
    switch format.kind {
    case .jsonLines: break
    case .json: plain = Array((length == 0 ? "[]\n" : "\n]\n").utf8)
    case .csv, .tsv: plain = length == 0 && !isFinding ? rows?.head ?? [] : []
    }
    guard format.isCompressed, !plain.isEmpty || length == 0 else { return plain }
    return try GzipMember().add(plain, ends: true)
  }

  private var isFinding: Bool { rows?.isFinding ?? false }

  /// Copies the table, giving each row all columns. Returns the length and the check sum of the
  /// copy.
  func fill(
    _ old: SinkFile, upTo length: Int, into copy: SinkFile
  ) throws -> (length: Int, sum: String) {
    guard let rows else { preconditionFailure("Only tables have rows to fill.") }
    var filler = TableFiller(rows)
    let reader = format.isCompressed ? try GzipReader() : nil
    let writer = format.isCompressed ? try GzipMember() : nil
    var (offset, end, sum) = (0, 0, FileSum())
    var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
    func write(_ bytes: [UInt8]) throws {
      try copy.write(bytes, at: end)
      end += bytes.count
      sum.add(bytes)
    }
    func fill(_ text: [UInt8]) throws {
      try filler.fill(text) { try write(writer?.add($0, ends: false) ?? $0) }
    }
    while offset < length {
      let count = min(try old.read(&buffer, at: offset), length - offset)
      guard count > 0 else { throw SinkError(.damaged, "\(old.path) ends too early.") }
      offset += count
      if let reader {
        try reader.add(Array(buffer[..<count]), fill)
      } else {
        try fill(Array(buffer[..<count]))
      }
    }
    if let writer { try write(writer.add([], ends: true)) }
    return (end, sum.text)
  }
}
