// What stops a walk before the server's end, and the words for it.

extension WalkMachine {
  /// The caller's own limit that is reached, if one is.
  var reachedLimit: WalkReport.Limit? {
    if let pages = limits.pages, report.pages >= pages, !isWithinPage { return .pages }
    if let items = limits.items, report.items >= items { return .items }
    return nil
  }

  /// How a walk ends that the server ended. A total is believed only when it is exact, or the least
  /// there is, and the walk has seen the whole listing: from its start, and nothing stands before that.
  var exhaustion: WalkReport.End {
    guard let total = report.total, [.items, .lowerBound].contains(total.kind), start == .start,
      !startsMidway,
      report.traffic.items + report.traffic.badItems < total.value
    else { return .exhausted }
    return .truncationSuspected(declared: total.value)
  }

  /// Why the page at `position` must not be loaded, if it must not.
  mutating func judge(_ position: Position, at now: Duration) -> PageError? {
    // A position inside the page that is arriving leads nowhere else.
    if !isWithinPage, let length = loops?.visit(position) {
      return locate(Self.loop(length), at: position)
    }
    return exceededCap(at: now).map { locate(PageError(.limitExceeded, $0), at: position) }
  }

  private func exceededCap(at now: Duration) -> String? {
    if emptyPages > limits.consecutiveEmptyPages {
      return """
        \(emptyPages) empty pages came in a row; raise the limit on consecutive empty pages \
        (\(limits.consecutiveEmptyPages)) if the server filters that much.
        """
    }
    if let bytes = limits.bytes, report.traffic.bytes >= bytes {
      return """
        The walk has read \(report.traffic.bytes) bytes of the \(bytes) it may; raise the limit \
        on bytes, or resume from the checkpoint.
        """
    }
    if let duration = limits.duration, let startedAt, now - startedAt >= duration {
      return """
        The walk has taken \(now - startedAt) of the \(duration) it may; raise the limit on the \
        duration, or resume from the checkpoint.
        """
    }
    return nil
  }

  private static func loop(_ length: Int) -> PageError {
    let circle =
      length == 1
      ? "The server answered with the position of the page it had just sent"
      : "The server leads in a circle of \(length) pages"
    let advice =
      length == 1
      ? """
       If that is how the server ends a listing, add the end rule .sameCursor. If it is meant, as \
      with the handle of a scroll, say so: policy.handle in a description, repeatedPositions in a \
      source.
      """ : ""
    return PageError(
      .loopDetected,
      "\(circle); the walk would never end. All pages so far were delivered.\(advice)",
      attempts: 0)
  }

  func stall(_ distance: Int) -> PageError {
    let earlier = distance == 1 ? "the page before" : "the page \(distance) pages ago"
    let delivered =
      isWithinPage
      ? "those that came before the page was whole were handed out twice"
      : "they were not handed out twice"
    return PageError(
      .stalledContent,
      """
      The server sent the same items as on \(earlier), under another position; \(delivered). \
      Most likely it does not heed what the request asks for: check the name of the parameter, or \
      what else the continuation goes into. Only where pages of this listing may well be the same, \
      set Limits.comparedPages to 0.
      """)
  }

  static func objection(to limits: Limits) -> PageError? {
    let numbers = [
      ("pages", limits.pages), ("items", limits.items), ("bytes", limits.bytes),
      ("consecutiveEmptyPages", limits.consecutiveEmptyPages),
      ("comparedPages", limits.comparedPages),
    ]
    for (name, number) in numbers {
      guard let number, number < 0 else { continue }
      return PageError(
        .invalidArgument, "Limits.\(name) is \(number); give 0 or more.", attempts: 0)
    }
    guard let duration = limits.duration, duration < .zero else { return nil }
    return PageError(
      .invalidArgument, "Limits.duration is \(duration); give zero or more.", attempts: 0)
  }

  static func concurrentIteration(at position: Position) -> PageError {
    var error = PageError(
      .concurrentIteration,
      """
      Two tasks asked one walk for a page at the same time; give each task a walk of its own, or \
      share a Paginator.
      """, attempts: 0)
    error.position = position
    return error
  }

  static func sourceFailure(_ error: any Error) -> PageError {
    if let error = error as? PageError { return error }
    return PageError(.sourceFailed, "The page could not be fetched: \(error)", underlying: error)
  }

  /// The error with its place in this walk.
  func locate(_ error: PageError, at position: Position) -> PageError {
    var error = error
    error.pageIndex = pageIndex
    error.position = position
    error.checkpoint = position
    return error
  }
}
