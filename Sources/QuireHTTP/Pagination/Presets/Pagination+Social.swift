import QuireCore

/// People talking to each other.
extension Pagination {
  /// Discord's messages: a list, newest first.
  ///
  /// Page size: `limit`, 50 by default and 100 at most. The cursor is the last item's id; the end is
  /// a short page.
  public static let discord = Pagination(
    next: .lastItem("/id"), send: .query("before"), end: [.shortPage, .emptyPage],
    size: PageSize(.query("limit"), default: 50, max: 100))

  /// Facebook and Instagram: `{"data": […], "paging": {"cursors": {"after": "…"}, "next": "…"}}`.
  ///
  /// Page size: `limit`, 25 by default and 100 at most. Pages may be empty in the middle; only a
  /// missing `next` is the end. The link carries the access token.
  public static let facebook = Pagination(
    next: .body("/paging/next"), items: "/data",
    size: PageSize(.query("limit"), default: 25, max: 100), total: "/summary/total_count")

  static let socialPresets = [
    PaginationPreset("discord", "a list, newest first; before = last id", .discord),
    PaginationPreset("facebook", "data, paging.next", .facebook),
  ]
}
