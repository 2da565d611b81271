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
  /// Read at most this many decoded bytes; over HTTP, a transfer that goes beyond them is ended, and its
  /// page comes again with the checkpoint. Default: no cap.
  public var bytes: Int?
  /// Walk for at most this long, time in the consumer included; what is being read when the time is up
  /// is cancelled. Default: no cap.
  public var duration: Duration?
  /// Accept at most this many empty pages in a row. Default 100, far beyond what filtered listings
  /// send.
  public var consecutiveEmptyPages: Int
  /// Compare each page's items with those of this many pages before it, and refuse a page that
  /// repeats one of them: a server that has lost its place sends the same page for ever under new
  /// positions. Default 64; 0 compares none, for listings whose pages may well be the same.
  ///
  /// Items are the same, too, where only such members differ that servers write anew with every
  /// answer: an age, a time, a counter. What tells records apart, their id above all, has to be the
  /// same in all of them. Pages that may be right although they look alike are refused after a
  /// thousand in a row, a hundred where the items have the same id: equal items under positions that
  /// count, readings of the same sensors, versions of one record.
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
