public import QuirePagination

/// How items stand in a file.
public struct FileFormat: Hashable, Sendable {
  /// How an item is written.
  enum Kind: String, Hashable, Sendable, CaseIterable {
    case jsonLines
    case json
    case csv
    case tsv
  }

  var kind: Kind
  /// Whether the text is compressed, a gzip member for each commit: a file that is cut off reads up to
  /// its last commit.
  public var isCompressed = false

  /// An item a line, in the server's own JSON without white space (jsonlines.org, ndjson.org).
  public static let jsonLines = FileFormat(kind: .jsonLines)
  /// One array, an item a line; it is closed at every commit, and where a run ends by anything but a kill.
  public static let json = FileFormat(kind: .json)
  /// A table with commas (RFC 4180): a line of names, then a row for each item, lines ended by CRLF. Null
  /// and absent values are empty cells, empty texts are `""`, and objects and arrays are JSON. A name that an item
  /// has twice is that of two columns.
  public static let csv = FileFormat(kind: .csv)
  /// A table with tabs; otherwise as `csv`, with lines ended by LF, as programs want that split at tabs.
  public static let tsv = FileFormat(kind: .tsv)

  /// The same, compressed by gzip (RFC 1952).
  public var compressed: FileFormat {
    var format = self
    format.isCompressed = true
    return format
  }

  /// Whether items are rows of cells.
  package var isTable: Bool { kind == .csv || kind == .tsv }

  /// The endings by which files of this kind are known.
  package static let endings: [(ending: String, format: FileFormat)] = [
    (".jsonl", .jsonLines), (".ndjson", .jsonLines), (".json", .json), (".csv", .csv),
    (".tsv", .tsv),
  ]

  /// The format that a path's ending says, in letters of any case; nil where it says none.
  public init?(path: String) {
    var name = path.lowercased()
    let isCompressed = name.hasSuffix(".gz")
    if isCompressed { name.removeLast(3) }
    guard let (_, format) = Self.endings.first(where: { name.hasSuffix($0.ending) }) else {
      return nil
    }
    self = isCompressed ? format.compressed : format
  }

  private init(kind: Kind) { self.kind = kind }

  /// What a stored checkpoint calls it.
  var name: String { kind.rawValue + (isCompressed ? ".gz" : "") }
}

/// A column of a table: what it is called, and where an item has its value.
public struct TableColumn: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name in the table's first line.
  public var name: String
  /// Where the value is in an item.
  public var path: PagePath

  /// A column of values at `path`.
  public init(_ name: String, at path: PagePath) {
    self.name = name
    self.path = path
  }

  /// `title`, a member of that name; `/user/login`, a path, with that name; or `author=/user/login`.
  ///
  /// Throws `PageError` with the code `invalidArgument` for a path that is none.
  public init(_ text: String) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, parts[1].hasPrefix("/"), !parts[0].isEmpty {
      self.init(String(parts[0]), at: try PagePath(String(parts[1])))
    } else if text.hasPrefix("/") {
      self.init(String(text.dropFirst()).replacing("/", with: "."), at: try PagePath(text))
    } else {
      self.init(text, at: try PagePath(PagePath.pointer(to: text)))
    }
  }

  /// A column known to be right. Traps on a malformed path: use `init(_:)` for text from outside.
  public init(stringLiteral value: String) {
    do {
      self = try TableColumn(value)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
