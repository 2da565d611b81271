import QuireCore

/// What web frameworks and generated APIs send.
extension Pagination {
  /// Django REST framework, all three styles: `{"count": 57, "next": "…", "results": […]}`.
  ///
  /// Page size: `page_size`, where the view allows one; `limit` with LimitOffsetPagination. Behind
  /// a proxy, the links often name the inner host: then add `.links(.rebase)`.
  public static let drf = Pagination(
    next: .body("/next"),
    end: [.status([404], matching: .value("/detail", .equals("Invalid page.")))],
    items: "/results", size: PageSize(.query("page_size")), total: "/count",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/detail", .equals("Invalid cursor"), statuses: [404]), .expired,
        message: "/detail")
    ]), formats: [.json])

  /// Laravel's paginators and API resources: `{"data": […], "next_page_url": "…"}`, or `{"data":
  /// […], "links": {"next": "…"}, "meta": {"total": 57}}`.
  ///
  /// Page size: `per_page`, where the controller reads it. Links name the host that PHP sees.
  public static let laravel = Pagination(
    next: .firstOf([
      Route(.body("/next_page_url"), send: .url), Route(.body("/links/next"), send: .url),
    ]),
    items: "/data", size: PageSize(.query("per_page")),
    total: TotalSource(.firstOf(["/total", "/meta/total"])), policy: PagePolicy(links: .rebase),
    formats: [.json])

  /// Spring Data's pages: `{"content": […], "number": 0, "last": false, "totalPages": 2}`.
  ///
  /// Page size: `size`, 20 by default and 2000 at most. Pages count from 0. A `Slice` has no
  /// totals, only `last`.
  public static let spring = Pagination(
    next: .pageNumber(first: 0), send: .query("page"),
    end: [
      .flag("/last", continuesWhile: false),
      .pages(.firstOf(["/totalPages", "/page/totalPages"])), .emptyPage,
    ],
    items: "/content", size: PageSize(.query("size"), default: 20, max: 2000),
    total: TotalSource(.firstOf(["/totalElements", "/page/totalElements"])), formats: [.json])

  /// WordPress and WooCommerce: a list, `X-WP-Total` and `X-WP-TotalPages` beside it.
  ///
  /// Page size: `per_page`, 10 by default and 100 at most. Past the end the answer is 400
  /// `rest_post_invalid_page_number`, which ends the walk where a cache strips the headers.
  public static let wordpress = Pagination(
    next: .pageNumber, send: .query("page"),
    end: [
      .pages(.header("X-WP-TotalPages")),
      .status([400], matching: .value("/code", .contains("invalid_page_number"))),
    ],
    size: PageSize(.query("per_page"), default: 10, max: 100),
    total: TotalSource(.header("X-WP-Total")), formats: [.json])

  /// PostgREST and Supabase: a list, and `Content-Range: 0-24/57` beside it.
  ///
  /// Asks by `Range`, 1000 items at a time unless told otherwise; the server may give fewer.
  /// `Prefer: count=exact` makes it say the total, without which a walk ends by an empty page.
  public static let postgrest = Pagination(
    next: .contentRange(), send: .itemRange,
    request: RequestRule(
      always: RequestConstants(header: ["Range-Unit": "items", "Prefer": "count=exact"])),
    end: [.total(TotalSource(.contentRangeTotal)), .emptyPage, .status([416])],
    size: PageSize(.itemRange, default: 1000), total: TotalSource(.contentRangeTotal),
    formats: [.json])

  /// Datasette: `{"rows": […], "next": "…", "next_url": "…"}`.
  ///
  /// Page size: `_size`, 100 by default and 1000 at most. With `_shape=array` the page is the list
  /// and the link is in a header: use `linkHeader`.
  public static let datasette = Pagination(
    next: .body("/next_url"), items: "/rows",
    size: PageSize(.query("_size"), default: 100, max: 1000), total: "/count", formats: [.json])

  /// Laravel's cursor paginator: `{"data": […], "next_cursor": "…"}`, or `{"data": […], "meta":
  /// {"next_cursor": "…"}}`.
  ///
  /// Page size: `per_page`, where the controller reads it. Takes the cursor and not the link, which
  /// names the host that PHP sees.
  public static let laravelCursor = Pagination(
    next: .firstOf([
      Route(.body("/next_cursor"), send: .query("cursor")),
      Route(.body("/meta/next_cursor"), send: .query("cursor")),
    ]),
    items: "/data", size: PageSize(.query("per_page")), formats: [.json])

  static let frameworkPresets = [
    PaginationPreset("datasette", "rows, next_url", .datasette),
    PaginationPreset("drf", "Django REST framework: results, next, count", .drf),
    PaginationPreset("laravel", "data, next_page_url or links.next", .laravel),
    PaginationPreset(
      "postgrest", "a list, Range and Content-Range", .postgrest, aliases: ["supabase"]),
    PaginationPreset("spring", "content, page from 0, last", .spring),
    PaginationPreset(
      "wordpress", "a list, page number, X-WP-TotalPages header", .wordpress,
      aliases: ["wooCommerce"]),
    PaginationPreset("laravelCursor", "data, next_cursor or meta.next_cursor", .laravelCursor),
  ]
}
