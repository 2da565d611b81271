import HTTPTypes
import QuireCore

extension PaginationEngine {
  /// What an answer is, before its items are decoded: failures first, then the end, then the page.
  ///
  /// `page` for an error status means that the description does not explain it. Throws `shape` where
  /// the document is ambiguous.
  package func screen(_ answer: PageAnswer) throws -> Screening {
    if let failure = try pagination.policy.failure.first(where: { try applies($0, to: answer) }) {
      return try screen(answer, failing: failure)
    }
    return try isEnd(answer) ? .end : .page
  }

  /// Why an answer that says that there is nothing cannot be believed, if it cannot: the page before
  /// said outright that there is.
  func brokenPromise(by answer: PageAnswer) -> PageError? {
    guard let sent = answer.bookmark, sent.isPromised, !sent.isBackward else { return nil }
    return PageError(
      .inconsistentTermination,
      "The page before said that this one follows, and the server answered \(answer.status), which the "
        + "description takes for the end. Data may be missing: try again later, or check the "
        + "description's flag or number of pages.")
  }

  private func applies(_ rule: FailureRule, to answer: PageAnswer) throws -> Bool {
    // On the first page no cursor was sent that could be the trouble.
    if rule.kind == .expired || rule.scope == .laterPages, !answer.sentCursor { return false }
    return try answer.matches(rule.when, items: items)
  }

  private func screen(_ answer: PageAnswer, failing rule: FailureRule) throws -> Screening {
    if rule.kind == .empty { return .emptyPage }
    let message = try rule.message.flatMap { try answer.value(at: $0, items: items) }
    let after = try rule.after.flatMap { try answer.value(at: $0, items: items) }
    let delay = after.flatMap { Double($0.plainText) }.flatMap {
      $0 >= 0 ? Duration.wait(seconds: $0) : nil
    }
    var failure = PageFailure(
      rule.kind, message: message.flatMap { $0.isBlank ? nil : $0.plainText }, delay: delay)
    failure.standardDelay = rule.delay.flatMap { $0 >= 0 ? Duration.wait(seconds: $0) : nil }
    if case .resume(let source) = pagination.policy.expiry, rule.kind == .expired {
      failure.cursor = try answer.value(at: source, items: items)
    }
    return .failure(failure)
  }

  /// Whether the description says that an answer with this status is the end. An error status on the
  /// first page is none: a listing that does not exist must not look like an empty one.
  private func isEnd(_ answer: PageAnswer) throws -> Bool {
    guard answer.status < 400 || !answer.isFirst else { return false }
    return try pagination.end.contains { rule in
      guard case .status(let codes, let condition) = rule, codes.contains(answer.status) else {
        return false
      }
      return try condition.map { try answer.matches($0, items: items) } ?? true
    }
  }
}
