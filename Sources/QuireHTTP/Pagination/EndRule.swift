import QuireCore

/// What ends a walk, besides a source that finds nothing: the answer to "end".
///
/// Rules are alternatives: one that says so is enough. What the server says outright comes first: a
/// flag that says more follows beats every rule that only infers an end, and a total that says more
/// beats a short page. Encodes as the case's name, or as an object with that name, such as
/// `{"flag": "/has_more"}` or `{"status": {"codes": [404]}}`.
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
  private static let kinds = ["noNext", "flag", "total", "lastPage", "status"]
  private static let names = ["emptyPage", "shortPage", "sameCursor", "noNext"]

  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    if let text = DescriptionObject.text(decoder) {
      switch text {
      case "emptyPage": self = .emptyPage
      case "shortPage": self = .shortPage
      case "sameCursor": self = .sameCursor
      case "noNext": self = .noNext()
      default:
        let hint = NearestName.find(text, in: Self.names).map { " Did you mean \"\($0)\"?" }
        throw DescriptionObject.error(
          decoder.codingPath,
          "\"\(text)\" is no end rule; expected \(DescriptionObject.list(Self.names)), or an "
            + "object with \(DescriptionObject.list(Self.kinds)).\(hint ?? "")")
      }
      return
    }
    let (kind, object) = try DescriptionObject.oneOf(decoder, "An end rule", kinds: Self.kinds)
    switch kind {
    case "noNext": self = .noNext(sentinels: try object(kind, as: SentinelForm.self).sentinels)
    case "flag": self = .flag(try object(kind, as: FlagRule.self))
    case "total": self = .total(try object(kind))
    case "lastPage": self = .lastPage(when: try object(kind))
    default:
      let form = try object(kind, as: StatusForm.self)
      self = .status(form.codes, matching: form.matching)
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    var name: String?
    switch self {
    case .emptyPage: name = "emptyPage"
    case .shortPage: name = "shortPage"
    case .sameCursor: name = "sameCursor"
    case .noNext(let sentinels) where sentinels.isEmpty: name = "noNext"
    case .noNext, .flag, .total, .lastPage, .status: name = nil
    }
    if let name {
      var single = encoder.singleValueContainer()
      return try single.encode(name)
    }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    switch self {
    case .noNext(let sentinels):
      try fields.encode(SentinelForm(sentinels: sentinels), forKey: "noNext")
    case .flag(let rule): try fields.encode(rule, forKey: "flag")
    case .total(let total): try fields.encode(total, forKey: "total")
    case .lastPage(let condition): try fields.encode(condition, forKey: "lastPage")
    case .status(let codes, let condition):
      try fields.encode(StatusForm(codes: codes, matching: condition), forKey: "status")
    case .emptyPage, .shortPage, .sameCursor: break
    }
  }
}

/// `{"sentinels": ["null"]}`.
private struct SentinelForm: Codable {
  var sentinels: [String]

  init(sentinels: [String]) { self.sentinels = sentinels }

  init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(decoder, "The rule noNext", names: ["sentinels"])
    sentinels = try object("sentinels")
  }
}

/// `{"codes": [400], "matching": condition}`.
private struct StatusForm: Codable {
  var codes: [Int]
  var matching: AnswerCondition?

  init(codes: [Int], matching: AnswerCondition?) {
    self.codes = codes
    self.matching = matching
  }

  init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(decoder, "The rule status", names: ["codes", "matching"])
    self.init(codes: try object("codes"), matching: try object.optional("matching"))
  }
}
