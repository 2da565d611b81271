import QuireCore

/// How well one description fits an answer.
struct DetectorFit {
  /// Where the description leads from the answer.
  enum Outcome: Hashable {
    case next(PageRequest)
    case end
    /// The way on cannot be gone: what is wrong with it.
    case refused(String)
    /// The answer is no page.
    case failure
  }

  var preset: PaginationPreset?
  var pagination: Pagination
  /// The names of the path that the preset's own place was replaced by.
  var place: PagePath?
  var score = 0.0
  var outcome = Outcome.end
  var itemCount = 0
  /// Whether the answer itself says how it goes on or ends, so that nothing is guessed.
  var isFounded = false
  /// Whether its items are where hardly any other description looks.
  var isDistinct = false
  /// Whether it has no items, while the page has a list that it does not look at.
  var isMisplaced = false
  /// Whether it expects the page to say how it goes on, and the page does not.
  var leadsNowhere = false
  /// Whether the page says by itself that it goes on or is the last, in a way that it expects.
  var isToldEnd = false
  /// Whether it goes on by what the request has already.
  var isAsked = false
  /// What speaks for it.
  var evidence: [String] = []
  /// What speaks against it.
  var doubts: [String] = []

  /// What two descriptions share that do the same with this answer.
  var behaviour: Behaviour { Behaviour(outcome: outcome, itemCount: itemCount) }

  struct Behaviour: Hashable {
    var outcome: Outcome
    var itemCount: Int
  }
}
