import QuireCore

/// Going on after the server has forgotten a cursor.
extension PaginationEngine {
  /// What the key that a walk begins again behind is called among the values that it carries.
  static let anchor = "$anchor"
  /// How often a walk goes on after that.
  private static let mostRestarts = 3

  /// How long the page asks to wait before the next one; nil where it does not.
  func backoff(after answer: PageAnswer) -> Duration? {
    guard let source = pagination.policy.pacing.backoff,
      let value = try? answer.value(at: source, items: items),
      let seconds = Double(value.plainText),
      seconds.isFinite, seconds > 0
    else { return nil }
    return .seconds(min(seconds, 86_400))
  }

  /// The last item's key, where the walk may have to begin again behind it.
  func anchor(after answer: PageAnswer) throws -> JSONValue? {
    guard case .reanchor(_, let path) = pagination.policy.expiry else { return nil }
    let key = try answer.document.value(at: path, inLastItemOf: items)
    return key.flatMap { $0.isBlank ? nil : $0 } ?? answer.sent?.anchor
  }

  /// Where the walk goes on in place of `position`, and what that means; nil for an error.
  ///
  /// `reopened` are the values of a new opening, where the rule asks for one.
  func recovery(
    at position: Position, from error: PageError, reopened: [JSONValue.Member] = []
  ) -> (Position, PageRecovery)? {
    guard error.code == .cursorExpired || error.code == .resultWindowExceeded,
      var bookmark = try? Bookmark(position), bookmark.restarts < Self.mostRestarts
    else { return nil }
    let isExpired = error.code == .cursorExpired
    let restarts = bookmark.restarts + 1
    let recovery: PageRecovery
    switch pagination.policy.expiry {
    case .fail: return nil
    case .restart:
      guard isExpired else { return nil }
      bookmark = Bookmark(Bookmark.Target.start)
      bookmark.carried = reopened
      recovery = .restarted
    case .reopen:
      guard isExpired else { return nil }
      bookmark.carried = reopened
      recovery = .reopened
    case .resume:
      guard let cursor = (error.underlying as? HTTPFailure)?.replacement, !cursor.isBlank else {
        return nil
      }
      bookmark.target = .token(cursor)
      recovery = .resumed
    case .reanchor:
      guard let anchor = bookmark.anchor else { return nil }
      bookmark = Bookmark(Bookmark.Target.start)
      bookmark.anchor = anchor
      bookmark.carried = reopened + [JSONValue.Member(Self.anchor, anchor)]
      recovery = .reanchored
    }
    bookmark.restarts = restarts
    return (bookmark.position, recovery)
  }
}
