/// Where the continuation of the next page comes from: the answer to "next".
///
/// A source that finds nothing, null or blank text ends the walk. Encodes as an object with the
/// case's name, such as `{"body": "/next_cursor"}`, `{"linkHeader": "next"}`, `{"offset": {"first":
/// 1}}` or `{"firstOf": [{"next": …, "send": …}]}`.
public indirect enum NextSource: Hashable, Sendable {
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
  /// The value of another source, changed on its way; see `ValueTransform`.
  case transformed(NextSource, ValueTransform)
  /// Several values under names of their own, sent together by `Placement.queryMerge` or
  /// `.bodyMerge`; those that are missing are left out, and none at all is the end.
  case all([String: NextSource])
  /// The first of these routes whose source finds something, each with a placement of its own.
  case firstOf([Route])

  /// The link header with the relation `next`.
  public static let linkHeader = NextSource.linkHeader()
  /// Items counted from 0, by what each page returned.
  public static let offset = NextSource.offset()
  /// Pages counted from 1.
  public static let pageNumber = NextSource.pageNumber()
}

extension NextSource {
  /// One query parameter out of a link.
  public static func queryItem(_ name: String, of source: NextSource) -> NextSource {
    .transformed(source, .queryItem(name))
  }

  /// A value that came form-encoded, decoded; see `ValueTransform.formDecoded`.
  public static func formDecoded(
    _ source: NextSource, when condition: AnswerCondition? = nil
  ) -> NextSource {
    .transformed(source, .formDecoded(when: condition))
  }

  /// A whole number plus another one; see `ValueTransform.adding`.
  public static func adding(_ number: Int, to source: NextSource) -> NextSource {
    .transformed(source, .adding(number))
  }

  /// A text around a value; see `ValueTransform.template`.
  public static func template(_ text: String, of source: NextSource) -> NextSource {
    .transformed(source, .template(text))
  }

  /// A text that is JSON, read; see `ValueTransform.json`.
  public static func json(_ source: NextSource) -> NextSource { .transformed(source, .json) }

  /// A value as JSON text; see `ValueTransform.jsonText`.
  public static func jsonText(_ source: NextSource) -> NextSource {
    .transformed(source, .jsonText)
  }
}

extension NextSource {
  /// The source below all transforms.
  var root: NextSource {
    if case .transformed(let source, _) = self { source.root } else { self }
  }

  /// The transforms around the root, in the order they are applied.
  var transforms: [ValueTransform] {
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
  var isCounter: Bool {
    switch root {
    case .offset, .pageNumber: true
    default: false
    }
  }

  /// The number that the first page has, where pages have numbers.
  var firstCount: Int? {
    switch root {
    case .offset(let first, _), .pageNumber(let first, _), .contentRange(let first): first
    default: nil
    }
  }
}
