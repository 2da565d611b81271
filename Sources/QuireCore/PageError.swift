/// Why a walk could not go on, where, and how to go on after all.
///
/// Every failure but cancellation is one of these: `CancellationError` is never wrapped. The walk
/// has delivered every page before `pageIndex`; asking the same iterator again retries the same
/// page, and `checkpoint` does so in another process.
public struct PageError: Error, Sendable {
  /// What kind of failure this is. Compare with the constants; new ones may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name, in lower camel case.
    public let description: String

    /// A code of your own, for a source or a transport of your own. Names are lower camel case.
    public init(_ name: String) { description = name }
  }

  /// What kind of failure this is.
  public var code: Code

  /// What failed, in a sentence or two. Secrets are redacted, and text of the server is escaped: the
  /// message is one line that any terminal and log can show.
  public var message: String {
    didSet { message = message.escapedForDisplay }
  }

  /// What the caller can change so that it does not fail again, the likeliest first; `description` says
  /// it behind the message.
  public var remedies: [Remedy] = []

  /// The page that could not be delivered, counted from 0.
  public var pageIndex: Int?

  /// Where the page that could not be delivered starts.
  public var position: Position?

  /// The request that failed, as `GET https://host/path?key=…` with secrets redacted.
  public var request: String? {
    didSet { request = request?.escapedForDisplay }
  }

  /// Where redirects had led the request, secrets redacted; nil where there were none.
  public var redirectedTo: String? {
    didSet { redirectedTo = redirectedTo?.escapedForDisplay }
  }

  /// How many requests were made for the page.
  public var attempts: Int

  /// What was spent on the page in vain, retries included; it counts in the walk's report.
  public var traffic = WalkReport.Traffic(requests: 0)

  /// The error that caused this one.
  public var underlying: (any Error)?

  /// Where to resume: nothing before it is missing, nothing after it was delivered.
  public var checkpoint: Position?

  /// An error of a kind, in words; the walk fills in where it happened.
  public init(
    _ code: Code, _ message: String, remedies: [Remedy] = [], request: String? = nil,
    attempts: Int = 1, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message.escapedForDisplay
    self.remedies = remedies
    self.request = request?.escapedForDisplay
    self.attempts = attempts
    self.underlying = underlying
  }
}

extension PageError.Code {
  /// Whether an error is a `PageError` of the code: `catch PageError.Code.throttled`.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? PageError)?.code == code
  }

  /// The listing ended before the page that was asked for. A source may throw it instead of
  /// returning nil; a walk ends normally by it, and counts its `traffic`.
  public static let exhausted = Self("exhausted")
  /// A position came back that the walk had already visited.
  public static let loopDetected = Self("loopDetected")
  /// A page repeated the items of an earlier one under another position, be it with new ages or times
  /// in them; see `Limits.comparedPages`.
  public static let stalledContent = Self("stalledContent")
  /// A safety cap of `Limits` was reached.
  public static let limitExceeded = Self("limitExceeded")
  /// A text breaks its format; the message names the byte.
  public static let malformed = Self("malformed")
  /// The server asks to slow down, for longer than the source waits.
  public static let throttled = Self("throttled")
  /// The listing has not ended and does not go on either.
  public static let noProgress = Self("noProgress")
  /// The page is not what it was when items of it were delivered: it has fewer now, or others.
  public static let pageChanged = Self("pageChanged")
  /// A walk was to begin at a position that another listing made, or none that is known; the message
  /// says what differs. See `Position.unchecked`.
  public static let positionMismatch = Self("positionMismatch")
  /// A walk was to go on from one that is over, and whose server holds nothing for it any more.
  public static let notResumable = Self("notResumable")
  /// An argument cannot work; the message says which and why.
  public static let invalidArgument = Self("invalidArgument")
  /// A walk was asked for a page from inside of its own reading, or two tasks read one body at the same
  /// time.
  public static let concurrentIteration = Self("concurrentIteration")
  /// The source threw an error of its own; see `underlying`.
  public static let sourceFailed = Self("sourceFailed")
  /// A closure given to `map`, `filter` or `compactMap` threw; see `underlying`.
  public static let transformFailed = Self("transformFailed")
}

extension PageError {
  /// A page that has `count` items and should have given `offset` before.
  package static func pageChanged(_ count: Int, _ offset: Int) -> PageError {
    PageError(
      .pageChanged,
      """
      The walk was to go on behind \(offset.counted("item")) of a page, and the page has \(count) now: \
      it is not what it was, and items may be missing or come twice.
      """,
      remedies: [
        Remedy(.position, ["start"]),
        Remedy(.position, ["page"], condition: "if that does no harm"),
      ])
  }

  /// Whether the walk can only fail again in the same way.
  var isFinal: Bool {
    [.loopDetected, .limitExceeded, .invalidArgument, .positionMismatch, .notResumable]
      .contains(code)
  }
}

extension PageError: CustomStringConvertible {
  /// One line: the message and what to do, then code, the pages delivered before, request and attempts.
  public var description: String {
    described(by: \.description, attempts: "attempts")
  }

  /// The same line with remedies in `words`.
  package func described(by words: (Remedy) -> String?, attempts noun: String) -> String {
    var place = [code.description]
    if let pageIndex { place.append("after \(pageIndex.counted("page"))") }
    if let request { place.append(request) }
    if let redirectedTo { place.append("redirected to \(redirectedTo)") }
    if attempts > 1 { place.append("\(attempts) \(noun)") }
    return "\(advised(by: words)) [\(place.joined(separator: ", "))]"
  }

  /// The message, and behind it the remedies in `words`.
  package func advised(by words: (Remedy) -> String?) -> String {
    ([message] + remedies.compactMap(words)).joined(separator: " ")
  }
}
