import QuireCore

/// Mail, messages and calls.
extension Pagination {
  /// Mailgun's events: `{"items": […], "paging": {"next": "…"}}`.
  ///
  /// Page size: `limit`, 300 at most. There is always a next link; the end is an empty page. Where
  /// links name another region's host, add `.links(.allow([…]))`.
  public static let mailgun = Pagination(
    next: .body("/paging/next"), end: [.emptyPage], items: "/items",
    size: PageSize(.query("limit"), max: 300), formats: [.json])

  /// SendGrid: `{"result": […], "_metadata": {"next": "…", "count": 57}}`, or a bare list.
  ///
  /// Page size: `limit`, 500 at most; lists of Marketing Campaigns take `page_size`. Links may name
  /// another host and are followed at ours; without one, the offset leads on until a page is short.
  public static let sendGrid = Pagination(
    next: .firstOf([
      Route(.body("/_metadata/next"), send: .url), Route(.offset, send: .query("offset")),
    ]),
    end: [.total("/_metadata/count"), .shortPage, .emptyPage],
    items: .firstOf(["/result", "/results", ""]), size: PageSize(.query("limit"), max: 500),
    total: "/_metadata/count", policy: PagePolicy(links: .rebase), formats: [.json])

  /// Twilio: `{"messages": […], "next_page_uri": "/2010-04-01/…"}`, or `{"messages": […], "meta":
  /// {"next_page_url": "…"}}`.
  ///
  /// Page size: `PageSize`, 50 by default and 1000 at most. The older link is relative.
  /// - Parameter items: Where the items are, such as `/messages`.
  public static func twilio(items: ItemSelector) -> Pagination {
    Pagination(
      next: .firstOf([
        Route(.body("/next_page_uri"), send: .url),
        Route(.body("/meta/next_page_url"), send: .url),
      ]),
      items: items, size: PageSize(.query("PageSize"), default: 50, max: 1000), formats: [.json])
  }

  /// Zoom: `{"users": […], "page_size": 30, "total_records": 57, "next_page_token": "…"}`.
  ///
  /// Page size: `page_size`, 30 by default and 300 at most. The last token is empty; each lives for
  /// 15 minutes.
  /// - Parameter items: Where the items are, such as `/users`.
  public static func zoom(items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("/next_page_token"), send: .query("next_page_token"), items: items,
      size: PageSize(.query("page_size"), default: 30, max: 300), total: "/total_records",
      policy: PagePolicy(failure: [
        FailureRule(when: .value("/code", .equals(300)), .expired, message: "/message")
      ]), formats: [.json])
  }

  static let communicationPresets = [
    PaginationPreset("mailgun", "items, paging.next until a page is empty", .mailgun),
    PaginationPreset("sendGrid", "result or a list, _metadata.next, else offset", .sendGrid),
    PaginationPreset(
      "twilio", "items elsewhere, next_page_uri or meta.next_page_url",
      .twilio(items: "/messages")),
    PaginationPreset("zoom", "items elsewhere, next_page_token", .zoom(items: "/users")),
  ]
}
