/// Which query parameters and members of the body the next requests repeat.
///
/// Encodes as `"all"`, `"none"`, `{"only": [names]}` or `{"except": [names]}`.
public enum KeepRule: Hashable, Sendable {
  /// All of them. The default, and right for most cursors.
  case all
  /// Only these: for cursors that exclude other parameters.
  case only([String])
  /// All but these.
  case except([String])
  /// None.
  case none

  /// Whether the parameter or member of that name is repeated.
  func keeps(_ name: String) -> Bool {
    switch self {
    case .all: true
    case .only(let names): names.contains(name)
    case .except(let names): !names.contains(name)
    case .none: false
    }
  }
}

extension KeepRule: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    switch DescriptionObject.text(decoder) {
    case "all": self = .all
    case "none": self = .none
    case let text?:
      throw DescriptionObject.error(
        decoder.codingPath,
        "\"\(text)\" is no keep rule; expected \"all\", \"none\", {\"only\": [names]} or "
          + "{\"except\": [names]}.")
    case nil:
      let (kind, object) = try DescriptionObject.oneOf(
        decoder, "A keep rule", kinds: ["only", "except"])
      self = kind == "only" ? .only(try object(kind)) : .except(try object(kind))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .all, .none:
      var single = encoder.singleValueContainer()
      try single.encode(self == .all ? "all" : "none")
    case .only(let names), .except(let names):
      var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
      if case .only = self {
        try fields.encode(names, forKey: "only")
      } else {
        try fields.encode(names, forKey: "except")
      }
    }
  }
}
