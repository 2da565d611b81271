public import QuireCore

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

extension Pagination {
  /// The source of the total, and how exact the total is.
  ///
  /// A value that is not a number (`*`, `"unknown"`, null) or is negative counts as missing.
  public struct TotalSource: Hashable, Sendable {
    /// The pages that declare the total.
    public enum Scope: String, Hashable, Sendable, CaseIterable {
      /// Every page. The default.
      case everyPage
      /// Only the first page: the walk remembers it.
      case firstPage
    }

    /// The source of the number.
    public var source: ValueSource
    /// What the number counts, and how exact it is.
    public var kind: Total.Kind
    /// The pages that declare the total.
    public var scope: Scope

    /// Creates a total. Default: the exact number of items, declared by every page.
    public init(
      _ source: ValueSource, _ kind: Total.Kind = .items, scope: Scope = .everyPage
    ) {
      self.source = source
      self.kind = kind
      self.scope = scope
    }
  }
}

extension Pagination.TotalSource: ExpressibleByStringLiteral {
  /// Creates a total of items at a path of the page. Traps on a malformed path.
  public init(stringLiteral value: String) {
    self.init(Pagination.ValueSource(stringLiteral: value))
  }
}

extension Pagination.TotalSource: Block {
  package static let name = "total"

  package static let grammar = Form<Pagination.TotalSource>.oneOf(
    "A total",
    [
      .bare(
        onlyText: false, { Pagination.TotalSource($0) },
        { $0 == Pagination.TotalSource($0.source) ? $0.source : nil },
        "exactly this many items"),
      .keys(
        Pagination.TotalSource(""),
        [
          .required("source", \.source), .optional("kind", \.kind, example: "\"pages\""),
          .optional("scope", \.scope, example: "\"firstPage\""),
        ], { $0 }, { $0 },
        "the `Total.Kind` is `\"items\"`, `\"estimate\"`, `\"lowerBound\"`, `\"remaining\"` or `\"pages\"`; "
          + "`Pagination.TotalSource.Scope` is `\"everyPage\"` or `\"firstPage\"`"),
    ])
}

extension Pagination.TotalSource.Scope: FormWord {}
extension Total.Kind: FormWord {}

extension Pagination {
  /// How a value is encoded in a URL.
  public enum ValueEncoding: Hashable, Sendable {
    /// Percent-encodes every character but RFC 3986's unreserved ones, exactly once. The default.
    case strict
    /// Leaves the value as it is, because it is already encoded.
    case verbatim
    /// Strict except for these ASCII characters, for servers that refuse `%3D` where they sent `=`.
    case allowing(String)

    /// Returns the encoded text.
    func encode(_ text: String) -> String {
      switch self {
      case .strict: PercentEncoding.encode(text)
      case .verbatim: text
      case .allowing(let characters): PercentEncoding.encode(text, allowing: characters)
      }
    }
  }
}

extension Pagination.ValueEncoding: Block {
  package static let name = "encoding"

  package static let grammar = Form<Pagination.ValueEncoding>.oneOf(
    "An encoding",
    [
      .word("strict", .strict, "everything but unreserved characters is percent-encoded"),
      .word("verbatim", .verbatim, "the value is already encoded"),
      .key(
        "allowing", example: "\"=\"", Pagination.ValueEncoding.allowing,
        { if case .allowing(let characters) = $0 { characters } else { nil } },
        "strict except for these characters"),
    ])
}
