/// Where a page starts: an opaque, lossless, small value that outlives the process.
///
/// A page source writes whatever it needs into `value` (a token, an offset, a link) and gets it
/// back unchanged. Store a position as JSON and a new process goes on at exactly the next page, or,
/// with `itemOffset`, at exactly the next item.
///
/// A position also knows which listing made it, where the source can tell listings apart, as those
/// over HTTP can. A walk over another listing refuses it with `PageError.Code.positionMismatch`,
/// which names what differs; see `unchecked`. Two positions are equal when `value` and `itemOffset`
/// are.
public struct Position: Sendable {
  /// What the source needs to find the page; nil is the start of the listing.
  public var value: JSONValue?

  /// How many items at the front of the page were already handed out. Default 0.
  public var itemOffset: Int

  /// The listing that made the position; nil where it was made by hand, or by a source that cannot
  /// tell listings apart.
  package var listing: ListingIdentity?

  /// A position at the page that `value` leads to, `itemOffset` items in.
  public init(_ value: JSONValue?, itemOffset: Int = 0) {
    self.value = value
    self.itemOffset = itemOffset
  }

  /// The start of every listing.
  public static let start = Position(nil)

  /// The page this position lies in, without the offset inside it.
  public var page: Position { at(itemOffset: 0) }

  /// The same place for whatever listing is walked: nothing is compared with the listing that made the
  /// position.
  ///
  /// For positions that were written by hand, stored by an earlier version, or made by a listing that
  /// differs from this one in nothing that matters. Where it does matter, items are lost or come
  /// twice.
  public var unchecked: Position { Position(value, itemOffset: itemOffset) }

  /// The same page, so many items in.
  package func at(itemOffset: Int) -> Position {
    var position = self
    position.itemOffset = itemOffset
    return position
  }

  /// The position as it is once its walk is over, and has closed what it held at the server.
  package var afterWalk: Position {
    guard self != .start, let listing else { return self }
    var position = self
    position.listing = listing.over
    return position
  }

  /// Whether the walk is over that alone could go on from here.
  package var isOver: Bool { listing?.isOver ?? false }
}

extension Position: Hashable {
  /// Whether both are the same place, whatever made them.
  public static func == (left: Position, right: Position) -> Bool {
    left.itemOffset == right.itemOffset && left.value == right.value
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(value)
    hasher.combine(itemOffset)
  }
}

extension Position: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  /// A position that is a text.
  public init(stringLiteral value: String) { self.init(.string(value)) }
  /// A position that is a whole number.
  public init(integerLiteral value: Int) { self.init(.number(String(value))) }
}
