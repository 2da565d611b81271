/// When the items of a page are handed out.
public enum PageDelivery: Hashable, Sendable {
  /// When the page is complete: nothing of a page that is cut off or turns out to be an error is ever
  /// seen. The default.
  case whole
  /// As they arrive, in parts of the page, so that a page need not fit into memory and its first item
  /// need not wait for its last.
  ///
  /// Each part's `next` points inside the page, behind the items so far. A page that is cut off is an
  /// error after the items that came; asking again fetches the page again and goes on behind them, by
  /// the same iterator or from the stored position. XML decoders do so where the items are at one
  /// path that elements can be told by as they start; everything else comes when the page is whole, as
  /// do pages of descriptions that look at all items of a page, reverse them or let them overlap.
  case asItArrives
}
