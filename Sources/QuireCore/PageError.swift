/// The error of a walk or a request: what failed, where, and how to continue.
///
/// Every failure except cancellation is a `PageError`; `CancellationError` is never wrapped. By the
/// time a walk throws it, every page before `pageIndex` was delivered. Asking the same iterator
/// again retries the same page, and a walk from `checkpoint` does so in another process.
public struct PageError: Error, Sendable {
  /// A kind of failure. Compare it with the constants; new ones may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name, in lower camel case.
    public let description: String

    /// Creates a code for a source or a transport of your own. Names are in lower camel case.
    public init(_ name: String) { description = name }
  }

  /// The kind of failure.
  public var code: Code

  /// What failed, in a sentence or two. Secrets are redacted, and text from the server is escaped:
  /// the message is one line that any terminal and log can show.
  public var message: String {
    didSet { message = message.escapedForDisplay }
  }

  /// The changes that can keep the failure from recurring, the likeliest first; `description` has
  /// them after the message.
  public var remedies: [Remedy] = []

  /// The index of the page that could not be delivered, from 0.
  public var pageIndex: Int?

  /// The position of the page that could not be delivered.
  public var position: Position?

  /// The request that failed, as `GET https://host/path?key=…` with secrets redacted.
  public var request: String? {
    didSet { request = request?.escapedForDisplay }
  }

  /// The URL to which redirects had led the request, with secrets redacted; nil without redirects.
  public var redirectedTo: String? {
    didSet { redirectedTo = redirectedTo?.escapedForDisplay }
  }

  /// The number of requests made for the page; 0 if it failed before any.
  public var attempts: Int

  /// The traffic spent on the page in vain, retries included. It is part of the walk's report.
  public var traffic = WalkReport.Traffic.zero

  /// The error that caused this one, if another one did.
  public var underlying: (any Error)?

  /// The position to resume from: every item before it was delivered, and none after it.
  public var checkpoint: Position?

  /// Creates an error; the walk fills in where it happened.
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

  /// The listing ended before the requested page. A source may throw this instead of returning nil;
  /// a walk then ends normally and counts the error's `traffic`.
  public static let exhausted = Self("exhausted")
  /// The server led back to a position that the walk had already visited.
  public static let loopDetected = Self("loopDetected")
  /// A page repeated the items of an earlier one under another position, apart from values that
  /// change with every answer, such as ages and times; see `Limits.comparedPages`.
  public static let stalledContent = Self("stalledContent")
  /// A limit was reached: a safety cap of `Limits`, or one on the size of an answer.
  public static let limitExceeded = Self("limitExceeded")
  /// A text does not follow its format; the message names the byte.
  public static let malformed = Self("malformed")
  /// The server asks for a longer pause than the source waits.
  public static let throttled = Self("throttled")
  /// The server says that more follows, but the request for it would be the same as the last one.
  public static let noProgress = Self("noProgress")
  /// The page has changed since some of its items were delivered: it now has fewer items, or
  /// others.
  public static let pageChanged = Self("pageChanged")
  /// The start position was made by another listing, or does not say by which; the message names
  /// the difference. See `Position.unchecked`.
  public static let positionMismatch = Self("positionMismatch")
  /// The walk that made the start position is over, and the server no longer holds what the
  /// position refers to.
  public static let notResumable = Self("notResumable")
  /// An argument cannot work; the message says which one and why.
  public static let invalidArgument = Self("invalidArgument")
  /// A walk was asked for a page from inside its own reading, or two tasks read one body at the
  /// same time.
  public static let concurrentIteration = Self("concurrentIteration")
  /// The source threw an error of its own; see `underlying`.
  public static let sourceFailed = Self("sourceFailed")
  /// A closure given to `map`, `filter`, `compactMap` or `flatMap` threw; see `underlying`.
  public static let transformFailed = Self("transformFailed")
}

extension PageError {
  /// Creates the error for one that a source threw: itself if it is a `PageError`, else
  /// `sourceFailed`.
  package init(ofSource error: any Error) {
    self =
      error as? PageError
      ?? PageError(.sourceFailed, "The page could not be fetched: \(error)", underlying: error)
  }

  /// Returns the error for a page that has `count` items although `offset` of its items were
  /// delivered before.
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

  /// Adds to the error of a limit that the walk made no progress before it, because of `reason`.
  mutating func noteWithoutProgress(_ reason: String) {
    let words = " A walk resumed with the same limit gets no further: \(reason)."
    if !message.hasSuffix(words) { message += words }
  }

  /// Whether a retry can only fail in the same way.
  var isFinal: Bool {
    [.loopDetected, .limitExceeded, .invalidArgument, .positionMismatch, .notResumable]
      .contains(code)
  }
}

extension Error {
  var isLimit: Bool { (self as? PageError)?.code == .limitExceeded }

  /// Whether the error is about one of a walk's `Limits`, and not about a limit on the content of a
  /// page.
  var isLimitOfWalk: Bool {
    guard isLimit, let error = self as? PageError else { return false }
    return error.remedies.contains { $0.setting.description.hasPrefix("Limits.") }
  }
}

extension PageError: CustomStringConvertible {
  /// One line: the message and the remedies, then in brackets the code, the number of pages
  /// delivered before, the request and the attempts.
  public var description: String {
    described(by: \.description, attempts: "attempts")
  }

  /// Returns the line of `description` with the remedies worded by `words` and the attempts called
  /// `noun`.
  package func described(by words: (Remedy) -> String?, attempts noun: String) -> String {
    var place = [code.description]
    if let pageIndex { place.append("after \(pageIndex.counted("page"))") }
    if let request { place.append(request) }
    if let redirectedTo { place.append("redirected to \(redirectedTo)") }
    if attempts > 1 { place.append("\(attempts) \(noun)") }
    return "\(advised(by: words)) [\(place.joined(separator: ", "))]"
  }

  /// Returns the message, followed by the remedies as worded by `words`.
  package func advised(by words: (Remedy) -> String?) -> String {
    ([message] + remedies.compactMap(words)).joined(separator: " ")
  }
}
