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
