/// What is remembered of the pages delivered last, to recognise a page that repeats one of them.
struct RecentPages: Sendable {
  /// The result of comparing a page with the pages before it.
  enum Comparison: Hashable {
    /// A new page, whose first `overlap` items are the last ones of the page before.
    case new(overlap: Int)
    /// A repetition of the page delivered `distance` pages ago, except for the members named.
    case repeated(distance: Int, changed: [String])
  }

  private struct Known: Sendable {
    var fingerprint: Int?
    var sample: PageSample?
    /// The member that identifies the first item.
    var identity: PageSample.Value?
  }

  /// How many pages in a row may look like an earlier one, where such pages may be right.
  static let mostAlike = 1000
  /// The same limit for items that have identities of their own, if those are equal, too.
  static let mostAlikeIdentified = 100

  private let capacity: Int
  /// The oldest page first.
  private var pages: [Known] = []
  private var roles = MemberRoles()
  /// The number of pages in a row that looked like an earlier one.
  private(set) var alike = 0
  /// The most items of a page.
  private var largest = 0

  /// Creates a memory of `capacity` pages.
  init(capacity: Int) { self.capacity = capacity }

  /// Compares a page with those remembered, and remembers it unless it repeats one of them. `earlier`
  /// is the number of pages since an earlier walk delivered the same items; nil if none did.
  mutating func compareAndRemember(
    _ fingerprint: Int?, _ sample: PageSample?, earlier: Int? = nil
  ) -> Comparison {
    guard capacity > 0, fingerprint != nil || sample != nil else { return .new(overlap: 0) }
    let page = Known(
      fingerprint: fingerprint, sample: sample, identity: sample?.identity(&roles))
    largest = max(largest, sample?.count ?? 0)
    var likeness: (distance: Int, changed: [String])?
    for index in pages.indices.reversed() {
      // Pages without samples are compared here, where nothing is copied.
      if sample == nil, pages[index].fingerprint != fingerprint { continue }
      let distance = pages.count - index
      switch compare(pages[index], page) {
      case .different: continue
      case .repeated(let changed): return .repeated(distance: distance, changed: changed)
      case .alike(let changed): likeness = likeness ?? (distance, changed)
      }
    }
    if let earlier, likeness == nil {
      guard mayRepeatLegitimately(page) else {
        return .repeated(distance: earlier, changed: [])
      }
      likeness = (earlier, [])
    }
    if let likeness {
      guard alike < (page.identity != nil ? Self.mostAlikeIdentified : Self.mostAlike) else {
        return .repeated(distance: likeness.distance, changed: likeness.changed)
      }
      alike += 1
    } else {
      alike = 0
    }
    let shared = sample?.isCounted == true ? overlap(of: page) : 0
    if pages.count == capacity { pages.removeFirst() }
    pages.append(page)
    return .new(overlap: shared)
  }

  /// Returns the number of items at the beginning of a page that are the last ones of the page
  /// before. Only a page requested by counting repeats items by mistake: with a cursor, the server
  /// says where the page begins.
  private func overlap(of page: Known) -> Int {
    guard let sample = page.sample, let earlier = pages.last?.sample else { return 0 }
    return earlier.edges.overlap(with: sample.edges, isIdentified: page.identity != nil)
  }

  private mutating func compare(_ known: Known, _ page: Known) -> PageLikeness.Verdict {
    if let fingerprint = page.fingerprint, fingerprint == known.fingerprint {
      return mayRepeatLegitimately(page) ? .alike(changed: []) : .repeated(changed: [])
    }
    guard let old = known.sample, let new = page.sample else { return .different }
    // Most pages differ in this already.
    if let first = known.identity, let identity = page.identity, first.member == identity.member,
      first.value != identity.value
    {
      return .different
    }
    let areKnownToDiffer = page.fingerprint != nil && known.fingerprint != nil
    return PageLikeness(old, new, areKnownToDiffer: areKnownToDiffer, roles: &roles)?.verdict
      ?? .different
  }

  /// Whether a page may be right although it equals an earlier one: a full page, requested by
  /// count, whose items all look the same and have no identity.
  private func mayRepeatLegitimately(_ page: Known) -> Bool {
    guard let sample = page.sample, sample.isCounted, sample.count >= largest else { return false }
    return page.identity == nil && sample.isUniform
  }
}
