/// Where a merge stands in each of its sources, and which items it delivered last.
///
/// Written as `{"merged": [[entry, …], …], "recent": ["…"]}`. An entry is null for a source that was not
/// begun, true for one that has ended, else `[itemOffset]` or `[itemOffset, value]`. The entries come in
/// groups, so that all positions of a walk share those that did not change. Where only one source is to be read,
/// as at the anchor of an item, it is `{"only": {"source": 3, "of": 12, "at": entry}}`.
struct MergePositions: Sendable {
  private static let groupSize = 32

  let sources: Int
  /// The listing that the positions belong to.
  var listing: ListingIdentity?
  private var groups: [JSONValue]
  /// What was delivered last.
  var recent: DuplicateWindow

  /// The start of every source.
  init(sources: Int, window: Int, listing: ListingIdentity?) {
    self.sources = sources
    self.listing = listing
    recent = DuplicateWindow(limit: window)
    groups = stride(from: 0, to: sources, by: Self.groupSize).map {
      .array(Array(repeating: .null, count: min(Self.groupSize, sources - $0)))
    }
  }

  /// What a position says.
  ///
  /// Throws `positionMismatch` where it is none of a merge of as many sources.
  init(
    _ position: Position, sources: Int, window: Int, listing: ListingIdentity?
  ) throws(PageError) {
    self.init(sources: sources, window: window, listing: listing)
    guard position.value != nil else {
      guard position.itemOffset == 0 else { throw Self.mismatch }
      return
    }
    guard position.itemOffset == 0 else { throw Self.mismatch }
    if let only = position.value?["only"] {
      guard only["of"]?.integer == sources, let source = only["source"]?.integer,
        0..<sources ~= source
      else { throw Self.mismatch }
      for other in 0..<sources where other != source { set(other, to: .bool(true)) }
      set(source, to: only["at"] ?? .null)
      guard place(of: source) != nil else { throw Self.mismatch }
      return
    }
    guard case .array(let read)? = position.value?["merged"] else { throw Self.mismatch }
    let sizes = groups.map(\.count)
    guard read.map(\.count) == sizes else { throw Self.mismatch }
    groups = read
    for source in 0..<sources where place(of: source) == nil { throw Self.mismatch }
    guard case .array(let chunks)? = position.value?["recent"] ?? .array([]),
      recent.restore(chunks)
    else { throw Self.mismatch }
  }

  private static let mismatch = PageError(
    .positionMismatch,
    """
    The position does not belong to a merge of these sources: it is of another listing, or of a merge \
    of more or fewer sources. Resume with the sources that made it, in their order.
    """, remedies: [Remedy(.position, ["start"])], attempts: 0)

  /// Where a merge stands in one source.
  enum Place: Hashable {
    case start
    case within(Position)
    case end
  }

  /// Where the merge stands in a source; nil where the entry says nothing that can be understood.
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

  /// The merge has come to `place` in a source; nil is its end.
  mutating func move(_ source: Int, to place: Position?) {
    set(source, to: place.map(Self.entry) ?? .bool(true))
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

  /// The position at which one source alone is read, from `place` on.
  func position(ofOnly source: Int, at place: Position) -> Position {
    let only = JSONValue.object([
      .init("source", .number(String(source))), .init("of", .number(String(sources))),
      .init("at", Self.entry(for: place)),
    ])
    var position = Position(.object([.init("only", only)]))
    position.listing = listing
    return position
  }

  /// All of it as one position.
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

/// The positions inside a merged page: how each of its items moved the merge on.
struct MergePlaces: Sendable {
  /// One item that was taken from a source, delivered or not.
  struct Step: Sendable {
    var source: Int
    /// Where the source has the item first. What the item before leads to may have another one first, as in a
    /// listing of listings.
    var place: Position
    /// Where the source goes on after it; nil at its end.
    var after: Position?
    /// By what the item is known again; nil where it was not delivered, or items are not compared.
    var digest: UInt64?
  }

  let base: MergePositions
  let steps: [Step]
  /// How many steps come before each item, and before what follows the last one.
  let starts: [Int]

  /// Where the item at `index` lies, or, behind the last one, where the merge goes on.
  func position(ofItem index: Int) -> Position {
    var positions = base
    let count = index < starts.count ? starts[index] : steps.count
    var latest: [Int: Position?] = [:]
    for step in steps.prefix(count) { latest[step.source] = .some(step.after) }
    for (source, place) in latest { positions.move(source, to: place) }
    _ = positions.recent.append(steps.prefix(count).compactMap { $0.digest })
    return positions.position
  }

  /// Where the item at `index` comes first: in its source alone, as another one may answer sooner the next time.
  func anchor(ofItem index: Int) -> Position? {
    guard index < starts.count else { return nil }
    let step = steps[starts[index]]
    return base.position(ofOnly: step.source, at: step.place)
  }
}
