extension Pagination {
  /// How a page size is requested, and how the server treats it.
  ///
  /// A page size is requested only if the walk has one. One beyond `max` is lowered to it, and the
  /// client logs that.
  public struct PageSize: Hashable, Sendable {
    /// The placement of the page size; nil if the server accepts none, and only `default` is known.
    public var send: Placement?
    /// The server's default page size. Used only to recognize short pages.
    public var standard: Int?
    /// The server's maximum page size.
    public var max: Int?
    /// The path of the page size that the server really used.
    public var echo: PagePath?
    /// A template for the number, such as `odata.maxpagesize={n}`. Default: the number alone.
    public var format: String

    /// Creates a rule; without `send` no page size is requested.
    public init(
      _ send: Placement? = nil, default standard: Int? = nil, max: Int? = nil,
      echo: PagePath? = nil,
      format: String = "{n}"
    ) {
      self.send = send
      self.standard = standard
      self.max = max
      self.echo = echo
      self.format = format
    }
  }
}

extension Pagination.PageSize: Block {
  package static let name = "size"

  package static let grammar = Form<Pagination.PageSize>.object(
    "A page size", Pagination.PageSize(),
    [
      .optional(
        "send", \.send, "the placement of the page size; omitted if the server accepts none"),
      .optional(
        "default", \.standard, example: "30", "the server's default"),
      .optional("max", \.max, example: "100", "the server's maximum"),
      .optional("echo", \.echo, "the path of the size that the server used"),
      .optional("format", \.format, example: "\"max={n}\"", "a template for the number"),
    ])
}
