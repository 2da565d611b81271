/// A source that can hand out the items of a page while the page is still arriving.
///
/// A part is a `Page` of its own: it starts inside the page, where the part before it ended, and its
/// `next` says how many items of the page were handed out so far. So everything that works on pages
/// works on parts, and a stored position leads back to exactly the next item.
package protocol PartedPageSource<Item>: PageSource {
  /// The parts of the page at `position`, from its `itemOffset` on. Nothing is requested yet.
  func parts(at position: Position) throws -> any PageParts<Item>
}

/// One page being read in parts, by one task at a time.
///
/// Dropping it ends whatever is in flight.
package protocol PageParts<Item>: AnyObject, Sendable {
  associatedtype Item: Sendable

  /// The next part; the last one of a page has `hasMoreParts` false and the page's own `next`. Nil
  /// when the listing ended before the page.
  ///
  /// After an error, asking again goes on where the last part ended: items that were handed out are
  /// not handed out again. Throws when they cannot be told from the others any more.
  func next() async throws -> Page<Item>?
}

extension Cursor {
  /// Walks over `source`, each page in the parts it arrives in.
  package init(
    inParts source: some PartedPageSource<Item>, from start: Position = .start,
    limits: Limits = Limits(), clock: any Clock<Duration> = ContinuousClock(),
    audit: (@Sendable () -> WalkAudit)? = nil
  ) {
    self.init(start: start, limits: limits, clock: clock) { _ in
      PartReader(source: source, audit: audit?())
    }
  }
}
