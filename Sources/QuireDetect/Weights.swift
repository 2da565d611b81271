/// What each observation is worth when descriptions are compared, in bits: finding what one preset in
/// `n` looks for is worth log2(n). All numbers of the detector are here; `DetectorTableTests` measures a
/// change.
enum Weights {
  // MARK: What a description finds

  /// What a trait's rarity counts for, by what it tells: what leads on, ends or holds items in full, what
  /// counts a little less, and what only goes along with paging little.
  static func share(of role: DescriptionTrait.Role) -> Double {
    switch role {
    case .items, .next, .flag: 1
    case .total, .pages: 0.9
    case .echo, .mark, .parameter, .constant: 0.6
    case .size: 0.4
    }
  }
  /// A trait that no preset has is as rare as one in eight: our ignorance is no rarity of the answer's.
  static let unknownTrait = 3.0
  /// A wildcard fits nearly any page, so that most of its rarity says nothing.
  static let wildcard = 0.3
  /// A place that is there and empty was meant, and only on this page has nothing.
  static let blank = 0.5
  /// A continuation that is there is the point of the description.
  static let foundNext = 2.0
  /// Most items have an id: that one could lead on says next to nothing, and is a guess.
  static let lastItem = (share: 0.15, bonus: -1.0)
  /// The description's own word for the end is as good as a continuation.
  static let toldEnd = 4.0
  /// The page repeats its start by the very name that is sent, or by another.
  static let echo = (sameName: 4.0, otherName: 1.5)
  /// A counter that goes with the request's page size or the answer's format is better than a generic
  /// preset's, which goes with anything.
  static let besideSize = composed + generic + 0.5
  /// A request found in the page is to be sent as one, and is no link or token.
  static let describedRequest = 3.0
  /// Where several fit alike, the generic name claims least.
  static let generic = 0.25

  // MARK: What it does not find

  /// What a description expects and the answer lacks, by its role.
  static func absence(of role: DescriptionTrait.Role) -> Double {
    switch role {
    case .flag: 2
    case .total, .pages, .items, .constant: 1
    case .echo: 0.5
    case .next, .mark, .parameter, .size: 0
    }
  }
  /// One of several routes that is not there.
  static let absentAlternative = 0.5
  /// No continuation: nearly fatal where the page declares more items, likely the last page elsewhere.
  static let noNext = (saysMore: 9.0, maybeLast: 3.0)
  /// No items, while the page has a list elsewhere.
  static let misplaced = 6.0

  // MARK: What it leaves unsaid or misunderstands

  /// A sign of paging that is not accounted for, by how clearly it speaks.
  static func unexplained(_ kind: DetectorSign.Kind, isBlank: Bool) -> Double {
    switch kind {
    case .link: 4
    case .field: 3
    case .token: isBlank ? 1 : 2.5
    case .flag: 2
    case .pages: 1.5
    case .total: 1
    }
  }
  /// Servers like to say one thing in several ways: the other ways weigh less.
  static let saidTwice = 0.8
  /// Counting, where the page has something that leads on, or repeats the other counter.
  static let countsBeside = 2.0
  /// A link sent as a token, a token or a number followed as a link.
  static let misunderstanding = 6.0
  /// A link is followed without the body that the request had.
  static let dropsBody = 1.5
  /// A token goes to the query of a request that says all else in its body.
  static let queryBesideBody = 3.0

  // MARK: Between descriptions

  /// A preset knows limits, failures and ends that cannot be read off an answer.
  static let composed = 4.0
  /// A preset found at another place than its own, where its place is the caller's and where it is not.
  static let elsewhere = (caller: 0.5, own: 5.0)
  /// What the caller has put into the request goes first, however little else speaks for it.
  static let asked = 10.0
  /// A preset names what was put together if it explains nearly as much.
  static let naming = 3.0
  /// A rival that sends the same token elsewhere, or goes on where a link is refused, may be as right with
  /// fewer signs.
  static let rival = 6.0
  /// Names that mean the same are listed as long as they are not far behind.
  static let alternative = 8.0

  // MARK: Thresholds

  /// Below it a description cannot be meant.
  static let least = -4.0
  /// From it on a description without items is looked at.
  static let withoutItems = 3.0
  /// Above it, and no more than `lead` behind the best, a description is possible.
  static let possible = (score: 0.5, lead: -1.0)
  /// From it on, and so far before all others, it is likely: a rare continuation, or two usual traits.
  static let likely = (score: 6.5, lead: 2.5)
  /// Items that at most one preset in 32 has are distinct.
  static let distinct = 5.0

  // MARK: Which list holds the items

  /// What speaks for a list: items up to eight, objects in it, a name that presets know; and against it:
  /// depth, and a name that stands beside items.
  static let list = (item: 0.3, objects: 2.0, known: 1.5, depth: 0.5, beside: 6.0)
}
