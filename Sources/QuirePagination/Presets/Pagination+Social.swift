import QuireCore

/// People talking to each other.
extension Pagination {
  /// Discord's messages: a list, newest first.
  ///
  /// Page size: `limit`, 50 by default and 100 at most. The cursor is the last item's id; the end is
  /// a short page. Members go up by `after`: `discordMembers` by name.
  public static let discord = Pagination(
    next: .lastItem("/id"), send: .query("before"), end: [.shortPage, .emptyPage],
    size: PageSize(.query("limit"), default: 50, max: 100),
    previous: PreviousRule(
      .firstItem("/id"), send: .query("after"), end: [.emptyPage]), formats: [.json])

  /// Facebook and Instagram: `{"data": […], "paging": {"cursors": {"after": "…"}, "next": "…"}}`.
  ///
  /// Page size: `limit`, 25 by default and 100 at most. Pages may be empty in the middle; only a
  /// missing `next` is the end. The link carries the access token. Error 1, "reduce the amount of
  /// data", is not answered by a smaller page: ask for one.
  public static let facebook = Pagination(
    next: .body("/paging/next"), items: "/data",
    size: PageSize(.query("limit"), default: 25, max: 100), total: "/summary/total_count",
    previous: PreviousRule(.body("/paging/previous"), end: [.emptyPage]), formats: [.json])

  /// Mastodon: a list, newest first, and a Link header beside it.
  ///
  /// Page size: `limit`, 20 by default and 40 at most, 80 with accounts. The ids in the link are
  /// often not those of the items. The page before is the newer one; there is a link to it always.
  public static let mastodon = Pagination(
    next: .linkHeader, size: PageSize(.query("limit"), default: 20, max: 80),
    previous: PreviousRule(.linkHeader(rel: "prev"), end: [.emptyPage]), formats: [.json])

  /// X (Twitter) v2: `{"data": […], "meta": {"result_count": 10, "next_token": "…"}}`.
  ///
  /// Page size: `max_results`, 10 by default and 100 at most. No results, no `data`; the count is
  /// the page's.
  /// - Parameter token: The parameter for the token; `next_token` with search.
  public static func twitter(token: String = "pagination_token") -> Pagination {
    Pagination(
      next: .body("/meta/next_token"), send: .query(token), items: .optional("/data"),
      size: PageSize(.query("max_results"), default: 10, max: 100), formats: [.json])
  }

  /// Reddit: `{"kind": "Listing", "data": {"children": […], "after": "t3_…"}}`.
  ///
  /// Page size: `limit`, 25 by default and 100 at most. A listing ends at about 1000 items, however
  /// many there are.
  public static let reddit = Pagination(
    next: .body("/data/after"), send: .query("after"), items: "/data/children",
    size: PageSize(.query("limit"), default: 25, max: 100),
    previous: PreviousRule(.body("/data/before"), send: .query("before")), formats: [.json])

  /// Bluesky and the AT Protocol: `{"feed": […], "cursor": "…"}`.
  ///
  /// Page size: `limit`, 50 by default and 100 at most. Pages may be empty in the middle; some
  /// services give the same cursor at the end.
  /// - Parameter items: Where the items are, such as `/feed`.
  public static func atproto(items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("/cursor"), send: .query("cursor"), end: [.sameCursor], items: items,
      size: PageSize(.query("limit"), default: 50, max: 100), formats: [.json])
  }

  /// Twitch Helix: `{"data": […], "pagination": {"cursor": "…"}}`.
  ///
  /// Page size: `first`, 20 by default and 100 at most. The last page has `"pagination": {}`. Live
  /// rankings move: items may come twice.
  public static let twitch = Pagination(
    next: .body("/pagination/cursor"), send: .query("after"), items: "/data",
    size: PageSize(.query("first"), default: 20, max: 100), formats: [.json])

  /// Spotify: `{"items": […], "next": "https://…", "total": 57}`.
  ///
  /// Page size: `limit`, 20 by default and 50 at most. Items may be null.
  /// - Parameter page: Where the page is: the root, or such as `/tracks` in a search.
  public static func spotify(in page: PagePath = "") -> Pagination {
    func path(_ rest: String) -> PagePath { PagePath(stringLiteral: page.text + rest) }
    return Pagination(
      next: .body(path("/next")), items: .path(path("/items")),
      size: PageSize(.query("limit"), default: 20, max: 50),
      total: TotalSource(.body(path("/total"))), formats: [.json])
  }

  /// Stack Exchange: `{"items": […], "has_more": true, "quota_remaining": 299}`.
  ///
  /// Page size: `pagesize`, 30 by default and 100 at most. Without a key, pages beyond 25 are
  /// refused.
  public static let stackExchange = Pagination(
    next: .pageNumber, send: .query("page"), end: [.flag("/has_more", ifAbsent: .end)],
    items: "/items", size: PageSize(.query("pagesize"), default: 30, max: 100),
    policy: PagePolicy(
      failure: [
        FailureRule(when: .value("/error_id", .equals(502)), .throttled, message: "/error_message"),
        FailureRule(when: .value("/error_id"), message: "/error_message"),
      ], pacing: Pacing(backoff: "/backoff")), formats: [.json])

  /// Discourse's lists of topics: `{"topic_list": {"topics": […], "more_topics_url":
  /// "/latest?page=1"}}`.
  ///
  /// Page size: 30, fixed. Counts from 0. The link leads to HTML: only its `page` is taken.
  public static let discourse = Pagination(
    next: .queryItem("page", of: .body("/topic_list/more_topics_url")), send: .query("page"),
    items: "/topic_list/topics", formats: [.json])

  /// Pinterest v5: `{"items": […], "bookmark": "…"}`.
  ///
  /// Page size: `page_size`, 25 by default and 250 at most. The last bookmark is null.
  public static let pinterest = Pagination(
    next: .body("/bookmark"), send: .query("bookmark"), items: "/items",
    size: PageSize(.query("page_size"), default: 25, max: 250), formats: [.json])

  /// Disqus: `{"code": 0, "cursor": {"next": "…", "hasNext": true}, "response": […]}`.
  ///
  /// Page size: `limit`, 25 by default and 100 at most. The last page has a next cursor too. A
  /// `code` other than 0 is a failure, of which 13 is throttling.
  public static let disqus = Pagination(
    next: .body("/cursor/next"), send: .query("cursor"), end: [.flag("/cursor/hasNext")],
    items: "/response", size: PageSize(.query("limit"), default: 25, max: 100),
    policy: PagePolicy(failure: [
      FailureRule(when: .value("/code", .equals(13)), .throttled, message: "/response"),
      FailureRule(when: .value("/code", .notEquals(0)), message: "/response"),
    ]), formats: [.json])

  /// Steam's reviews: `{"success": 1, "reviews": […], "cursor": "…", "query_summary":
  /// {"total_reviews": 57}}`.
  ///
  /// Page size: `num_per_page`, 20 by default and 100 at most. Starts with `cursor=*`; the same
  /// cursor again or an empty page is the end. Only the first page has the total. A `success` other
  /// than 1 is a failure.
  public static let steamReviews = Pagination(
    next: .body("/cursor"), send: .query("cursor"),
    request: RequestRule(first: "*", always: RequestConstants(query: ["json": "1"])),
    end: [.sameCursor, .emptyPage], items: "/reviews",
    size: PageSize(.query("num_per_page"), default: 20, max: 100),
    total: TotalSource("/query_summary/total_reviews", scope: .firstPage),
    policy: PagePolicy(failure: [FailureRule(when: .value("/success", .notEquals(1)))]),
    formats: [.json])

  /// Telegram's `getUpdates`: `{"ok": true, "result": [{"update_id": 7}, …]}`.
  ///
  /// Page size: `limit`, 100 by default and at most. To ask for a page is to acknowledge the one
  /// before, which the server then forgets: no look-ahead, and store what came first. An empty page
  /// is the end for now.
  public static let telegram = Pagination(
    next: .adding(1, to: .maxItem("/update_id")), send: .query("offset"), end: [.emptyPage],
    items: "/result", size: PageSize(.query("limit"), default: 100, max: 100),
    policy: PagePolicy(
      failure: [
        FailureRule(
          when: .value("/error_code", .equals(429)), .throttled, message: "/description",
          after: "/parameters/retry_after"),
        FailureRule(when: .value("/ok", .equals(false)), message: "/description"),
      ], pacing: Pacing(readsAhead: false), secretSegment: "bot{secret}"),
    formats: [.json])

  static let socialPresets = [
    PaginationPreset(
      "discord", "a list, newest first; before = last id", .discord,
      variants: [
        "discordMembers": Pagination(
          next: .maxItem("/user/id"), send: .query("after"), end: [.shortPage, .emptyPage],
          size: PageSize(.query("limit"), default: 1, max: 1000), formats: [.json])
      ]),
    PaginationPreset("facebook", "data, paging.next", .facebook, aliases: ["instagram"]),
    PaginationPreset("mastodon", "a list, Link header with max_id", .mastodon),
    PaginationPreset("twitter", "data, meta.next_token", .twitter()),
    PaginationPreset("reddit", "data.children, data.after", .reddit),
    PaginationPreset(
      "atproto", "items elsewhere, cursor", .atproto(items: "/feed"), aliases: ["bluesky"]),
    PaginationPreset("twitch", "data, pagination.cursor", .twitch),
    PaginationPreset("spotify", "items, next, total, below a path of your own", .spotify()),
    PaginationPreset("stackExchange", "items, page number, has_more", .stackExchange),
    PaginationPreset(
      "discourse", "topic_list.topics, the page in topic_list.more_topics_url", .discourse),
    PaginationPreset("pinterest", "items, bookmark", .pinterest),
    PaginationPreset("disqus", "response, cursor.next, cursor.hasNext", .disqus),
    PaginationPreset("steamReviews", "reviews, cursor", .steamReviews),
    PaginationPreset("telegram", "result; offset = the greatest update_id and 1", .telegram),
  ]
}
