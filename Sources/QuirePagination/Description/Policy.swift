import QuireCore

extension Pagination {
  /// Failures, links, sessions and pacing of a listing.
  public struct Policy: Hashable, Sendable {
    /// Rules for answers that are failures under any status; the first rule that matches decides.
    public var failure: [FailureRule]
    /// The links to follow. Default: to the same origin.
    public var links: LinkPolicy
    /// The source of the base URL for relative links in a page, such as OData's context URL; it may
    /// itself be relative to the page's address. Links of the Link header are always relative to
    /// that address. Default nil, also used if the source is missing: `xml:base`, or else the
    /// page's address.
    public var linkBase: ValueSource?
    /// Whether the cursor is the handle of a session at the server, which may be the same on every
    /// page. Default false: an unchanged cursor is a loop.
    public var handle: Bool
    /// A request before the first page, for example to open a point in time.
    /// `Pagination.RequestRule.carry` reads its answer. Default nil: none.
    public var open: SideRequest?
    /// A request after the walk, however it ended, to free resources of the server: made once, for
    /// at most 5 seconds. Default nil: none.
    public var close: SideRequest?
    /// What to do when the cursor has expired. Default: throw.
    public var expiry: ExpiryRule
    /// How fast to request pages. Default: as fast as they are consumed.
    public var pacing: Pacing
    /// How many items at the end of a page the next page repeats. As many more are requested, and
    /// they are delivered with the next page. Default 0.
    public var overlap: Int
    /// Whether the items of a page are delivered in reverse order, for listings that are walked
    /// from their end. Default false.
    public var reversesItems: Bool
    /// The meaning of an empty cursor. Default: the end.
    public var emptyCursor: EmptyCursor

    /// Members that every page has, to recognize a page whose optional items, continuation and
    /// total are all missing. Default: none, and such an answer throws `shape`.
    public var marks: [PagePath]

    /// The meaning of an empty cursor.
    public enum EmptyCursor: String, Hashable, Sendable, CaseIterable {
      /// The end, as with most servers. If a flag or a total says that more follows, the walk
      /// throws `inconsistentTermination` after the page.
      case end
      /// A cursor like any other, which is sent; only null or a missing cursor is the end. An empty
      /// XML element is an empty text.
      case value
    }

    /// A pattern for path segments of the first URL that contain a secret: `bot{secret}` matches
    /// those that begin with "bot", and hides the rest in every output. Default nil: none.
    public var secretSegment: String?

    /// Creates a policy; every parameter has the default of its property.
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
      .optional("linkBase", \.linkBase, "the source of the base URL for relative links"),
      .optional(
        "handle", \.handle, example: "true", "the cursor is a session handle and may stay the same"),
      .optional("open", \.open, "a request before the first page"),
      .optional("close", \.close, "a request after the walk"),
      .optional("expiry", \.expiry, "what to do when the cursor has expired"),
      .optional("pacing", \.pacing, "how fast to request pages"),
      .optional(
        "overlap", \.overlap, example: "1", "the number of items that the next page repeats"),
      .optional(
        "reversesItems", \.reversesItems, example: "true",
        "items are delivered from last to first"),
      .optional(
        "emptyCursor", \.emptyCursor, example: "\"value\"",
        "an empty cursor is a cursor; default `\"end\"`"),
      .optional(
        "marks", \.marks, example: "[\"/kind\"]",
        "members that every page has, to recognize one without items, continuation and total"
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
  /// How fast a walk may request pages, besides the limits that the server's answers impose.
  public struct Pacing: Hashable, Sendable {
    /// The least number of seconds between two requests of a listing. Default 0.
    public var interval: Double
    /// The source of the number of seconds to wait before the next page. If that is longer than
    /// `RetryPolicy.maximumRetryAfter`, the next page throws `throttled` at once, and can be
    /// requested later. Default nil: none.
    public var backoff: ValueSource?
    /// Whether a page may be requested before the previous one is consumed. Set it to false if
    /// requesting a page acknowledges the previous one, which the server then forgets. Default
    /// true.
    public var readsAhead: Bool

    /// Creates a pace; by default without any limit.
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
        "the source of the seconds to wait, at most `maximumRetryAfter`"),
      .optional(
        "readsAhead", \.readsAhead, example: "false",
        "no page is requested before the previous one is consumed"),
    ],
    check: { pacing, _ in
      (0...86_400).contains(pacing.interval)
        ? nil : "The pacing's \"interval\" is a number of seconds up to a day."
    })
}

extension Pagination {
  /// What a walk does when its cursor has expired or the server's result window ends.
  ///
  /// Except for `fail`, the first page after the recovery has `HTTPPageInfo.recovery`. A walk
  /// recovers at most three times, and then throws.
  public enum ExpiryRule: Hashable, Sendable {
    /// Throws `cursorExpired` or `resultWindowExceeded` with the checkpoint. The default.
    case fail
    /// Restarts the listing: all items are delivered again.
    case restart
    /// Repeats `Pagination.Policy.open` and continues with the same cursor, for cursors that are
    /// keys.
    case reopen
    /// Continues with the cursor in the failing answer, which may skip or repeat what changed
    /// meanwhile.
    case resume(ValueSource)
    /// Restarts after the last item: its value at `from` is sent to the placement. Items with the
    /// same value are skipped or repeated, depending on whether the parameter is exclusive.
    case reanchor(Placement, from: PagePath)
  }
}

extension Pagination.ExpiryRule: Block {
  package static let name = "expiry"

  package static let grammar = Form<Pagination.ExpiryRule>.oneOf(
    "An expiry rule",
    [
      .word("fail", .fail, "an error, with the checkpoint; the default"),
      .word("restart", .restart, "the listing restarts: all items are delivered again"),
      .word(
        "reopen", .reopen, "`open` is requested again, and the walk continues with the same cursor"),
      .key(
        "resume", Pagination.ExpiryRule.resume,
        { if case .resume(let source) = $0 { source } else { nil } },
        "the walk continues with the cursor in the failing answer"),
      .keys(
        (placement: Pagination.Placement.url, path: PagePath("")),
        [.required("reanchor", \.placement), .required("from", \.path)],
        { .reanchor($0.placement, from: $0.path) },
        { if case .reanchor(let placement, let path) = $0 { (placement, path) } else { nil } },
        "the listing restarts after the last item, whose value is sent to the placement"),
    ])
}
