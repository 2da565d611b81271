/// The weights of observations in bits: finding a trait that one preset in `n` has is worth
/// log2(n). All numbers of the detector are here; `DetectorTableTests` measures a change.
enum Weights {
  // MARK: Traits that are found

  /// Returns the share of a trait's information that counts: all for a continuation, an end or
  /// items, a little less for a count, and little for a trait that only accompanies paging.
  static func share(of role: DescriptionTrait.Role) -> Double {
    switch role {
    case .items, .next, .flag: 1
    case .total, .pages: 0.9
    case .echo, .mark, .parameter, .constant: 0.6
    case .size: 0.4
    }
  }
  /// A trait that no preset has counts as one in eight: being unknown does not make it rare.
  static let unknownTrait = 3.0
  /// A wildcard fits nearly any page, so most of its information says nothing.
  static let wildcard = 0.3
  /// A place that exists and is empty supports the description half as much.
  static let blank = 0.5
  /// The continuation is the point of a description.
  static let foundNext = 2.0
  /// Most items have an identifier, so its use as a continuation is a guess.
  static let lastItem = (share: 0.15, bonus: -1.0)
  /// An explicit end is as good as a continuation.
  static let toldEnd = 4.0
  /// The page repeats its start by the name of the parameter, or by another.
  static let echo = (sameName: 4.0, otherName: 1.5)
  /// A counter that goes with the request's page size or the answer's format outweighs one of a
  /// generic preset, which goes with anything.
  static let besideSize = composed + generic + 0.5
  /// A request described in the page has to be sent as one, not as a link or token.
  static let describedRequest = 3.0
  /// Makes a generic preset win over equal fits, because it claims least.
  static let generic = 0.25

  // MARK: Traits that are absent

  /// Returns the penalty for a trait that the answer lacks.
  static func absence(of role: DescriptionTrait.Role) -> Double {
    switch role {
    case .flag: 2
    case .total, .pages, .items, .constant: 1
    case .echo: 0.5
    case .next, .mark, .parameter, .size: 0
    }
  }
  /// The link by which a later walk starts is missing: more than what a plain preset loses by a
  /// total that the page leaves out.
  static let absentResumption = 2.0
  /// One of several routes is missing.
  static let absentAlternative = 0.5
  /// No continuation: nearly fatal if the page declares more items; otherwise this is likely the
  /// last page.
  static let noNext = (saysMore: 9.0, maybeLast: 3.0)
  /// A counter that nothing in the answer could end: nearly fatal, because another description
  /// counts in the same way and ends.
  static let noEnd = 6.0
  /// No items, although the page has a list elsewhere or declares items.
  static let misplaced = 6.0

  // MARK: Signs that are unexplained or misread

  /// Returns the penalty for an unexplained sign of paging, by how clear the sign is.
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
  /// Servers often say one thing in several ways: the repetitions weigh less.
  static let saidTwice = 0.8
  /// Counting, although the page has a continuation or repeats the other counter.
  static let countsBeside = 2.0
  /// A link sent as a token, or a token or number followed as a link.
  static let misunderstanding = 6.0
  /// A link followed without the body of the request.
  static let dropsBody = 1.5
  /// A token sent in the query of a request that has a body.
  static let queryBesideBody = 3.0

  // MARK: Between descriptions

  /// The penalty for a composed description: a preset knows limits, failures and ends that an
  /// answer does not show.
  static let composed = 4.0
  /// The penalty for a preset with items at a path taken from the answer: small if the caller has
  /// to give the path (`caller`), large if the preset has a path of its own (`own`).
  static let elsewhere = (caller: 0.5, own: 5.0)
  /// Parameters that the caller put into the request come first, regardless of other evidence.
  static let ownParameter = 10.0
  /// The difference in score up to which a preset that explains less still names a composed
  /// description.
  static let naming = 3.0
  /// A rival that sends the same token elsewhere, or continues where a link is refused, may be
  /// right with fewer signs.
  static let rival = 6.0
  /// Equivalent presets are listed unless they are further behind.
  static let alternative = 8.0

  // MARK: Thresholds

  /// Below this score a description cannot apply.
  static let least = -4.0
  /// From this score on a description without items counts.
  static let withoutItems = 3.0
  /// Above this score, and at most `-lead` behind the best one, a description is possible.
  static let possible = (score: 0.5, lead: -1.0)
  /// From this score and this lead on a description is likely: a rare continuation, or two common
  /// traits.
  static let likely = (score: 6.5, lead: 2.5)
  /// A trait that at most one preset in 32 has is distinctive.
  static let distinct = 5.0

  // MARK: Which list holds the items

  /// A list scores by its items (up to eight), objects in it and a name known from presets, and
  /// loses by depth and by a name that usually accompanies items.
  static let list = (item: 0.3, objects: 2.0, known: 1.5, depth: 0.5, beside: 6.0)
}
