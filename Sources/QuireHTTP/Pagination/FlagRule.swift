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
