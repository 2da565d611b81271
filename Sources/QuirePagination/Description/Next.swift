extension Pagination {
  /// The source of the continuation: the member "next" of a description.
  ///
  /// A missing, null or blank continuation ends the walk. Where a link is expected, so do `false`
  /// and an object whose link is null or blank.
  public indirect enum Next: Hashable, Sendable {
    /// The target of the first link with this relation and these parameters in the Link header
    /// fields (RFC 8288).
    case linkHeader(rel: String = "next", where: [String: String] = [:])
    /// The value of a header field.
    case header(String)
    /// The value at a path of the page. If it is followed as a link, an object counts by its
    /// `href`, `url`, `@id` or `id`.
    case body(PagePath)
    /// The value at a path in the last item.
    case lastItem(PagePath)
    /// The value at a path in the first item.
    case firstItem(PagePath)
    /// The greatest value at a path in the items, for servers that do not sort. Whole numbers are
    /// compared as numbers, anything else by its bytes.
    case maxItem(PagePath)
    /// An offset that starts at `first` and grows by `step` with each page.
    case offset(first: Int = 0, step: OffsetStep = .itemsReturned)
    /// A page number that starts at `first`. With `from`, it is one more than the number that the
    /// page has there.
    case pageNumber(first: Int = 1, from: PagePath? = nil)
    /// One more than the end of the Content-Range; the first page starts at `first` (RFC 9110,
    /// §14.4).
    case contentRange(first: Int = 0)
    /// The pages that an index document lists, in order: the list at a path, and the link in each
    /// of its elements. The first page is the index. If `nested`, its pages may be indexes too. A
    /// link to a fragment of its own page is skipped.
    case index(PagePath, link: PagePath, nested: Bool = true)
    /// The value of another source, transformed; see `Pagination.ValueTransform`.
    case transformed(Next, ValueTransform)
    /// Several named values, sent together by `Pagination.Placement.queryMerge` or `.bodyMerge`.
    /// Missing ones are omitted; if all are missing, it is the end.
    case all([String: Next])
    /// The first of these routes whose source finds a value. Each has its own placement.
    case firstOf([Route])

    /// The link with the relation `next` in the Link header.
    public static let linkHeader = Next.linkHeader()
    /// An offset from 0 that grows by the items of each page.
    public static let offset = Next.offset()
    /// Page numbers from 1.
    public static let pageNumber = Next.pageNumber()
  }
}

extension Pagination.Next {
  /// Returns a source that reads a query parameter of a link.
  public static func queryItem(_ name: String, of source: Pagination.Next) -> Pagination.Next {
    .transformed(source, .queryItem(name))
  }

  /// Returns a source that decodes a form-encoded value; see
  /// `Pagination.ValueTransform.formDecoded`.
  public static func formDecoded(
    _ source: Pagination.Next, when condition: Pagination.Condition? = nil
  ) -> Pagination.Next {
    .transformed(source, .formDecoded(when: condition))
  }

  /// Returns a source that adds a number to a value; see `Pagination.ValueTransform.adding`.
  public static func adding(_ number: Int, to source: Pagination.Next) -> Pagination.Next {
    .transformed(source, .adding(number))
  }

  /// Returns a source that puts a value into a template; see `Pagination.ValueTransform.template`.
  public static func template(_ text: String, of source: Pagination.Next) -> Pagination.Next {
    .transformed(source, .template(text))
  }

  /// Returns a source that parses a text as JSON; see `Pagination.ValueTransform.json`.
  public static func json(_ source: Pagination.Next) -> Pagination.Next {
    .transformed(source, .json)
  }

  /// Returns a source that writes a value as JSON text; see `Pagination.ValueTransform.jsonText`.
  public static func jsonText(_ source: Pagination.Next) -> Pagination.Next {
    .transformed(source, .jsonText)
  }
}

extension Pagination.Next {
  /// The source inside all transforms.
  package var untransformed: Pagination.Next {
    if case .transformed(let source, _) = self { source.untransformed } else { self }
  }

  /// The transforms around the root, in the order of their application.
  package var transforms: [Pagination.ValueTransform] {
    if case .transformed(let source, let transform) = self {
      source.transforms + [transform]
    } else {
      []
    }
  }

  /// Whether the source needs all items of a page instead of the last one.
  var looksAtAllItems: Bool {
    switch untransformed {
    case .firstItem, .maxItem: true
    case .all(let sources): sources.values.contains(where: \.looksAtAllItems)
    default: false
    }
  }

  /// The path of the member of an item that the source reads; nil for a source outside of items.
  package var itemPath: PagePath? {
    switch untransformed {
    case .lastItem(let path), .firstItem(let path), .maxItem(let path): path
    default: nil
    }
  }

  /// Whether the source is a counter, which always has a next value.
  package var isCounter: Bool {
    switch untransformed {
    case .offset, .pageNumber: true
    default: false
    }
  }

  /// The number of the first page, if pages or items are counted.
  package var firstCount: Int? {
    switch untransformed {
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
      "the link with that relation in the Link header; `{\"rel\": \"next\", \"where\": {\"results\": "
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
      "an offset in items; the step is `\"itemsReturned\"`, `\"pageSize\"` or `{\"body\": path}`"),
    .word("offset", .offset),
    .key(
      "pageNumber", numberForm, also: ["page": ""], { .pageNumber(first: $0.first, from: $0.from) },
      { if case .pageNumber(let first, let from) = $0 { (first, from) } else { nil } },
      "a page number; with `from`, one more than the page's own"),
    .word("pageNumber", .pageNumber, also: ["page": ""]),
    .key(
      "contentRange", rangeForm, { .contentRange(first: $0) },
      { if case .contentRange(let first) = $0 { first } else { nil } }, "the end of Content-Range"),
    .word("contentRange", .contentRange()),
    .key(
      "index", indexForm, { .index($0.list, link: $0.link, nested: $0.nested) },
      { if case .index(let list, let link, let nested) = $0 { (list, link, nested) } else { nil } },
      "the links that an index of pages lists, in order; these pages may be indexes too, if `nested`, which is the default"
    ),
  ]

  private static let made: [FormCase<Pagination.Next>] = [
    transform(
      "queryItem", "name", "of", plain: "", Pagination.ValueTransform.queryItem,
      { if case .queryItem(let name) = $0 { name } else { nil } },
      "a query parameter of a link"),
    .key(
      "formDecoded", decodedForm, example: "source", { .formDecoded($0.of, when: $0.when) },
      {
        if case .transformed(let source, .formDecoded(let condition)) = $0 {
          (source, condition)
        } else {
          nil
        }
      },
      "decodes `%XX` and `+`; `{\"of\": source, \"when\": condition}` does so only if the answer matches the condition"
    ),
    transform(
      "adding", "number", "to", plain: 0, Pagination.ValueTransform.adding,
      { if case .adding(let number) = $0 { number } else { nil } }, "the value plus a number"),
    transform(
      "template", "text", "of", plain: "", Pagination.ValueTransform.template,
      { if case .template(let text) = $0 { text } else { nil } },
      "a text with the value in place of `{}`; also `{name}`, `{size}` and `{to}`"),
    .key(
      "json", { .transformed($0, .json) },
      { if case .transformed(let source, .json) = $0 { source } else { nil } },
      "parses a text as JSON"),
    .key(
      "jsonText", { .transformed($0, .jsonText) },
      { if case .transformed(let source, .jsonText) = $0 { source } else { nil } },
      "writes the value as JSON text"),
    .key(
      "all", Pagination.Next.all, { if case .all(let sources) = $0 { sources } else { nil } },
      "several values by name, for `queryMerge` and `bodyMerge`"),
    .key(
      "firstOf", Pagination.Next.firstOf,
      { if case .firstOf(let routes) = $0 { routes } else { nil } },
      "the first `Pagination.Route` that finds a value"),
  ]

  /// A relation, with or without parameters.
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

  /// A source, with or without the condition under which it is encoded.
  private static let decodedForm = Form<(of: Pagination.Next, when: Pagination.Condition?)>.oneOf(
    "The source \"formDecoded\"",
    [
      .bare(onlyText: false, { ($0, nil) }, { $0.when == nil ? $0.of : nil }),
      .keys(
        (of: .linkHeader, when: nil), [.required("of", \.of), .optional("when", \.when)], { $0 },
        { $0 }),
    ])

  /// Returns the case of a transform with a parameter and a source.
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

extension Pagination {
  /// How much an offset grows with each page.
  public enum OffsetStep: Hashable, Sendable {
    /// By the number of items of the page. The default, right even if a server returns fewer than
    /// requested.
    case itemsReturned
    /// By the page size, for servers that count before they filter.
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
        "a number in the page"),
    ])
}
