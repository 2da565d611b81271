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

  /// No limits but the one on empty pages, unless given.
  public init(
    pages: Int? = nil, items: Int? = nil, bytes: Int? = nil, duration: Duration? = nil,
    consecutiveEmptyPages: Int = 100
  ) {
    self.pages = pages
    self.items = items
    self.bytes = bytes
    self.duration = duration
    self.consecutiveEmptyPages = consecutiveEmptyPages
  }
}
