import HTTPTypes
import QuireCore
@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination
import QuireTesting
import TestSupport
import Testing

/// One listing as it passes over the wire, and what a walk must make of it.
///
/// Each file of `Tests/Fixtures/vectors` holds what shows one vector (`V01.txt`), one trap
/// (`T05.txt`), another row (`J10.txt`) or one preset (`presets/github.txt`): one or several
/// transcripts in this form, empty lines between them:
/// ```
/// # what it shows [other IDs it covers]
/// preset slack                    or: pagination {…}, or: preset relay /data/repo/issues
/// items /members                  where the preset does not say; also: optional /members
/// id /name                        what tells items apart; default /id, else the item itself, or -
/// size 2                          the page size asked for
/// links rebase                    another link policy
/// body {"size":2}                 the body that the caller gives, where it is not the one sent
/// opens                           the first request is not for a page: the caller gives the second
/// distinct                        items with the same id are delivered once
/// closes                          the last request is not for a page; no time passes on its own
/// indexed                         the first page lists the others: a new process reads it again
/// field Range: 0-1                a field of the walk's request
/// header Authorization: Bearer x  a field of the client
/// secret x                        a text that must not be in logs, errors and positions
/// decoder bytes                   for pages that are no JSON
/// > GET https://…                 exchanges, as `ScriptedExchange` reads them
/// = sent https://…                what the first request really is, where it is not the URL given
/// = items 1 2 | 3                 items, pages parted by bars
/// = pages 2                       only how many pages
/// = totals 3:items -              the total of each page
/// = error cursorExpired           the error behind them; without this line, the end
/// = message …                     what the error's message contains
/// = resume {"token":"s"}          where a later walk for changes starts, from the last page
/// = recovery - restarted          how each page came to be, where a cursor expired
/// = waited 2                      the least number of seconds slept
/// ```
struct Transcript: Sendable, CustomTestStringConvertible {
  /// Where it is, below `Tests/Fixtures/vectors` and without the ending: `V01` or `presets/github`.
  var file: String
  var title: String
  var preset: String?
  var pagination = Pagination(next: .linkHeader)
  var id: PagePath = "/id"
  var pageSize: Int?
  var fields: HTTPFields = [:]
  var clientHeaders: HTTPFields = [:]
  var secret: String?
  var isBytes = false
  var exchanges: [ScriptedExchange] = []
  var sentURL: String?
  var givenBody: String?
  var opens = false
  var closes = false
  var isIndexed = false
  var isDistinct = false
  var pages: [[String]]?
  var pageCount: Int?
  var totals: [String]?
  var error: String?
  var message: String?
  var waited: Double = 0
  var resume: String?
  var recovery: [String]?

  var testDescription: String { "\(file): \(title)" }

  /// The URL the caller gives.
  var url: String { start?.url ?? "" }

  /// The method the caller gives.
  var method: HTTPRequest.Method { start?.method ?? .get }

  private var start: ScriptedExchange? { opens ? exchanges.dropFirst().first : exchanges.first }

  /// The body the caller gives: JSON, XML or a form.
  var body: PageRequest.Body { Self.body(givenBody ?? start?.body ?? "") }

  /// A body as a caller gives it: JSON, XML or a form.
  static func body(_ text: String) -> PageRequest.Body {
    guard !text.isEmpty else { return .none }
    if text.hasPrefix("<") { return .xml(text) }
    let value = try? JSONDocument(Array(text.utf8)).value(at: "")
    return value.map(PageRequest.Body.json) ?? .form(text)
  }

  /// What the transport must see.
  var script: [ScriptedExchange] {
    var script = exchanges
    if let sentURL { script[opens ? 1 : 0].url = sentURL }
    return script
  }

  /// The names of all files, those of the presets last.
  static func files() throws -> [String] {
    let presets = try Fixtures.names(in: "vectors/presets").map { "presets/\($0)" }
    return (try Fixtures.names(in: "vectors") + presets).filter { $0.hasSuffix(".txt") }
      .map { String($0.dropLast(".txt".count)) }
  }

  /// Every transcript of one file, in its order.
  static func all(in file: String) throws -> [Transcript] {
    let text = String(decoding: try Fixtures.bytes("vectors/\(file).txt"), as: UTF8.self)
    return try text.split(separator: "\n# ").map { part in
      try Transcript(part.hasPrefix("# ") ? part.dropFirst(2) : part, in: file)
    }
  }

  /// Every transcript of every file.
  static func all() throws -> [Transcript] { try files().flatMap(all) }
}

extension Transcript {
  private init(_ text: Substring, in file: String) throws {
    self.file = file
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    title = String(lines.removeFirst())
    var script = ""
    for line in lines {
      if line.hasPrefix("= ") {
        try expect(line.dropFirst(2))
      } else if script.isEmpty, !line.hasPrefix("> ") {
        try set(line)
      } else {
        script += line + "\n"
      }
    }
    exchanges = try ScriptedExchange.script(script)
  }

  private mutating func set(_ line: Substring) throws {
    guard let (name, value) = Self.split(line) else {
      opens = opens || line == "opens"
      closes = closes || line == "closes"
      isDistinct = isDistinct || line == "distinct"
      isIndexed = isIndexed || line == "indexed"
      return
    }
    switch name {
    case "preset":
      let words = value.split(separator: " ").map(String.init)
      preset = words.first
      let named = try Pagination.preset(named: words[0])
      pagination = words.count > 1 ? named.items(at: .path(try PagePath(words[1]))) : named.example
    case "pagination": pagination = try Pagination(json: value.utf8)
    case "items":
      let path = try PagePath(value.split(separator: " ").last.map(String.init) ?? "")
      pagination.items = value.hasPrefix("optional") ? .optional(.path(path)) : .path(path)
    case "id": id = try PagePath(value)
    case "size": pageSize = Int(value)
    case "links": pagination.policy.links = .rebase
    case "body": givenBody = value
    case "field": fields.append(try Self.field(value))
    case "header": clientHeaders.append(try Self.field(value))
    case "secret": secret = value
    case "decoder": isBytes = true
    default: throw Malformed(line: String(line))
    }
  }

  private mutating func expect(_ line: Substring) throws {
    let (name, value) = Self.split(line) ?? (String(line), "")
    switch name {
    case "sent": sentURL = value
    case "items":
      pages = value.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.split(separator: " ").map(String.init)
      }
    case "pages": pageCount = Int(value)
    case "totals": totals = value.split(separator: " ").map(String.init)
    case "error": error = value
    case "message": message = value
    case "resume": resume = value
    case "recovery": recovery = value.split(separator: " ").map(String.init)
    case "waited": waited = Double(value) ?? 0
    default: throw Malformed(line: String(line))
    }
  }

  private static func split(_ line: Substring) -> (String, String)? {
    guard let space = line.firstIndex(of: " ") else { return nil }
    return (String(line[..<space]), String(line[line.index(after: space)...]))
  }

  private static func field(_ text: String) throws -> HTTPField {
    let parts = text.split(separator: ": ", maxSplits: 1)
    guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
      throw Malformed(line: text)
    }
    return HTTPField(name: name, value: String(parts[1]))
  }

  /// A line that means nothing.
  struct Malformed: Error { var line: String }
}
