import QuireCore
import QuirePagination

/// The text of a file of items, as it grows: items in, bytes out.
struct FileContent {
  private let format: FileFormat
  private var rows: TableRows?
  /// Items whose columns are still to be found: those of the first ones stand in the table's first line.
  private var waiting: [RawItem] = []
  private var waitingBytes = 0
  private var text: [UInt8] = []
  /// Whether nothing is in front of `text`.
  private var isAtStart: Bool
  private var member: GzipMember?

  /// The text behind what is committed.
  init(_ sink: FileSink, _ format: FileFormat, _ commit: FileCommit) {
    self.format = format
    isAtStart = commit.length == 0
    guard format.isTable else { return }
    rows = TableRows(
      format, chosen: sink.columns, guardsFormulas: sink.guardsFormulas,
      found: isAtStart ? nil : commit.columns, isRagged: commit.isRagged)
  }

  /// The text from its beginning, for the items that were appended and not taken.
  mutating func beginAnew(_ sink: FileSink) {
    isAtStart = true
    guard isFinding else { return }
    rows = TableRows(
      format, chosen: nil, guardsFormulas: sink.guardsFormulas, found: nil, isRagged: false)
  }

  /// Whether there is enough to be taken: text is summed and written while it is in the processor's cache, and a
  /// table's columns are found in the first megabyte.
  var isFull: Bool { text.count >= 256 << 10 || waitingBytes >= 1 << 20 }

  /// The columns that were found; nil where they were chosen, and where there are none.
  var foundColumns: [String]? { rows.flatMap { $0.isFinding ? $0.columns : nil } }

  /// Whether rows have fewer cells than there are columns.
  var isRagged: Bool { rows?.isRagged ?? false }

  /// Takes the items from `start` on until it is full, and returns where it stopped: behind one of them at least.
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

  /// Hands over the bytes of the items so far that were not taken before, in pieces; all of them where a commit
  /// `ends`.
  mutating func take(ends: Bool, _ use: ([UInt8]) throws -> Void) throws {
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
      // As they are: a copy of each megabyte costs a tenth of what writing it costs.
      return try use(format.isCompressed ? compressed(text, ends: ends) : text)
    }
    plain += text
    for item in waiting {
      try rows?.append(item, to: &plain)
      // A row has a cell for each column, however short its item is.
      guard plain.count >= Self.pieceSize else { continue }
      try use(format.isCompressed ? compressed(plain, ends: false) : plain)
      plain.removeAll(keepingCapacity: true)
    }
    try use(format.isCompressed ? compressed(plain, ends: ends) : plain)
  }

  /// Of what is longer, more than one piece is made.
  static let pieceSize = 1 << 20

  /// What stands in front of the first item.
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

  /// What makes a whole text of the `length` bytes that are committed; what follows takes its place.
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

  /// Writes the table once more, each row with all columns; returns how long it is, and its sum.
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
