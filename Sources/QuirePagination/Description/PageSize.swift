/// Where a walk asks for a page size, and how the server treats it.
///
/// Nothing is asked unless the walk has a page size of its own; one beyond `max` is lowered to it,
/// and the client says so in its log. Encodes as `{"send": placement, "default": 30, "max": 100,
/// "echo": path, "format": "max={n}"}`; without `send` where the server takes none.
public struct PageSize: Hashable, Sendable {
  /// Where the number goes; nil where the server takes none, and only `default` says how long a page
  /// is.
  public var send: Placement?
  /// What the server gives when nothing is asked. Only for telling short pages.
  public var standard: Int?
  /// The most the server gives.
  public var max: Int?
  /// Where a page says what size the server really used.
  public var echo: PagePath?
  /// The text around the number, as `odata.maxpagesize={n}`. Default: the number alone.
  public var format: String

  /// A page size that goes to `send`, or nowhere.
  public init(
    _ send: Placement? = nil, default standard: Int? = nil, max: Int? = nil, echo: PagePath? = nil,
    format: String = "{n}"
  ) {
    self.send = send
    self.standard = standard
    self.max = max
    self.echo = echo
    self.format = format
  }
}

extension PageSize: Codable {
  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(
      decoder, "A page size", names: ["send", "default", "max", "echo", "format"])
    self.init(
      try object.optional("send"), default: try object.optional("default"),
      max: try object.optional("max"), echo: try object.optional("echo"),
      format: try object.optional("format") ?? "{n}")
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encodeIfPresent(send, forKey: "send")
    try fields.encodeIfPresent(standard, forKey: "default")
    try fields.encodeIfPresent(max, forKey: "max")
    try fields.encodeIfPresent(echo, forKey: "echo")
    if format != "{n}" { try fields.encode(format, forKey: "format") }
  }
}

/// How far an offset moves with each page.
///
/// Encodes as `"itemsReturned"`, `"pageSize"` or `{"body": path}`.
public enum OffsetStep: Hashable, Sendable {
  /// By the items the page had. The default, right also where a server gives fewer than was asked for.
  case itemsReturned
  /// By the page size, for servers that filter after they counted.
  case pageSize
  /// By the number at a path of the page.
  case body(PagePath)
}

extension OffsetStep: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    switch DescriptionObject.text(decoder) {
    case "itemsReturned": self = .itemsReturned
    case "pageSize": self = .pageSize
    case let text?:
      throw DescriptionObject.error(
        decoder.codingPath,
        "\"\(text)\" is no step; expected \"itemsReturned\", \"pageSize\" or {\"body\": path}.")
    case nil:
      self = .body(try DescriptionObject(decoder, "A step", names: ["body"])("body"))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .itemsReturned, .pageSize:
      var single = encoder.singleValueContainer()
      try single.encode(self == .pageSize ? "pageSize" : "itemsReturned")
    case .body(let path):
      var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
      try fields.encode(path, forKey: "body")
    }
  }
}
