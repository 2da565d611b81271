extension Pagination {
  /// The source of a flag, a total or an error code.
  public indirect enum ValueSource: Hashable, Sendable {
    /// The value at a path of the page.
    case body(PagePath)
    /// The value of a header field.
    case header(String)
    /// The value at a path in the last item.
    case lastItem(PagePath)
    /// The number of elements of the list at a path of the page.
    case count(PagePath)
    /// A parameter of the first link with this relation, such as Sentry's `results`.
    case linkParameter(String, rel: String)
    /// A query parameter of the first link with this relation, such as the page of GitHub's `last`.
    case linkQueryItem(String, rel: String)
    /// The complete length in Content-Range (RFC 9110, §14.4); `*` counts as missing.
    case contentRangeTotal
    /// The first of these that finds a value.
    case firstOf([ValueSource])
  }
}

extension Pagination.ValueSource: ExpressibleByStringLiteral {
  /// Creates a source for a path of the page. Traps on a malformed path.
  public init(stringLiteral value: String) { self = .body(PagePath(stringLiteral: value)) }
}

extension Pagination.ValueSource: Block {
  package static let name = "value"

  package static let grammar = Form<Pagination.ValueSource>.oneOf(
    "A value source",
    [
      .bare(
        Pagination.ValueSource.body, { if case .body(let path) = $0 { path } else { nil } },
        "a value of the page"),
      .key(
        "body", example: "\"/total\"", Pagination.ValueSource.body,
        { if case .body(let path) = $0 { path } else { nil } }, "the same"),
      .key(
        "header", example: "\"X-Total\"", Pagination.ValueSource.header,
        { if case .header(let name) = $0 { name } else { nil } }, "a header field"),
      .key(
        "lastItem", example: "\"/id\"", also: ["last": ""], Pagination.ValueSource.lastItem,
        { if case .lastItem(let path) = $0 { path } else { nil } }, "a value of the last item"),
      .key(
        "count", example: "\"/items\"", Pagination.ValueSource.count,
        { if case .count(let path) = $0 { path } else { nil } },
        "the number of elements of a list in the page"),
      .keys(
        (name: "", rel: ""),
        [
          .required("linkParameter", \.name, example: "\"results\""),
          .required("rel", \.rel, example: "\"next\""),
        ], { .linkParameter($0.name, rel: $0.rel) },
        { if case .linkParameter(let name, let rel) = $0 { (name, rel) } else { nil } },
        "a parameter of the link with that relation"),
      .keys(
        (name: "", rel: ""),
        [
          .required("linkQueryItem", \.name, example: "\"page\""),
          .required("rel", \.rel, example: "\"last\""),
        ], { .linkQueryItem($0.name, rel: $0.rel) },
        { if case .linkQueryItem(let name, let rel) = $0 { (name, rel) } else { nil } },
        "a query parameter of that link's URL"),
      .word("contentRangeTotal", .contentRangeTotal, "the complete length in Content-Range"),
      .key(
        "firstOf", Pagination.ValueSource.firstOf,
        { if case .firstOf(let sources) = $0 { sources } else { nil } },
        "the first of these that finds a value"),
    ])
}
