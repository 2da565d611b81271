/// What a walk remembers of the pages before, to find that a listing loops or sends the
/// same items again: its own visits, and the trail in its positions, which outlives it.
struct WalkMemory: Sendable {
  /// The result of comparing a page with the pages before it.
  enum Comparison: Hashable {
    /// A new page, whose first `overlap` items are the last ones of the page before.
    case new(overlap: Int)
    /// The page at which an earlier attempt or walk stopped.
    case refusedBefore
    /// A repetition of the page delivered `distance` pages ago, except for the members named.
    case repeated(distance: Int, changed: [String])
  }

  /// A loop that leads back to a page that came before. Its length, in pages, is nil if it is unknown.
  struct Loop: Hashable {
    var length: Int?
  }

  /// The places of this walk; nil if places may repeat.
  private var loops: LoopGuard?
  /// What the position of the page that comes next remembers of the pages before it.
  private var trail: Trail?
  /// Whether pages are noted in the trail. A walk backward comes to the pages that led to its start.
  private let leavesTrail: Bool
  /// Whether the place in the trail was remembered by an earlier walk, so that `loops` does not know
  /// it.
  private var hasEarlierPlace = false
  private let comparedPages: Int
  private var recent: RecentPages
  private let digest: @Sendable (Position) -> UInt64

  /// Creates the memory of a walk that begins at `start`, and in which `loops` watches the places;
  /// nil if these may repeat.
  init(
    start: Position, visited: [Position], comparedPages: Int, loops: LoopGuard?,
    direction: Position.Direction, digest: @escaping @Sendable (Position) -> UInt64
  ) {
    self.comparedPages = comparedPages
    recent = RecentPages(capacity: comparedPages)
    self.digest = digest
    leavesTrail = direction == .forward
    if leavesTrail {
      trail = start.trail
      hasEarlierPlace = loops != nil && start.trail?.place != nil
    }
    self.loops = loops
    self.loops?.begin(at: start, after: visited, direction)
  }

  /// The number of pages in a row that looked like an earlier one.
  var alikePages: Int { recent.alike }

  /// Compares a page that was read with the pages before it, and remembers it unless it repeats one.
  mutating func compare<Item>(_ page: Page<Item>) -> Comparison {
    if let trail, comparedPages > 0,
      trail.refuses(page.head.fingerprint, identity: { page.metadata.itemsIdentity })
    {
      return .refusedBefore
    }
    let earlier = page.head.fingerprint.flatMap { trail?.distance(toContent: $0) }
    switch recent.compareAndRemember(page.head.fingerprint, page.head.sample, earlier: earlier) {
    case .new(let overlap): return .new(overlap: overlap)
    case .repeated(let distance, let changed):
      return .repeated(distance: distance, changed: changed)
    }
  }

  /// Notes that the page that comes next is refused.
  mutating func refuse(_ page: Trail.Refusal) {
    if leavesTrail { trail = (trail ?? Trail()).refusing(page) }
  }

  /// Notes another identity of the first page of the listing.
  mutating func noteFirst(_ identity: Int) { loops?.noteFirst(identity) }

  /// Notes a page that is delivered, unless its rest comes next, and marks the position after it.
  /// `filledPages` is the number of pages with items so far.
  mutating func passed<Item>(_ page: inout Page<Item>, filledPages: Int?) {
    guard leavesTrail, let next = page.next else { return }
    let isInside = next.itemOffset > 0 && next.value == page.position.value
    if !page.hasMoreParts, !isInside {
      if loops != nil, trail?.place?.isDue ?? true { hasEarlierPlace = false }
      let before = trail ?? Trail()
      var declared = page.head.beginsAnew ? Trail.Declared() : before.declared
      declared.note(page.total)
      declared.filledPages = filledPages
      trail = before.passing(
        remembersPlaces: loops != nil, place: { digest(page.position.page) },
        content: page.head.fingerprint, within: comparedPages, declared: declared,
        form: page.head.form)
    }
    page.next?.trail = trail
  }

  /// Gives a position the trail of the pages that led to it.
  func mark(_ position: inout Position) {
    if leavesTrail { position.trail = trail }
  }

  /// Returns the loop that a position closes, and notes it in the trail, so that a walk that goes
  /// on from there does not go round once more; nil for a new place. `pages` pages came before it.
  mutating func loop(at position: Position, after pages: Int) -> Loop? {
    if let length = loops?.visit(position) { return returning(to: position, after: length, length) }
    if loops?.leadsToFirst(position) == true {
      return returning(to: position, after: max(2, pages), nil)
    }
    guard hasEarlierPlace, let place = trail?.place, place.digest == digest(position.page)
    else { return nil }
    return Loop(length: place.steps + 1)
  }

  private mutating func returning(
    to position: Position, after steps: Int, _ length: Int?
  ) -> Loop {
    if leavesTrail {
      trail = (trail ?? Trail()).returning(to: digest(position.page), after: steps)
    }
    return Loop(length: length)
  }
}
