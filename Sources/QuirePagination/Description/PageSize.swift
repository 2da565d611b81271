extension Pagination {
  /// Where a walk asks for a page size, and how the server treats it.
  ///
  /// Nothing is asked unless the walk has a page size of its own; one beyond `max` is lowered to it,
  /// and the client says so in its log.
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
      .optional("send", \.send, "where the number goes; left out where the server takes none"),
      .optional(
        "default", \.standard, example: "30", "what the server gives when nothing is asked"),
      .optional("max", \.max, example: "100", "the most that the server gives"),
      .optional("echo", \.echo, "where a page says what size the server used"),
      .optional("format", \.format, example: "\"max={n}\"", "the text around the number"),
    ])
}

extension Pagination {
  /// How far an offset moves with each page.
  public enum OffsetStep: Hashable, Sendable {
    /// By the items the page had. The default, right also where a server gives fewer than was asked for.
    case itemsReturned
    /// By the page size, for servers that filter after they counted.
    case pageSize
    /// By the number at a path of the page.
    case body(PagePath)
  }
}

extension Pagination.OffsetStep: Block {
  package static let name = "step"

  package static let grammar = Form<Pagination.OffsetStep>.oneOf(
    "A step",
    [
      .word("itemsReturned", .itemsReturned, "the items that the page had; the default"),
      .word("pageSize", .pageSize, "the page size"),
      .key(
        "body", Pagination.OffsetStep.body, { if case .body(let path) = $0 { path } else { nil } },
        "a number of the page"),
    ])
}
