import QuireCore

/// What is a failure, which links are followed, and what an unchanged cursor means.
///
/// Encodes as `{"failure": [rules], "links": policy, "linkBase": value, "handle": true, "open":
/// request, "close": request, "expiry": rule, "pacing": {…}, "overlap": 1, "reversesItems": true,
/// "emptyCursor": "value", "marks": [paths], "secretSegment": "bot{secret}"}`, with
/// only what differs from the default.
public struct PagePolicy: Hashable, Sendable {
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
  /// What is requested before the first page, such as a point in time; `RequestRule.carry` reads its
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
  public enum EmptyCursor: String, Hashable, Codable, Sendable, CaseIterable {
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

extension PagePolicy: Codable {
  private static let names = [
    "failure", "links", "linkBase", "handle", "open", "close", "expiry", "pacing", "overlap",
    "reversesItems", "emptyCursor", "marks", "secretSegment",
  ]

  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(decoder, "The policy", names: Self.names)
    let empty = try object.optional("emptyCursor", as: String.self) ?? "end"
    guard let emptyCursor = EmptyCursor(rawValue: empty) else {
      throw DescriptionObject.error(
        decoder.codingPath,
        "The policy's \"emptyCursor\" is \"end\" or \"value\", not \"\(empty)\".")
    }
    self.init(
      failure: try object.optional("failure") ?? [],
      links: try object.optional("links") ?? .sameOrigin,
      linkBase: try object.optional("linkBase"),
      handle: try object.optional("handle") ?? false,
      open: try object.optional("open"), close: try object.optional("close"),
      expiry: try object.optional("expiry") ?? .fail,
      pacing: try object.optional("pacing") ?? Pacing(),
      overlap: try object.optional("overlap") ?? 0,
      reversesItems: try object.optional("reversesItems") ?? false, emptyCursor: emptyCursor,
      marks: try object.optional("marks") ?? [],
      secretSegment: try object.optional("secretSegment"))
    do {
      if let secretSegment { _ = try SecretSegment(secretSegment) }
    } catch {
      throw DescriptionObject.error(decoder.codingPath, error.message)
    }
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    if !failure.isEmpty { try fields.encode(failure, forKey: "failure") }
    if links != .sameOrigin { try fields.encode(links, forKey: "links") }
    try fields.encodeIfPresent(linkBase, forKey: "linkBase")
    if handle { try fields.encode(handle, forKey: "handle") }
    try fields.encodeIfPresent(open, forKey: "open")
    try fields.encodeIfPresent(close, forKey: "close")
    if expiry != .fail { try fields.encode(expiry, forKey: "expiry") }
    if pacing != Pacing() { try fields.encode(pacing, forKey: "pacing") }
    if overlap != 0 { try fields.encode(overlap, forKey: "overlap") }
    if reversesItems { try fields.encode(reversesItems, forKey: "reversesItems") }
    if emptyCursor != .end { try fields.encode(emptyCursor, forKey: "emptyCursor") }
    if !marks.isEmpty { try fields.encode(marks, forKey: "marks") }
    try fields.encodeIfPresent(secretSegment, forKey: "secretSegment")
  }
}

/// How fast a walk may ask, besides what throttling answers say.
///
/// Encodes as `{"interval": seconds, "backoff": source, "readsAhead": false}`, with only what differs
/// from the default.
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

extension Pacing: Codable {
  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(
      decoder, "The pacing", names: ["interval", "backoff", "readsAhead"])
    self.init(
      interval: try object.optional("interval") ?? 0, backoff: try object.optional("backoff"),
      readsAhead: try object.optional("readsAhead") ?? true)
    guard interval >= 0, interval <= 86_400 else {
      throw DescriptionObject.error(
        decoder.codingPath, "The pacing's \"interval\" is a number of seconds up to a day.")
    }
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    if interval != 0 { try fields.encode(interval, forKey: "interval") }
    try fields.encodeIfPresent(backoff, forKey: "backoff")
    if !readsAhead { try fields.encode(readsAhead, forKey: "readsAhead") }
  }
}

/// What a walk does when the server no longer knows its cursor, or pages no further.
///
/// Whatever is not `fail` shows: the first page behind the break carries `HTTPPageInfo.recovery`. A
/// walk recovers three times at most, and then throws. Encodes as `"fail"`, `"restart"`, `"reopen"`,
/// `{"resume": source}` or `{"reanchor": placement, "from": path}`.
public enum ExpiryRule: Hashable, Sendable {
  /// Throw `cursorExpired` or `resultWindowExceeded`, with the checkpoint. The default.
  case fail
  /// Begin the listing again: everything comes again.
  case restart
  /// Open again (`PagePolicy.open`) and go on by the same cursor: for cursors that are keys.
  case reopen
  /// Go on by the cursor in the failing answer, which may skip or repeat what changed meanwhile.
  case resume(ValueSource)
  /// Begin again behind the last item: its value at `from`, below the item, goes to the placement.
  /// Items with the same value are lost or repeated, as the parameter excludes or includes it.
  case reanchor(Placement, from: PagePath)
}

extension ExpiryRule: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    switch DescriptionObject.text(decoder) {
    case "fail": self = .fail
    case "restart": self = .restart
    case "reopen": self = .reopen
    case let text?:
      throw DescriptionObject.error(
        decoder.codingPath,
        "\"\(text)\" is no expiry rule; expected \"fail\", \"restart\", \"reopen\", {\"resume\": "
          + "source} or {\"reanchor\": placement, \"from\": path}.")
    case nil:
      let (kind, object) = try DescriptionObject.oneOf(
        decoder, "An expiry rule", kinds: ["resume", "reanchor"], options: ["from"])
      self =
        kind == "resume"
        ? .resume(try object(kind)) : .reanchor(try object(kind), from: try object("from"))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    var name: String?
    switch self {
    case .fail: name = "fail"
    case .restart: name = "restart"
    case .reopen: name = "reopen"
    case .resume, .reanchor: name = nil
    }
    if let name {
      var single = encoder.singleValueContainer()
      return try single.encode(name)
    }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    if case .resume(let source) = self { try fields.encode(source, forKey: "resume") }
    if case .reanchor(let placement, let path) = self {
      try fields.encode(placement, forKey: "reanchor")
      try fields.encode(path, forKey: "from")
    }
  }
}
