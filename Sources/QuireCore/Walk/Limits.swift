/// The limits at which a walk stops before the server's end.
///
/// `pages` and `items` are the caller's own wishes: reaching one ends the walk normally. The others
/// are safety caps: reaching one throws `PageError.Code.limitExceeded` on the `next()` after the
/// last page was delivered. The report names either. The page size is not among them: it is part of
/// the request.
public struct Limits: Hashable, Sendable {
  /// The most pages to deliver. Default: all.
  public var pages: Int?
  /// The most items to deliver. The last page is cut to fit, and its `next` points inside it.
  /// Default: all.
  public var items: Int?
  /// The most decoded bytes to read. Over HTTP, a transfer that goes beyond them is ended, and a
  /// walk from the checkpoint reads its page again. Default: no cap.
  public var bytes: Int?
  /// The most requests to send: retries, redirects and requests that open and close the listing
  /// included. A request beyond them is not sent. Default: no cap.
  public var requests: Int?
  /// The longest time that the walk may take, time in the consumer included. A read that runs when
  /// the time is up is cancelled. Default: no cap.
  public var duration: Duration?
  /// The most pages without items to accept in a row. Default 100, far beyond what filtered
  /// listings send.
  public var consecutiveEmptyPages: Int
  /// The number of pages before each page with which its items are compared. A page that repeats
  /// one of them is refused: a server that has lost its place sends the same page for ever under
  /// new positions. Default 64; 0 compares none, for listings whose pages may well be the same. Walks
  /// that go on from stored positions refuse equal items that come for the third time.
  ///
  /// Items also count as the same if only members differ that servers write anew with every answer:
  /// an age, a counter and, in records with an id or a title of their own, a time. Members that tell
  /// records apart, above all their id, have to be equal in all of them. Pages that look alike but
  /// may be right are refused only after a thousand in a row, a hundred if the items have the same
  /// ids: equal items under positions that count, readings of the same sensors, versions of one
  /// record.
  public var comparedPages: Int

  /// Creates limits; by default there are none but those on empty and on repeated pages.
  public init(
    pages: Int? = nil, items: Int? = nil, bytes: Int? = nil, duration: Duration? = nil,
    consecutiveEmptyPages: Int = 100, comparedPages: Int = 64, requests: Int? = nil
  ) {
    self.requests = requests
    self.pages = pages
    self.items = items
    self.bytes = bytes
    self.duration = duration
    self.consecutiveEmptyPages = consecutiveEmptyPages
    self.comparedPages = comparedPages
  }
}
