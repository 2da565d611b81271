public import QuirePagination

/// The format of a file of items.
public struct FileFormat: Hashable, Sendable {
  /// The notation of the items.
  enum Kind: String, Sendable {
    case jsonLines
    case json
    case csv
    case tsv
  }

  var kind: Kind
  /// Whether the text is compressed. Each commit is a gzip member, so a truncated file is readable
  /// up to its last complete commit.
  public var isCompressed = false

  /// One item per line, as the server's JSON without white space (jsonlines.org, ndjson.org).
  public static let jsonLines = FileFormat(kind: .jsonLines)
  /// One JSON array, with one item per line. It is closed at every commit, and whenever a run ends
  /// without being killed.
  public static let json = FileFormat(kind: .json)
  /// A table with commas (RFC 4180): a line of column names, then one row per item, with CRLF line
  /// ends. Null and absent values are empty cells, empty texts are `""`, and objects and arrays are
  /// JSON. A name that occurs twice in an item has two columns.
  public static let csv = FileFormat(kind: .csv)
  /// A table with tabs, and LF line ends as expected by programs that split at tabs; otherwise as
  /// `csv`.
  public static let tsv = FileFormat(kind: .tsv)

  /// The same format, compressed by gzip (RFC 1952).
  public var compressed: FileFormat {
    var format = self
    format.isCompressed = true
    return format
  }

  /// Whether the format is a table with columns.
  package var isTable: Bool { kind == .csv || kind == .tsv }

  /// The file extensions and their formats.
  package static let endings: [(ending: String, format: FileFormat)] = [
    (".jsonl", .jsonLines), (".ndjson", .jsonLines), (".json", .json), (".csv", .csv),
    (".tsv", .tsv),
  ]

  /// Creates the format of a path's extension, in any case; nil for an unknown one.
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

  /// The name of the format in stored checkpoints.
  var name: String { kind.rawValue + (isCompressed ? ".gz" : "") }
}

/// A column of a table: its name, and the path to its value in an item.
public struct TableColumn: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name in the table's first line.
  public var name: String
  /// The path to the value in an item.
  public var path: PagePath

  /// Creates a column of the values at `path`.
  public init(_ name: String, at path: PagePath) {
    self.name = name
    self.path = path
  }

  /// Creates a column from `title`, a member and its name; `/user/login`, a path, which names the
  /// column `user.login`; or `author=/user/login`, a name and a path.
  ///
  /// Throws `PageError` with the code `invalidArgument` for an invalid path.
  public init(_ text: String) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, parts[1].hasPrefix("/"), !parts[0].isEmpty {
      self.init(String(parts[0]), at: try PagePath(String(parts[1])))
    } else if text.hasPrefix("/") {
      // As in a JSON pointer, ~1 is a slash and ~0 a tilde.
      let name = text.dropFirst().replacing("/", with: ".").replacing("~1", with: "/")
        .replacing("~0", with: "~")
      self.init(String(name), at: try PagePath(text))
    } else {
      self.init(text, at: try PagePath(PagePath.pointer(to: text)))
    }
  }

  /// Creates a column from a literal. Traps on an invalid path: use `init(_:)` for text from
  /// outside.
  public init(stringLiteral value: String) {
    do {
      self = try TableColumn(value)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
