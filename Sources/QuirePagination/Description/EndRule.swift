import QuireCore

/// What ends a walk, besides a source that finds nothing: the answer to "end".
///
/// Rules are alternatives: one that says so is enough. What the server says outright comes first: a
/// flag that says more follows beats every rule that only infers an end, and a total that says more
/// beats a short page. Encodes as the case's name, or as an object with that name, such as
/// `{"flag": "/has_more"}`, `{"status": {"codes": [404]}}`, `{"lastPage": condition}` or
/// `{"noNewItems": {"by": "/guid"}}`.
public enum EndRule: Hashable, Sendable {
  /// The source finds nothing, null, blank text or one of these. Always on; listed to add sentinels.
  case noNext(sentinels: [String] = [])
  /// The server says outright whether more follows.
  case flag(FlagRule)
  /// A page without items. Only for servers that never send one in the middle.
  case emptyPage
  /// A page with fewer items than were asked for. Only for servers that never send one in the
  /// middle.
  case shortPage
  /// As much was seen as the server says there is.
  case total(TotalSource)
  /// The continuation is the one just sent.
  case sameCursor
  /// A page that looks like this is the last one: a sync token shows that nothing follows, or a total
  /// that is missing.
  case lastPage(when: AnswerCondition)
  /// An answer with one of these statuses, matching the condition if there is one, is no page but
  /// the end. On the first page an error status is an error all the same: a listing that does not
  /// exist is not an empty one.
  case status([Int], matching: AnswerCondition? = nil)

  /// The continuation is a whole number that is not greater than the one just sent: for servers that
  /// begin again behind the end.
  case notAdvancing
  /// The page is one that was there before: the values at a path below its items, by default the
  /// items themselves, are those of the page before it, or of one further back. The repeated page is
  /// dropped. For servers that repeat a page for ever.
  case noNewItems(by: PagePath = "")

  /// Something stands at this path of the last page, and of no other.
  public static func bodyHas(_ path: PagePath) -> EndRule {
    .lastPage(when: .value(.body(path)))
  }

  /// Nothing stands at this path of the last page, and of no other.
  public static func bodyLacks(_ path: PagePath) -> EndRule {
    .lastPage(when: .value(.body(path), .isMissing))
  }

  /// A flag of the server; see `FlagRule`.
  public static func flag(
    _ source: ValueSource, continuesWhile: Bool = true, ifAbsent: FlagRule.Absence = .ignore
  ) -> EndRule {
    .flag(FlagRule(source, continuesWhile: continuesWhile, ifAbsent: ifAbsent))
  }

  /// The last page is the one whose number the server gives as the number of pages.
  public static func pages(_ source: ValueSource) -> EndRule {
    .total(TotalSource(source, .pages))
  }
}

extension EndRule: Codable {
  private static let kinds = ["noNext", "flag", "total", "status", "noNewItems", "lastPage"]
  private static let names: [String: EndRule] = [
    "emptyPage": .emptyPage, "shortPage": .shortPage, "sameCursor": .sameCursor,
    "noNext": .noNext(), "notAdvancing": .notAdvancing, "noNewItems": .noNewItems(),
  ]

  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    if let text = DescriptionObject.text(decoder) {
      let names = Self.names.keys.sorted()
      guard let rule = Self.names[text] else {
        let hint = NearestName.hint(text, in: names + Self.kinds, words: NearestName.ends)
        throw DescriptionObject.error(
          decoder.codingPath,
          "\"\(text)\" is no end rule; expected \(DescriptionObject.list(names)), or an "
            + "object with \(DescriptionObject.list(Self.kinds)).\(hint)")
      }
      self = rule
      return
    }
    let (kind, object) = try DescriptionObject.oneOf(decoder, "An end rule", kinds: Self.kinds)
    switch kind {
    case "noNext":
      let rule = try object.object(kind, "The rule noNext", names: ["sentinels"])
      self = .noNext(sentinels: try rule("sentinels"))
    case "flag": self = .flag(try object(kind, as: FlagRule.self))
    case "total": self = .total(try object(kind))
    case "lastPage": self = .lastPage(when: try object(kind))
    case "noNewItems":
      let rule = try object.object(kind, "The rule noNewItems", names: ["by"])
      self = .noNewItems(by: try rule("by"))
    default:
      let rule = try object.object(kind, "The rule status", names: ["codes", "matching"])
      self = .status(try rule("codes"), matching: try rule.optional("matching"))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    if let name = Self.names.first(where: { $0.value == self })?.key {
      var single = encoder.singleValueContainer()
      return try single.encode(name)
    }
    typealias Name = DescriptionObject.Name
    var fields = encoder.container(keyedBy: Name.self)
    switch self {
    case .emptyPage, .shortPage, .sameCursor, .notAdvancing: break
    case .noNext(let sentinels):
      var rule = fields.nestedContainer(keyedBy: Name.self, forKey: "noNext")
      try rule.encode(sentinels, forKey: "sentinels")
    case .flag(let rule): try fields.encode(rule, forKey: "flag")
    case .total(let total): try fields.encode(total, forKey: "total")
    case .lastPage(let condition): try fields.encode(condition, forKey: "lastPage")
    case .noNewItems(let path):
      var rule = fields.nestedContainer(keyedBy: Name.self, forKey: "noNewItems")
      try rule.encode(path, forKey: "by")
    case .status(let codes, let condition):
      var rule = fields.nestedContainer(keyedBy: Name.self, forKey: "status")
      try rule.encode(codes, forKey: "codes")
      try rule.encodeIfPresent(condition, forKey: "matching")
    }
  }
}

/// A flag by which the server says outright whether more follows.
///
/// The value is read leniently: `true`, `1`, `"true"`, `"1"`, `"yes"` and their opposites. Encodes
/// as its source where everything else is the default, else as `{"source": …, "continuesWhile":
/// false, "ifAbsent": "end"}`.
public struct FlagRule: Hashable, Sendable {
  /// What a missing or unreadable flag means.
  public enum Absence: String, Hashable, Codable, Sendable {
    /// Nothing: the other rules decide. The default.
    case ignore
    /// The end.
    case end
  }

  /// Where the flag is.
  public var source: ValueSource
  /// The value that means more follows: true for `has_more`, false for `last`.
  public var continuesWhile: Bool
  /// What a missing flag means.
  public var ifAbsent: Absence

  /// A flag at `source`.
  public init(
    _ source: ValueSource, continuesWhile: Bool = true, ifAbsent: Absence = .ignore
  ) {
    self.source = source
    self.continuesWhile = continuesWhile
    self.ifAbsent = ifAbsent
  }
}

extension FlagRule: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    let names = ["source", "continuesWhile", "ifAbsent"]
    guard DescriptionObject.text(decoder) == nil else {
      self.init(try ValueSource(from: decoder))
      return
    }
    let object = try DescriptionObject(decoder, "A flag", names: names)
    let absence = try object.optional("ifAbsent", as: String.self) ?? "ignore"
    guard let known = Absence(rawValue: absence) else {
      throw DescriptionObject.error(
        decoder.codingPath,
        "A flag's \"ifAbsent\" is \"ignore\" or \"end\", not \"\(absence)\".")
    }
    self.init(
      try object("source"), continuesWhile: try object.optional("continuesWhile") ?? true,
      ifAbsent: known)
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    if case .body(let path) = source, self == FlagRule(source) {
      return try path.encode(to: encoder)
    }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(source, forKey: "source")
    if !continuesWhile { try fields.encode(false, forKey: "continuesWhile") }
    if ifAbsent != .ignore { try fields.encode(ifAbsent, forKey: "ifAbsent") }
  }
}
