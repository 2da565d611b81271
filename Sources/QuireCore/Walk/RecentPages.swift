/// What is known of the pages delivered last, by which a page is known again.
struct RecentPages: Sendable {
  /// What a page turns out to be.
  enum Meeting: Hashable {
    /// Another one, that begins with so many items with which the page before ended.
    case new(overlap: Int)
    /// It was there `distance` pages ago, but for the members named.
    case repeated(distance: Int, changed: [String])
  }

  private struct Known: Sendable {
    var fingerprint: Int?
    var sample: PageSample?
    /// What the first item is known by.
    var identity: PageSample.Value?
  }

  /// How many pages in a row may look like one before them where that may be right.
  static let mostAlike = 1000
  /// The same where the items have an identity of their own, which is the same, too.
  static let mostAlikeIdentified = 100

  private let capacity: Int
  /// The oldest first.
  private var pages: [Known] = []
  private var roles = MemberRoles()
  /// How many pages in a row looked like one before them.
  private var alike = 0
  /// The most items that a page had.
  private var largest = 0

  /// Remembers `capacity` pages.
  init(capacity: Int) { self.capacity = capacity }

  /// Takes note of a page, unless it is one that was there.
  mutating func meet(_ fingerprint: Int?, _ sample: PageSample?) -> Meeting {
    guard capacity > 0, fingerprint != nil || sample != nil else { return .new(overlap: 0) }
    let page = Known(
      fingerprint: fingerprint, sample: sample, identity: sample?.identity(&roles))
    largest = max(largest, sample?.count ?? 0)
    var likeness: (distance: Int, changed: [String])?
    for index in pages.indices.reversed() {
      // Pages without samples are told apart here, where nothing is copied.
      if sample == nil, pages[index].fingerprint != fingerprint { continue }
      let distance = pages.count - index
      switch compare(pages[index], page) {
      case .different: continue
      case .repeated(let changed): return .repeated(distance: distance, changed: changed)
      case .alike(let changed): likeness = likeness ?? (distance, changed)
      }
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

  /// How many items at the beginning of a page are those at the end of the one before. Only a server that counts
  /// sends them twice by mistake: behind a cursor they are where it says.
  private func overlap(of page: Known) -> Int {
    guard let sample = page.sample, let earlier = pages.last?.sample else { return 0 }
    return earlier.edges.overlap(with: sample.edges, isIdentified: page.identity != nil)
  }

  private mutating func compare(_ known: Known, _ page: Known) -> PageLikeness.Verdict {
    if let fingerprint = page.fingerprint, fingerprint == known.fingerprint {
      return mayBeMeant(page) ? .alike(changed: []) : .repeated(changed: [])
    }
    guard let old = known.sample, let new = page.sample else { return .different }
    // By this most pages are told apart at once.
    if let first = known.identity, let identity = page.identity, first.member == identity.member,
      first.value != identity.value
    {
      return .different
    }
    return PageLikeness(old, new, roles: &roles)?.verdict ?? .different
  }

  /// Whether a page that is the same as one before it may be another one all the same: a full one, asked
  /// for by count, whose items do not differ from one another and have no identity.
  private func mayBeMeant(_ page: Known) -> Bool {
    guard let sample = page.sample, sample.isCounted, sample.count >= largest else { return false }
    return page.identity == nil && sample.isUniform
  }
}
