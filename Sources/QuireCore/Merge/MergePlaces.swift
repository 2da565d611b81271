/// The places of a merge in its sources, and the digests of the items delivered last.
///
/// Written as `{"merged": [[entry, …], …], "recent": ["…"]}`. An entry is null for a source that
/// was not begun, true for one that has ended, else `[itemOffset]` or `[itemOffset, value]`. The
/// entries come in groups, so that all positions of a walk share the groups that did not change. A
/// position that reads one source alone, such as the anchor of an item, is written as `{"only":
/// {"source": 3, "of": 12, "at": entry}}`.
struct MergePositions: Sendable {
  private static let groupSize = 32

  let sources: Int
  /// The listing that the positions belong to.
  var listing: ListingIdentity?
  private var groups: [JSONValue]
  /// The digests of the items delivered last.
  var recent: DuplicateWindow

  /// Creates the places at the start of every source.
  init(sources: Int, window: Int, listing: ListingIdentity?) {
    self.sources = sources
    self.listing = listing
    recent = DuplicateWindow(limit: window)
    groups = stride(from: 0, to: sources, by: Self.groupSize).map {
      .array(Array(repeating: .null, count: min(Self.groupSize, sources - $0)))
    }
  }

  /// Reads a position.
  ///
  /// Throws `positionMismatch` if it was not made by a merge of as many sources.
  init(
    _ position: Position, sources: Int, window: Int, listing: ListingIdentity?
  ) throws(PageError) {
    self.init(sources: sources, window: window, listing: listing)
    guard position.itemOffset == 0 else { throw Self.mismatch }
    guard let value = position.value else { return }
    if let only = value["only"] {
      guard only["of"]?.integer == sources, let source = only["source"]?.integer,
        0..<sources ~= source
      else { throw Self.mismatch }
      for other in 0..<sources where other != source { set(other, to: .bool(true)) }
      set(source, to: only["at"] ?? .null)
      guard place(of: source) != nil else { throw Self.mismatch }
      return
    }
    guard case .array(let read)? = value["merged"], read.map(\.count) == groups.map(\.count)
    else { throw Self.mismatch }
    groups = read
    for source in 0..<sources where place(of: source) == nil { throw Self.mismatch }
    guard case .array(let chunks)? = value["recent"] ?? .array([]),
      recent.restore(chunks)
    else { throw Self.mismatch }
  }

  private static let mismatch = PageError(
    .positionMismatch,
    """
    The position does not belong to a merge of these sources: it is of another listing, or of a merge \
    of more or fewer sources. Resume with the sources that made it, in their order.
    """, remedies: [Remedy(.position, ["start"])], attempts: 0)

  /// The place of a merge in one source.
  enum Place: Hashable {
    case start
    case within(Position)
    case end
  }

  /// Returns the place in a source; nil if its entry is malformed.
  func place(of source: Int) -> Place? {
    switch entry(of: source) {
    case .null: return .start
    case .bool(true): return .end
    case .array(let parts):
      guard let offset = parts.first?.integer, offset >= 0, parts.count <= 2 else { return nil }
      return .within(Position(parts.count > 1 ? parts[1] : nil, itemOffset: offset))
    default: return nil
    }
  }

  private func entry(of source: Int) -> JSONValue {
    guard case .array(let entries) = groups[source / Self.groupSize] else { return .null }
    return entries[source % Self.groupSize]
  }

  /// Moves the merge to `place` in a source; nil is the source's end.
  mutating func move(_ source: Int, to place: Position?) {
    set(source, to: place.map(Self.entry) ?? .bool(true))
  }

  /// Moves the merge behind the items of these steps. Returns the digests that are dropped for
  /// theirs.
  mutating func move(behind steps: some Collection<MergePlaces.Step>) -> [UInt64] {
    // Only the last place in each source is written.
    var latest: [Int: Position?] = [:]
    for step in steps { latest[step.source] = .some(step.after) }
    for (source, place) in latest { move(source, to: place) }
    return recent.append(steps.compactMap { $0.digest })
  }

  private static func entry(for place: Position) -> JSONValue {
    .array([.number(String(place.itemOffset))] + (place.value.map { [$0] } ?? []))
  }

  private mutating func set(_ source: Int, to entry: JSONValue) {
    let group = source / Self.groupSize
    guard case .array(var entries) = groups[group] else { return }
    groups[group] = .null
    entries[source % Self.groupSize] = entry
    groups[group] = .array(entries)
  }

  /// Returns the position from which one source is read alone, from `place` on.
  func position(ofOnly source: Int, at place: Position) -> Position {
    let only = JSONValue.object([
      .init("source", .number(String(source))), .init("of", .number(String(sources))),
      .init("at", Self.entry(for: place)),
    ])
    var position = Position(.object([.init("only", only)]))
    position.listing = listing
    return position
  }

  /// All places as one position.
  var position: Position {
    var members = [JSONValue.Member("merged", .array(groups))]
    if !recent.isEmpty { members.append(.init("recent", recent.value)) }
    var position = Position(.object(members))
    position.listing = listing
    return position
  }
}

extension JSONValue {
  /// The number of elements of an array; nil for every other kind.
  fileprivate var count: Int? {
    guard case .array(let elements) = self else { return nil }
    return elements.count
  }
}

/// The positions inside a merged page, computed from the places to which each item moved the merge.
struct MergePlaces: Sendable {
  /// An item that was taken from a source, delivered or not.
  struct Step: Sendable {
    var source: Int
    /// Where the source has the item as its first. The position behind the item before may have
    /// another one first, as in a listing of listings.
    var place: Position
    /// The position at which the source continues behind it; nil at its end.
    var after: Position?
    /// The item's digest; nil if it was not delivered, or if items are not compared.
    var digest: UInt64?
  }

  let base: MergePositions
  let steps: [Step]
  /// The number of steps in front of each delivered item.
  let starts: [Int]

  /// Returns the position of the item at `index` or, behind the last one, where the merge
  /// continues.
  func position(ofItem index: Int) -> Position {
    var positions = base
    let count = index < starts.count ? starts[index] : steps.count
    _ = positions.move(behind: steps.prefix(count))
    return positions.position
  }

  /// Returns the position at which the item at `index` comes first: in its source alone, because
  /// another source may answer sooner the next time.
  func anchor(ofItem index: Int) -> Position? {
    guard index < starts.count else { return nil }
    let step = steps[starts[index]]
    return base.position(ofOnly: step.source, at: step.place)
  }
}
