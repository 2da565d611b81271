package import QuireCore

/// A place in a page, JSON or XML.
///
/// **JSON**: an RFC 6901 pointer (`/meta/next`, `~1` for `/`, `~0` for `~`; the empty path is the
/// whole document), plus three steps of our own: `-1`, the last element of an array; a filter
/// behind a name, `/links[rel=next]/href`, the first object in the array whose member equals the
/// value, or is an array that contains it; and `*`, every element of an array or member of an
/// object. Where a single value is needed, `*` takes the first one in which the rest of the path
/// finds something. A pointer has at most 256 names.
///
/// **XML**: names of elements from the root down (`/feed/entry`), or from anywhere with a leading
/// `//`. Names match local names, whatever their prefix and namespace; `{uri}name` demands a
/// namespace, `*` takes any. Behind a name: `[2]`, `[last()]`, `[@rel='next']`, `[status='open']`
/// (a child's text), `[relation/@value='next']` (a child's attribute), `[status]` (the child
/// exists, even if it is empty), `[contains(status, '507')]`, and `not(…)` around one of these. A
/// path may end in `@name`, `@*` or `text()`. Text is trimmed, but for spaces around the key of an
/// item that is sent back, and an empty element counts as absent. Below an item, `/` stands for the item.
///
/// **Both**: one path serves both formats where the two agree. Where they do not, write the
/// pointer, ` | ` and the XML path: `/nextCursorMark | //str[@name='nextCursorMark']`. A path that
/// is invalid in one format finds nothing there.
public struct PagePath: Hashable, Sendable {
  /// The path as it was written.
  public let text: String

  /// The steps of the JSON grammar, in order.
  package let steps: [Step]

  /// The path in the XML grammar; nil if it is invalid there.
  package private(set) var xml: XMLPath?

  /// The path for an item's key that is sent back as it came: it may begin or end with a space.
  var keepingSpaces: PagePath {
    var path = self
    path.xml?.keepsSpaces = true
    return path
  }

  package enum Step: Hashable, Sendable {
    /// A member of that name; in an array, the element at that index when the name is one.
    case name(String)
    /// The last element of an array.
    case last
    /// Every element of an array, or member of an object.
    case each
    /// The first object in an array whose member `name` is, or contains, the text `value`.
    case filter(name: String, value: String)
  }

  /// Parses a path.
  ///
  /// Throws `PageError` with code `invalidArgument` that quotes the path and says what is wrong
  /// with it.
  public init(_ text: String) throws {
    self.text = text
    do {
      (steps, xml) = try Self.parse(text)
    } catch let fault as XMLPathParser.Fault {
      throw PageError(.invalidArgument, "The path \"\(text)\" \(fault.complaint).")
    }
  }

  private static func parse(_ text: String) throws -> ([Step], XMLPath?) {
    let sides = Self.sides(of: text)
    if sides.count == 2 {
      return (try pointer(sides[0], in: text), try XMLPathParser.parse(sides[1]))
    }
    guard sides.count == 1 else {
      throw PageError(
        .invalidArgument,
        "The path \"\(text)\" has more than one \" | \": write one pointer and one XML path.")
    }
    if isMeantForXML(text) {
      let xml: XMLPath
      do {
        xml = try XMLPathParser.parse(text[...])
      } catch {
        // A member of JSON made from XML begins with "@" as well: `[@ref=next]`.
        guard text.contains("[@"), !text.hasPrefix("//"),
          let steps = try? pointer(text[...], in: text)
        else { throw error }
        return (steps, nil)
      }
      // Read as a pointer, the path starts with an empty name or compares with a quoted value, so
      // it finds nothing in a page. If it is no pointer at all, a name that is its whole text finds
      // nothing either.
      return ((try? pointer(text[...], in: text)) ?? [.name(text)], xml)
    }
    return (try pointer(text[...], in: text), try? XMLPathParser.parse(text[...]))
  }

  /// Whether a path has syntax that only XML paths have, so that its errors are named as theirs.
  private static func isMeantForXML(_ text: String) -> Bool {
    // Most paths are names alone, and a scan for three bytes is faster than a search for texts.
    text.hasPrefix("//")
      || text.utf8.contains(where: "[=(".utf8.contains)
        && ["[@", "='", "=\"", "[last()", "/text()", "[not(", "[contains("].contains(
          where: text.contains)
  }

  // MARK: Pointers

  private static func pointer(_ side: Substring, in text: String) throws -> [Step] {
    if side.isEmpty { return [] }
    guard side.hasPrefix("/") else {
      throw PageError(
        .invalidArgument,
        "The path \"\(text)\" does not start with \"/\". Paths look like \"/meta/next\" in JSON and "
          + "like \"//feed/link[@rel='next']/@href\" in XML.")
    }
    let tokens = side.utf8.dropFirst()
      .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard tokens.count <= mostTokens else {
      throw PageError(
        .invalidArgument,
        "The path \"\(ServerText(text))\" has \(tokens.count) names, and \(mostTokens) are the most."
      )
    }
    return try tokens.flatMap { try parse(token: Substring($0), in: text) }
  }

  /// The most names of a pointer, which may be a server's: a value is set by recursion.
  private static let mostTokens = 256

  private static func parse(token: Substring, in text: String) throws -> [Step] {
    if token == "-1" { return [.last] }
    if token == "*" { return [.each] }
    guard token.hasSuffix("]"), let open = token.firstIndex(of: "["),
      let equals = token[open...].firstIndex(of: "=")
    else { return [.name(try unescape(token, in: text))] }
    let filter = Step.filter(
      name: try unescape(token[token.index(after: open)..<equals], in: text),
      value: try unescape(
        token[token.index(after: equals)..<token.index(before: token.endIndex)], in: text))
    return open == token.startIndex
      ? [filter] : [.name(try unescape(token[..<open], in: text)), filter]
  }

  private static func unescape(_ token: Substring, in text: String) throws -> String {
    guard token.utf8.contains(UInt8(ascii: "~")) else { return String(token) }
    var result = ""
    var rest = token
    while let character = rest.popFirst() {
      guard character == "~" else {
        result.append(character)
        continue
      }
      switch rest.popFirst() {
      case "0": result.append("~")
      case "1": result.append("/")
      default:
        throw PageError(
          .invalidArgument,
          "The path \"\(text)\" has a \"~\" that is not \"~0\" or \"~1\". Write \"~0\" for a tilde."
        )
      }
    }
    return result
  }
}

extension PagePath: ExpressibleByStringLiteral {
  /// Creates a path from a literal. Traps if malformed: use `init(_:)` for text from outside.
  public init(stringLiteral value: String) {
    do {
      self = try PagePath(value)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

extension PagePath: CustomStringConvertible {
  /// The path as it was written.
  public var description: String { text }
}

extension PagePath: Block, FormKey {
  package static let name = "path"
  package static let keyExample = "pointer"
  package var key: String { text }

  package static func key(_ text: String) throws(FormFailure) -> PagePath {
    do {
      return try PagePath(text)
    } catch {
      throw FormFailure((error as? PageError)?.message ?? "\(error)")
    }
  }

  package static let grammar = Form<PagePath>(
    noun: "a JSON pointer or XML path", nouns: "paths", example: name,
    argument: "a JSON pointer or XML path", sample: name,
    schema: [
      "type": "string",
      "description": "A JSON pointer, an XML path, or both with \" | \" between them.",
    ],
    read: { value throws(FormFailure) in
      guard let text = value.string else { throw FormFailure() }
      return try key(text)
    }, write: { .string($0.text) }, expand: { .string($0) }, abbreviate: { $0.text })

  package static var inner: Form<PagePath> {
    var inner = grammar
    inner.schema = ["$ref": "#/$defs/path"]
    return inner
  }
}

extension PagePath {
  /// Returns the text of the path in JSON and the text in XML; one text if they are the same.
  package static func sides(of text: String) -> [Substring] {
    // Most paths have one side, and a search for a byte is faster than one for a text.
    guard text.utf8.contains(UInt8(ascii: "|")) else { return [text[...]] }
    return text.split(separator: " | ", omittingEmptySubsequences: false)
  }

  /// The prefix that makes the path invalid in XML, and the error that says so; nil if it has none.
  /// In JSON, such a name is as good as any.
  package var prefixFault: (prefix: String, error: PageError)? {
    guard xml == nil else { return nil }
    do throws(XMLPathParser.Fault) {
      _ = try XMLPathParser.parse(text[...])
      return nil
    } catch {
      return error.prefix.map {
        ($0, PageError(.shape, "The path \"\(text)\" \(error.complaint)."))
      }
    }
  }

  /// The words for the path in a message.
  package var place: String { Self.place(text) }

  /// Returns the words for a path with this text.
  package static func place(_ text: String) -> String {
    text.isEmpty ? "the root of the document" : "\"\(text)\""
  }

  /// Whether a path made of a server's names can be copied, in quotes, into Swift or a shell.
  package static func isQuotable(_ path: String) -> Bool {
    path.utf8.count <= ServerText.longest
      && path.unicodeScalars.allSatisfy { $0.isPlain && !"\"'\\`$!".unicodeScalars.contains($0) }
  }

  /// Returns the index that a name means in a list: digits without a leading zero (RFC 6901, section
  /// 4); nil for any other name.
  package static func index(_ name: some StringProtocol) -> Int? {
    guard name.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      name == "0" || !name.hasPrefix("0")
    else { return nil }
    return Int(name)
  }

  /// Returns the step to the member or index `name`, escaped (RFC 6901): `/a~1b`.
  package static func pointer(to name: String) -> String {
    var text = "/"
    for character in name.unicodeScalars {
      switch character {
      case "~": text += "~0"
      case "/": text += "~1"
      default: text.unicodeScalars.append(character)
      }
    }
    return text
  }
}

extension Remedy {
  /// Returns a remedy that suggests the first of `paths` that can be copied; nil if there is none.
  /// The likeliest path comes first.
  ///
  /// The paths are made of names that the server chose. A path that would change its meaning in
  /// some quotes is not suggested.
  package static func items(at paths: [String]) -> Remedy? {
    paths.first(where: PagePath.isQuotable).map { Remedy(.items, [$0]) }
  }

  /// Returns a remedy that makes the present items optional.
  package static func optional(_ items: Pagination.Items, condition: String) -> Remedy {
    Remedy(.items, ["optional:\(items.paths.first?.text ?? "")"], condition: condition)
  }

  /// The remedy of setting aside items that cannot be decoded.
  static let settingAside = Remedy(
    .badItems, ["collect"], condition: "to set such items aside")
}
