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
  /// A number of items, from `first`, that grows by `step` with each page.
  case offset(first: Int = 0, step: OffsetStep = .itemsReturned)
  /// A number of pages, from `first`; with `from`, one more than what the page says it is.
  case pageNumber(first: Int = 1, from: PagePath? = nil)
  /// Where the server's Content-Range ends, plus one; the page begins at `first` (RFC 9110, §14.4).
  case contentRange(first: Int = 0)
  /// One query parameter out of a link.
  case queryItem(String, of: NextSource)
  /// Several values under names of their own, sent together by `Placement.queryMerge`; those that
  /// are missing are left out, and none at all is the end.
  case all([String: NextSource])
  /// The first of these routes whose source finds something, each with a placement of its own.
  case firstOf([Route])

  /// The link header with the relation `next`.
  public static let linkHeader = NextSource.linkHeader()
  /// Items counted from 0, by what each page returned.
  public static let offset = NextSource.offset()
  /// Pages counted from 1.
  public static let pageNumber = NextSource.pageNumber()

  /// Whether the source counts by itself, so that it never finds nothing.
  var isCounter: Bool {
    switch self {
    case .offset, .pageNumber: true
    case .linkHeader, .header, .body, .lastItem, .contentRange, .queryItem, .all, .firstOf: false
    }
  }

  /// The number that the first page has, where pages have numbers.
  var firstCount: Int? {
    switch self {
    case .offset(let first, _), .pageNumber(let first, _), .contentRange(let first): first
    case .linkHeader, .header, .body, .lastItem, .queryItem, .all, .firstOf: nil
    }
  }
}
