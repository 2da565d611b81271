/// What a walk does when the server no longer knows its cursor, or pages no further.
///
/// Whatever is not `fail` shows: the first page behind the break carries `HTTPPageInfo.recovery`. A
/// walk recovers three times at most, and then throws. Encodes as `"fail"`, `"restart"`, `"reopen"`,
/// `{"resume": source}` or `{"reanchor": placement, "from": path}`.
public enum ExpiryRule: Hashable, Sendable {
  /// Throw `cursorExpired` or `resultWindowExceeded`, with the checkpoint. The default.
  case fail
  /// Begin the listing again: everything comes again.
  case restart
  /// Open again (`PagePolicy.open`) and go on by the same cursor: for cursors that are keys.
  case reopen
  /// Go on by the cursor in the failing answer, which may skip or repeat what changed meanwhile.
  case resume(ValueSource)
  /// Begin again behind the last item: its value at `from`, below the item, goes to the placement.
  /// Items with the same value are lost or repeated, as the parameter excludes or includes it.
  case reanchor(Placement, from: PagePath)
}

extension ExpiryRule: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    switch DescriptionObject.text(decoder) {
    case "fail": self = .fail
    case "restart": self = .restart
    case "reopen": self = .reopen
    case let text?:
      throw DescriptionObject.error(
        decoder.codingPath,
        "\"\(text)\" is no expiry rule; expected \"fail\", \"restart\", \"reopen\", {\"resume\": "
          + "source} or {\"reanchor\": placement, \"from\": path}.")
    case nil:
      let (kind, object) = try DescriptionObject.oneOf(
        decoder, "An expiry rule", kinds: ["resume", "reanchor"], options: ["from"])
      self =
        kind == "resume"
        ? .resume(try object(kind)) : .reanchor(try object(kind), from: try object("from"))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    var name: String?
    switch self {
    case .fail: name = "fail"
    case .restart: name = "restart"
    case .reopen: name = "reopen"
    case .resume, .reanchor: name = nil
    }
    if let name {
      var single = encoder.singleValueContainer()
      return try single.encode(name)
    }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    if case .resume(let source) = self { try fields.encode(source, forKey: "resume") }
    if case .reanchor(let placement, let path) = self {
      try fields.encode(placement, forKey: "reanchor")
      try fields.encode(path, forKey: "from")
    }
  }
}
