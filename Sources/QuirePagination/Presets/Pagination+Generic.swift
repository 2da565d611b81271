import QuireCore

/// Protocols that many servers speak, each with names of its own.
extension Pagination {
  /// Web links: `Link: <https://…>; rel="next"` beside a list (RFC 8288).
  ///
  /// Page size: `per_page`. The last page has no `next`, however many items it has.
  public static let linkHeader = Pagination(
    next: .linkHeader, size: PageSize(.query("per_page")), previous: .linkHeader)

  /// An offset and a limit: `?offset=40&limit=20`, and `{"items": […], "total": 57}`.
  ///
  /// Advances by the items that came, because servers lower the limit silently. Ends by the total
  /// where there is one, else by an empty page, which costs one request; or by a short one where the
  /// most that the server gives at once is known, so that a short page is no lowered limit.
  /// - Parameters:
  ///   - items: Where the items are.
  ///   - offset: The parameter for the offset.
  ///   - limit: The parameter for the page size.
  ///   - first: The offset of the first item.
  ///   - max: The most the server gives at once, if known.
  ///   - total: Where the number of all items is, if anywhere.
  public static func offsetLimit(
    items: ItemSelector = .root, offset: String = "offset", limit: String = "limit",
    first: Int = 0, max: Int? = nil, total: TotalSource? = nil
  ) -> Pagination {
    Pagination(
      next: .offset(first: first), send: .query(offset),
      end: (total.map { [.total($0)] } ?? [])
        + (max == nil ? [.emptyPage] : [.shortPage, .emptyPage]),
      items: items,
      size: PageSize(.query(limit), max: max), total: total)
  }

  /// Numbered pages until one is empty: `?page=3`, and a list.
  ///
  /// Costs one request beyond the last item; nothing shorter is safe where nothing says the end.
  /// - Parameters:
  ///   - items: Where the items are.
  ///   - page: The parameter for the page's number.
  ///   - size: The parameter for the page size.
  ///   - first: The number of the first page; 0 with some.
  public static func pages(
    items: ItemSelector = .root, page: String = "page", size: String = "per_page", first: Int = 1
  ) -> Pagination {
    Pagination(
      next: .pageNumber(first: first), send: .query(page), end: [.emptyPage], items: items,
      size: PageSize(.query(size)))
  }

  /// Numbered pages of which the server says how many there are: `?page=3`, and
  /// `{"data": […], "meta": {"total_pages": 7}}`.
  ///
  /// Fits Strapi, Cloudflare, Xero and many more.
  /// - Parameters:
  ///   - pages: Where the number of pages is.
  ///   - items: Where the items are.
  ///   - page: The parameter for the page's number.
  ///   - size: The parameter for the page size.
  ///   - first: The number of the first page; 0 with some.
  public static func totalPages(
    _ pages: ValueSource, items: ItemSelector = .root, page: String = "page",
    size: String = "per_page", first: Int = 1
  ) -> Pagination {
    Pagination(
      next: .pageNumber(first: first), send: .query(page), end: [.pages(pages), .emptyPage],
      items: items, size: PageSize(.query(size)), total: TotalSource(pages, .pages))
  }

  /// A keyset: the next request names a member of the last item, `?id_above=57`.
  ///
  /// Fits iNaturalist (`/id`, `id_above`), Binance (`/id`, `fromId`, one more than the last) and many
  /// more that sort by what they ask for. Where that is not unique, items equal to a page's last
  /// one are lost. Ends by an empty page, or by a short one where the most that the server gives at
  /// once is known.
  /// - Parameters:
  ///   - field: Where an item has it.
  ///   - parameter: The parameter for it.
  ///   - difference: What is added to it, for parameters that mean the first item wanted.
  ///   - items: Where the items are.
  ///   - size: The parameter for the page size.
  ///   - max: The most the server gives at once, if known.
  public static func keyset(
    _ field: PagePath, send parameter: String, adding difference: Int = 0,
    items: ItemSelector = .root, size: String = "limit", max: Int? = nil
  ) -> Pagination {
    let last = NextSource.lastItem(field)
    return Pagination(
      next: difference == 0 ? last : .adding(difference, to: last), send: .query(parameter),
      end: max == nil ? [.emptyPage] : [.shortPage, .emptyPage], items: items,
      size: PageSize(.query(size), max: max))
  }

  private static func linkHeader(
    items: ItemSelector = .root, size: String, total: String? = nil
  ) -> Pagination {
    Pagination(
      next: .linkHeader, items: items, size: PageSize(.query(size)),
      total: total.map { TotalSource(.header($0)) }, previous: .linkHeader)
  }

  /// Services that speak one of these, all of them in JSON.
  private static func inJSON(_ variants: [String: Pagination]) -> [String: Pagination] {
    variants.mapValues { $0.formats([.json]) }
  }

  package static let genericPresets = [
    PaginationPreset(
      "linkHeader", "a list, Link header (RFC 8288)", .linkHeader,
      aliases: ["canvas", "freshdesk", "greenhouse", "procore"],
      variants: inJSON([
        "forgejo": .linkHeader(size: "limit", total: "X-Total-Count"),
        "gitea": .linkHeader(size: "limit", total: "X-Total-Count"),
        "harbor": .linkHeader(size: "page_size", total: "X-Total-Count"),
        "huggingFace": .linkHeader(size: "limit"),
        "uniProt": .linkHeader(items: "/results", size: "size", total: "X-Total-Results"),
        "webex": .linkHeader(items: "/items", size: "max"),
      ])),
    PaginationPreset(
      "offsetLimit", "a list, offset and limit", .offsetLimit(),
      variants: inJSON([
        "contentful": .offsetLimit(items: "/items", offset: "skip", max: 1000, total: "/total"),
        "npmSearch": .offsetLimit(
          items: "/objects", offset: "from", limit: "size", max: 250, total: "/total"),
        "nugetSearch": .offsetLimit(
          items: "/data", offset: "skip", limit: "take", max: 1000, total: "/totalHits"),
        "nvd": .offsetLimit(
          items: "/vulnerabilities", offset: "startIndex", limit: "resultsPerPage", max: 2000,
          total: "/totalResults"),
      ])),
    PaginationPreset(
      "pages", "a list, page number until one is empty", .pages(), aliases: ["rubyGems"]),
    PaginationPreset(
      "totalPages", "data, page number, meta.total_pages",
      .totalPages("/meta/total_pages", items: "/data"),
      variants: inJSON([
        "hackerNews": .totalPages("/nbPages", items: "/hits", size: "hitsPerPage", first: 0),
        "strapi": .totalPages(
          "/meta/pagination/pageCount", items: "/data", page: "pagination[page]",
          size: "pagination[pageSize]"),
      ])),
    PaginationPreset(
      "keyset", "a list; id_above = the last item's id", .keyset("/id", send: "id_above"),
      variants: inJSON([
        "binance": .keyset("/id", send: "fromId", adding: 1, max: 1000)
      ])),
  ]
}
