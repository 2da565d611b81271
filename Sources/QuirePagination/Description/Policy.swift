import QuireCore

extension Pagination {
  /// What is a failure, which links are followed, and what an unchanged cursor means.
  public struct Policy: Hashable, Sendable {
    /// Answers that are failures whatever their status; the first rule that applies decides.
    public var failure: [FailureRule]
    /// Which next links are followed. Default: same origin.
    public var links: LinkPolicy
    /// Where a page says what its relative links start from, such as OData's context URL; that may be
    /// relative to the page's address. Links of the Link header start at that address always. Default
    /// nil, and where a page says nothing: at `xml:base`, else at the page's address.
    public var linkBase: ValueSource?
    /// Whether the cursor is the name of a session at the server, legally the same on every page.
    /// Default false: an unchanged cursor is a loop.
    public var handle: Bool
    /// What is requested before the first page, such as a point in time; `Pagination.RequestRule.carry` reads its
    /// answer. Default nil: nothing.
    public var open: SideRequest?
    /// What is requested when the walk is over, however it ended, to free what the server holds: once,
    /// and for 5 seconds at most. Default nil: nothing.
    public var close: SideRequest?
    /// What happens when the server no longer knows the cursor. Default: an error.
    public var expiry: ExpiryRule
    /// How fast the walk may ask. Default: as fast as pages are wanted.
    public var pacing: Pacing
    /// How many items at the end of a page come again at the start of the next one: as many more are
    /// asked for, and they are delivered with the page they begin. Default 0.
    public var overlap: Int
    /// Whether a page's items are delivered from its last to its first: for listings that are walked
    /// from their end. Default false.
    public var reversesItems: Bool
    /// What an empty text in the place of the cursor means. Default: the end.
    public var emptyCursor: EmptyCursor

    /// What shows that an answer is a page where it has nothing else: members that stand on every page,
    /// beside items that are `optional`. Default: none, and an answer without items, continuation or
    /// total is `shape`.
    public var marks: [PagePath]

    /// What an empty text in the place of a cursor means.
    public enum EmptyCursor: String, Hashable, Sendable, CaseIterable {
      /// No page follows, as with most servers. Where a flag or a total says that more follows all the
      /// same, the walk fails with `inconsistentTermination` behind the page.
      case end
      /// A cursor like any other, which is sent: only null, or none at all, is the end. In XML an empty
      /// element is an empty text.
      case value
    }

    /// Which segments of the first URL's path hold a secret, as `bot{secret}` does for those that begin
    /// with "bot": what stands for `{secret}` is shown nowhere. Default nil: none.
    public var secretSegment: String?

    /// A policy; by default no failures inside a 200, links to the same origin, no handle.
    public init(
      failure: [FailureRule] = [], links: LinkPolicy = .sameOrigin, linkBase: ValueSource? = nil,
      handle: Bool = false, open: SideRequest? = nil, close: SideRequest? = nil,
      expiry: ExpiryRule = .fail, pacing: Pacing = Pacing(), overlap: Int = 0,
      reversesItems: Bool = false, emptyCursor: EmptyCursor = .end, marks: [PagePath] = [],
      secretSegment: String? = nil
    ) {
      self.failure = failure
      self.links = links
      self.linkBase = linkBase
      self.handle = handle
      self.open = open
      self.close = close
      self.expiry = expiry
      self.pacing = pacing
      self.overlap = overlap
      self.reversesItems = reversesItems
      self.emptyCursor = emptyCursor
      self.marks = marks
      self.secretSegment = secretSegment
    }
  }
}

extension Pagination.Policy: Block {
  package static let name = "policy"

  package static let grammar = Form<Pagination.Policy>.object(
    "The policy", Pagination.Policy(),
    [
      .optional(
        "failure", \.failure, "answers that are failures; the first rule that applies decides"),
      .optional("links", \.links, "which next links are followed"),
      .optional("linkBase", \.linkBase, "where a page says what its relative links start from"),
      .optional("handle", \.handle, example: "true", "the cursor may stay the same"),
      .optional("open", \.open, "what is requested before the first page"),
      .optional("close", \.close, "what is requested after the last page"),
      .optional("expiry", \.expiry, "what becomes of a walk whose cursor the server forgot"),
      .optional("pacing", \.pacing, "how fast to ask"),
      .optional("overlap", \.overlap, example: "1", "items that come again with the next page"),
      .optional(
        "reversesItems", \.reversesItems, example: "true",
        "items are delivered from last to first"),
      .optional(
        "emptyCursor", \.emptyCursor, example: "\"value\"",
        "an empty text in the place of a cursor is a cursor; default `\"end\"`"),
      .optional(
        "marks", \.marks, example: "[\"/kind\"]",
        "paths that show a page to be one where its optional items, continuation and total are left out"
      ),
      .optional(
        "secretSegment", \.secretSegment, example: "\"bot{secret}\"",
        "which segments of the first URL's path hold a secret, where `{secret}` stands: it is shown "
          + "nowhere"),
    ],
    check: { policy, _ in
      do throws(PageError) {
        if let segment = policy.secretSegment { _ = try SecretSegment(segment) }
        return nil
      } catch {
        return error.message
      }
    })
}

extension Pagination.Policy.EmptyCursor: FormWord {}

extension Pagination {
  /// How fast a walk may ask, besides what throttling answers say.
  public struct Pacing: Hashable, Sendable {
    /// The least number of seconds between two requests of a listing. Default 0.
    public var interval: Double
    /// Where a page says how many seconds to wait before the next one. A wait that is longer than
    /// `RetryPolicy.maximumRetryAfter` is not begun: the next page throws `throttled`, and can be asked
    /// for later. Default nil: nowhere.
    public var backoff: ValueSource?
    /// Whether a page may be asked for before the one in front of it was consumed. False where the
    /// cursor acknowledges, and the server forgets what was asked past. Default true.
    public var readsAhead: Bool

    /// A pace; none of our own by default.
    public init(interval: Double = 0, backoff: ValueSource? = nil, readsAhead: Bool = true) {
      self.interval = interval
      self.backoff = backoff
      self.readsAhead = readsAhead
    }
  }
}

extension Pagination.Pacing: Block {
  package static let name = "pacing"

  package static let grammar = Form<Pagination.Pacing>.object(
    "The pacing", Pagination.Pacing(),
    [
      .optional(
        "interval", \.interval, example: "0.34", "the least number of seconds between two requests"),
      .optional(
        "backoff", \.backoff,
        "where a page says how many seconds to wait, no longer than `maximumRetryAfter`"),
      .optional(
        "readsAhead", \.readsAhead, example: "false",
        "no page is asked for before the one in front of it was consumed"),
    ],
    check: { pacing, _ in
      (0...86_400).contains(pacing.interval)
        ? nil : "The pacing's \"interval\" is a number of seconds up to a day."
    })
}

extension Pagination {
  /// What a walk does when the server no longer knows its cursor, or pages no further.
  ///
  /// Whatever is not `fail` shows: the first page behind the break carries `HTTPPageInfo.recovery`. A
  /// walk recovers three times at most, and then throws.
  public enum ExpiryRule: Hashable, Sendable {
    /// Throw `cursorExpired` or `resultWindowExceeded`, with the checkpoint. The default.
    case fail
    /// Begin the listing again: everything comes again.
    case restart
    /// Open again (`Pagination.Policy.open`) and go on by the same cursor: for cursors that are keys.
    case reopen
    /// Go on by the cursor in the failing answer, which may skip or repeat what changed meanwhile.
    case resume(ValueSource)
    /// Begin again behind the last item: its value at `from`, below the item, goes to the placement.
    /// Items with the same value are lost or repeated, as the parameter excludes or includes it.
    case reanchor(Placement, from: PagePath)
  }
}

extension Pagination.ExpiryRule: Block {
  package static let name = "expiry"

  package static let grammar = Form<Pagination.ExpiryRule>.oneOf(
    "An expiry rule",
    [
      .word("fail", .fail, "an error, with the checkpoint; the default"),
      .word("restart", .restart, "the listing begins again: everything comes again"),
      .word("reopen", .reopen, "`open` is requested again, and the same cursor goes on"),
      .key(
        "resume", Pagination.ExpiryRule.resume,
        { if case .resume(let source) = $0 { source } else { nil } },
        "the cursor in the failing answer goes on"),
      .keys(
        (placement: Pagination.Placement.url, path: PagePath("")),
        [.required("reanchor", \.placement), .required("from", \.path)],
        { .reanchor($0.placement, from: $0.path) },
        { if case .reanchor(let placement, let path) = $0 { (placement, path) } else { nil } },
        "the listing begins again behind the last item, whose value goes to the placement"),
    ])
}
