/// Where a walk stops before the server's end.
///
/// `pages` and `items` are the caller's own wishes: reaching one ends the walk normally. The others
/// are safety caps: reaching one throws `PageError.Code.limitExceeded` on the `next()` after the
/// last page was delivered. Both are named in the report. The page size is neither: it is part of
/// the request.
public struct Limits: Hashable, Sendable {
  /// Deliver at most this many pages. Default: all.
  public var pages: Int?
  /// Deliver at most this many items; the last page is cut to fit, and its `next` points inside it.
  /// Default: all.
  public var items: Int?
  /// Read at most this many decoded bytes. Default: no cap.
  public var bytes: Int?
  /// Walk for at most this long, time in the consumer included. Default: no cap.
  public var duration: Duration?
  /// Accept at most this many empty pages in a row. Default 100, far beyond what filtered listings
  /// send.
  public var consecutiveEmptyPages: Int
  /// Compare each page's items with those of this many pages before it, and refuse a page that
  /// repeats one of them: a server that has lost its place sends the same page for ever under new
  /// positions. Default 64; 0 compares none, for listings whose pages may well be the same.
  public var comparedPages: Int

  /// No limits but those on empty and on repeated pages, unless given.
  public init(
    pages: Int? = nil, items: Int? = nil, bytes: Int? = nil, duration: Duration? = nil,
    consecutiveEmptyPages: Int = 100, comparedPages: Int = 64
  ) {
    self.pages = pages
    self.items = items
    self.bytes = bytes
    self.duration = duration
    self.consecutiveEmptyPages = consecutiveEmptyPages
    self.comparedPages = comparedPages
  }
}
