package import QuireCore

/// A place in a page, JSON or XML.
///
/// **JSON**: an RFC 6901 pointer (`/meta/next`, `~1` for `/`, `~0` for `~`; the empty path is the
/// whole document), plus three steps of our own: `-1`, the last element of an array; a filter behind
/// a name, `/links[rel=next]/href`, the first object in the array whose member equals the value, or
/// holds it in an array of its own; and `*`, every element of an array or member of an object, of
/// which a single value is the first that leads on.
///
/// **XML**: names of elements from the root down (`/feed/entry`), or from anywhere with a leading
/// `//`. Names match local names, whatever their prefix and namespace; `{uri}name` demands a
/// namespace, `*` takes any. Behind a name: `[2]`, `[last()]`, `[@rel='next']`, `[status='open']`
/// (a child's text), `[relation/@value='next']` (a child's attribute), `[status]` (there is one, if
/// only an empty one), `[contains(status, '507')]`, and `not(…)` around one of these. A path may end in `@name`,
/// `@*` or `text()`. Text is trimmed, and an empty element counts as absent. Below an item, `/`
/// stands for the item.
///
/// **Both**: one path serves both formats where the two agree. Where they do not, write the pointer,
/// ` | ` and the XML path: `/nextCursorMark | //str[@name='nextCursorMark']`. A path that means
/// nothing in one format finds nothing there.
public struct PagePath: Hashable, Sendable {
  /// The path as it was written.
  public let text: String

  /// The steps of the JSON grammar, in order.
  package let steps: [Step]

  /// The path in the XML grammar; nil when it means nothing there.
  package let xml: XMLPath?

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
      let xml = try XMLPathParser.parse(text[...])
      // As a pointer it starts with a member whose name is empty, or compares with quotes: nothing
      // that a page has. Where it is no pointer at all, its text as one name does as well.
      return ((try? pointer(text[...], in: text)) ?? [.name(text)], xml)
    }
    return (try pointer(text[...], in: text), try? XMLPathParser.parse(text[...]))
  }

  /// Whether a path has what only the XML grammar uses, so that its mistakes are named as such.
  private static func isMeantForXML(_ text: String) -> Bool {
    // Most paths are names alone, which is seen faster than that no pattern is in them.
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
    return try tokens.flatMap { try parse(token: Substring($0), in: text) }
  }

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
  /// A path known to be right. Traps on a malformed one: use `init(_:)` for text from outside.
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
  /// What a path of this text is in each format; once where that is the same.
  package static func sides(of text: String) -> [Substring] {
    // Most paths have one side, which is seen faster than a text is found in them.
    guard text.utf8.contains(UInt8(ascii: "|")) else { return [text[...]] }
    return text.split(separator: " | ", omittingEmptySubsequences: false)
  }

  /// Where the path leads, in words.
  package var place: String { Self.place(text) }

  /// Where a path of this text leads, in words.
  package static func place(_ text: String) -> String {
    text.isEmpty ? "the root of the document" : "\"\(text)\""
  }

  /// Whether a path of the server's names can be copied into Swift or a shell within quotes.
  package static func isQuotable(_ path: String) -> Bool {
    path.utf8.count <= ServerText.longest
      && path.unicodeScalars.allSatisfy { $0.isPlain && !"\"'\\`$!".unicodeScalars.contains($0) }
  }

  /// The step that leads to the member or index `name`, escaped (RFC 6901): `/a~1b`.
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
  /// A remedy by items at the likeliest of the paths that a page has; nil where none can be copied.
  ///
  /// They are made of names that the server chose: what would not be the same between any quotes is not
  /// advised to be copied.
  package static func items(at paths: [String]) -> Remedy? {
    paths.first(where: PagePath.isQuotable).map { Remedy(.items, [$0]) }
  }

  /// A remedy by items that may be absent where they are now.
  package static func optional(_ items: Pagination.Items, condition: String) -> Remedy {
    Remedy(.items, ["optional:\(items.paths.first?.text ?? "")"], condition: condition)
  }

  /// A remedy by going on without items that cannot be decoded.
  package static let settingAside = Remedy(
    .badItems, ["collect"], condition: "to set such items aside")
}
