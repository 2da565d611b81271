extension Pagination {
  /// Where the continuation of the next page comes from: the answer to "next".
  ///
  /// A source that finds nothing, null or blank text ends the walk, and so does, where a link is sent, false
  /// or an object with null or blank text in a link's place.
  public indirect enum Next: Hashable, Sendable {
    /// The target of the first link with this relation in the Link header fields, whose parameters
    /// are all as `where` says (RFC 8288).
    case linkHeader(rel: String = "next", where: [String: String] = [:])
    /// The value of a header field.
    case header(String)
    /// The value at a path of the page. Sent as a URL, an object gives its `href`, `url`, `@id` or `id`.
    case body(PagePath)
    /// The value at a path below the page's last item.
    case lastItem(PagePath)
    /// The value at a path below the page's first item.
    case firstItem(PagePath)
    /// The greatest value at a path below the page's items: for servers that do not sort. Whole
    /// numbers are compared as such, anything else by its bytes.
    case maxItem(PagePath)
    /// A number of items, from `first`, that grows by `step` with each page.
    case offset(first: Int = 0, step: OffsetStep = .itemsReturned)
    /// A number of pages, from `first`; with `from`, one more than what the page says it is.
    case pageNumber(first: Int = 1, from: PagePath? = nil)
    /// Where the server's Content-Range ends, plus one; the page begins at `first` (RFC 9110, §14.4).
    case contentRange(first: Int = 0)
    /// The pages that a document lists, one after the other: the list at a path, and below each of its
    /// elements the link. The first page is the index, and what it lists may be indexes in turn, if
    /// `nested`. A link to a part of the page it stands in is no page.
    case index(PagePath, link: PagePath, nested: Bool = true)
    /// The value of another source, changed on its way; see `Pagination.ValueTransform`.
    case transformed(Next, ValueTransform)
    /// Several values under names of their own, sent together by `Pagination.Placement.queryMerge` or
    /// `.bodyMerge`; those that are missing are left out, and none at all is the end.
    case all([String: Next])
    /// The first of these routes whose source finds something, each with a placement of its own.
    case firstOf([Route])

    /// The link header with the relation `next`.
    public static let linkHeader = Next.linkHeader()
    /// Items counted from 0, by what each page returned.
    public static let offset = Next.offset()
    /// Pages counted from 1.
    public static let pageNumber = Next.pageNumber()
  }
}

extension Pagination.Next {
  /// One query parameter out of a link.
  public static func queryItem(_ name: String, of source: Pagination.Next) -> Pagination.Next {
    .transformed(source, .queryItem(name))
  }

  /// A value that came form-encoded, decoded; see `Pagination.ValueTransform.formDecoded`.
  public static func formDecoded(
    _ source: Pagination.Next, when condition: Pagination.Condition? = nil
  ) -> Pagination.Next {
    .transformed(source, .formDecoded(when: condition))
  }

  /// A whole number plus another one; see `Pagination.ValueTransform.adding`.
  public static func adding(_ number: Int, to source: Pagination.Next) -> Pagination.Next {
    .transformed(source, .adding(number))
  }

  /// A text around a value; see `Pagination.ValueTransform.template`.
  public static func template(_ text: String, of source: Pagination.Next) -> Pagination.Next {
    .transformed(source, .template(text))
  }

  /// A text that is JSON, read; see `Pagination.ValueTransform.json`.
  public static func json(_ source: Pagination.Next) -> Pagination.Next {
    .transformed(source, .json)
  }

  /// A value as JSON text; see `Pagination.ValueTransform.jsonText`.
  public static func jsonText(_ source: Pagination.Next) -> Pagination.Next {
    .transformed(source, .jsonText)
  }
}

extension Pagination.Next {
  /// The source below all transforms.
  package var root: Pagination.Next {
    if case .transformed(let source, _) = self { source.root } else { self }
  }

  /// The transforms around the root, in the order they are applied.
  package var transforms: [Pagination.ValueTransform] {
    if case .transformed(let source, let transform) = self {
      source.transforms + [transform]
    } else {
      []
    }
  }

  /// Whether the source is found among all items of a page, not only the last.
  var looksAtAllItems: Bool {
    switch root {
    case .firstItem, .maxItem: true
    case .all(let sources): sources.values.contains(where: \.looksAtAllItems)
    default: false
    }
  }

  /// Whether the source counts by itself, so that it never finds nothing.
  package var isCounter: Bool {
    switch root {
    case .offset, .pageNumber: true
    default: false
    }
  }

  /// The number that the first page has, where pages have numbers.
  package var firstCount: Int? {
    switch root {
    case .offset(let first, _), .pageNumber(let first, _), .contentRange(let first): first
    default: nil
    }
  }
}

extension Pagination.Next: Block {
  package static let name = "source"

  package static let grammar = Form<Pagination.Next>.oneOf("A next source", found + counted + made)

  private static let found: [FormCase<Pagination.Next>] = [
    .key(
      "linkHeader", link, example: "\"next\"", also: ["link": ""],
      { .linkHeader(rel: $0.rel, where: $0.conditions) },
      { if case .linkHeader(let rel, let conditions) = $0 { (rel, conditions) } else { nil } },
      "the link of that relation in the Link header; `{\"rel\": \"next\", \"where\": {\"results\": "
        + "\"true\"}}` asks for parameters too"),
    .word("linkHeader", .linkHeader, also: ["link": ""]),
    .key(
      "header", example: "\"X-Next-Token\"", Pagination.Next.header,
      { if case .header(let name) = $0 { name } else { nil } }, "a header field"),
    .key(
      "body", example: "\"/next_cursor\"", Pagination.Next.body,
      { if case .body(let path) = $0 { path } else { nil } }, "a value of the page"),
    .key(
      "lastItem", example: "\"/id\"", also: ["last": ""], Pagination.Next.lastItem,
      { if case .lastItem(let path) = $0 { path } else { nil } }, "a value of the last item"),
    .key(
      "firstItem", example: "\"/id\"", Pagination.Next.firstItem,
      { if case .firstItem(let path) = $0 { path } else { nil } }, "a value of the first item"),
    .key(
      "maxItem", example: "\"/id\"", Pagination.Next.maxItem,
      { if case .maxItem(let path) = $0 { path } else { nil } }, "the greatest value of the items"),
  ]

  private static let counted: [FormCase<Pagination.Next>] = [
    .key(
      "offset", offsetForm, { .offset(first: $0.first, step: $0.step) },
      { if case .offset(let first, let step) = $0 { (first, step) } else { nil } },
      "a number of items; the step is `\"itemsReturned\"`, `\"pageSize\"` or `{\"body\": path}`"),
    .word("offset", .offset),
    .key(
      "pageNumber", numberForm, also: ["page": ""], { .pageNumber(first: $0.first, from: $0.from) },
      { if case .pageNumber(let first, let from) = $0 { (first, from) } else { nil } },
      "a number of pages; with `from`, one more than what the page says it is"),
    .word("pageNumber", .pageNumber, also: ["page": ""]),
    .key(
      "contentRange", rangeForm, { .contentRange(first: $0) },
      { if case .contentRange(let first) = $0 { first } else { nil } }, "where Content-Range ends"),
    .word("contentRange", .contentRange()),
    .key(
      "index", indexForm, { .index($0.list, link: $0.link, nested: $0.nested) },
      { if case .index(let list, let link, let nested) = $0 { (list, link, nested) } else { nil } },
      "every link that an index of pages lists, in its order; what it lists may be indexes in turn, if "
        + "`nested`, which is the default"),
  ]

  private static let made: [FormCase<Pagination.Next>] = [
    transform(
      "queryItem", "name", "of", plain: "", Pagination.ValueTransform.queryItem,
      { if case .queryItem(let name) = $0 { name } else { nil } },
      "a query parameter out of a link"),
    .key(
      "formDecoded", decodedForm, example: "source", { .formDecoded($0.of, when: $0.when) },
      {
        if case .transformed(let source, .formDecoded(let condition)) = $0 {
          (source, condition)
        } else {
          nil
        }
      },
      "`%XX` and `+` decoded; as `{\"of\": source, \"when\": condition}` only where the answer says that it "
        + "is encoded"),
    transform(
      "adding", "number", "to", plain: 0, Pagination.ValueTransform.adding,
      { if case .adding(let number) = $0 { number } else { nil } }, "a sum"),
    transform(
      "template", "text", "of", plain: "", Pagination.ValueTransform.template,
      { if case .template(let text) = $0 { text } else { nil } },
      "a text with the value in place of `{}`; `{name}`, `{size}` and `{to}` too"),
    .key(
      "json", { .transformed($0, .json) },
      { if case .transformed(let source, .json) = $0 { source } else { nil } },
      "the JSON in a text"),
    .key(
      "jsonText", { .transformed($0, .jsonText) },
      { if case .transformed(let source, .jsonText) = $0 { source } else { nil } },
      "the text of JSON"),
    .key(
      "all", Pagination.Next.all, { if case .all(let sources) = $0 { sources } else { nil } },
      "several values by name, for `queryMerge` and `bodyMerge`"),
    .key(
      "firstOf", Pagination.Next.firstOf,
      { if case .firstOf(let routes) = $0 { routes } else { nil } },
      "the first `Pagination.Route` that finds something"),
  ]

  /// A relation, or one with parameters.
  private static let link = Form<(rel: String, conditions: [String: String])>.oneOf(
    "A link header source",
    [
      .bare({ ($0, [:]) }, { $0.conditions.isEmpty ? $0.rel : nil }),
      .keys(
        (rel: "next", conditions: [:]),
        [
          .optional("rel", \.rel, isWritten: { _ in true }), .optional("where", \.conditions),
        ], { $0 }, { $0 }),
    ])

  private static let offsetForm = Form<(first: Int, step: Pagination.OffsetStep)>.object(
    "An offset source", (0, .itemsReturned),
    [
      .optional("first", \.first, example: "0", isWritten: { _ in true }),
      .optional("step", \.step, example: "\"pageSize\""),
    ])

  private static let numberForm = Form<(first: Int, from: PagePath?)>.object(
    "A page number source", (1, nil),
    [
      .optional("first", \.first, example: "1", isWritten: { _ in true }),
      .optional("from", \.from),
    ])

  private static let rangeForm = Form<Int>.object(
    "A content range source", 0,
    [.optional("first", \.self, example: "0", isWritten: { _ in true })])

  private static let indexForm = Form<(list: PagePath, link: PagePath, nested: Bool)>.object(
    "The source \"index\"", ("", "", true),
    [
      .required("list", \.list), .required("link", \.link),
      .optional("nested", \.nested, example: "false"),
    ])

  /// A source, or one with the condition under which it is encoded.
  private static let decodedForm = Form<(of: Pagination.Next, when: Pagination.Condition?)>.oneOf(
    "The source \"formDecoded\"",
    [
      .bare(onlyText: false, { ($0, nil) }, { $0.when == nil ? $0.of : nil }),
      .keys(
        (of: .linkHeader, when: nil), [.required("of", \.of), .optional("when", \.when)], { $0 },
        { $0 }),
    ])

  /// A transform with a parameter, and the source that it changes.
  private static func transform<Parameter: Formed>(
    _ kind: String, _ name: String, _ source: String, plain: Parameter,
    _ embed: @escaping @Sendable (Parameter) -> Pagination.ValueTransform,
    _ extract: @escaping @Sendable (Pagination.ValueTransform) -> Parameter?, _ note: String
  ) -> FormCase<Pagination.Next> {
    .key(
      kind,
      Form<(parameter: Parameter, source: Pagination.Next)>.object(
        "The source \"\(kind)\"", (plain, .linkHeader),
        [.required(name, \.parameter), .required(source, \.source)]),
      { .transformed($0.source, embed($0.parameter)) },
      {
        guard case .transformed(let source, let transform) = $0 else { return nil }
        return extract(transform).map { ($0, source) }
      }, note)
  }
}
