import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

/// Verifies the candidates of a detection by loading the second and the third page.
struct DetectionVerifier<Item: Sendable> {
  let client: PageClient
  let first: PageAnswer
  let decoder: LenientPageDecoder<Item>
  /// The detector of the first answer, which also knows the parameters to search for if no
  /// candidate is confirmed.
  let detector: PaginationDetector
  /// The secrets that the caller declared.
  var secrets: [String] = []

  /// Checks candidates, the surest first, until one is confirmed or `checks` of them were checked.
  /// If none is confirmed, and `checks` is more than 1, searches for the parameter that the server
  /// heeds.
  ///
  /// A confirmed candidate moves to the front, a refuted one becomes a guess, and an undecided one
  /// is no longer likely.
  func verify(_ detection: inout Detection, checks: Int) async throws {
    var pages = FetchedPages(left: checks)
    // Candidates with evidence are checked before guesses.
    var isDecided = false
    for index in Self.ranking(detection.candidates) where !isDecided {
      (detection.candidates[index], isDecided) = try await verified(
        detection.candidates[index], before: detection.candidates[..<index], &pages)
    }
    detection.candidates = Self.ranking(detection.candidates).map { detection.candidates[$0] }
    guard checks > 1, !isDecided, let found = try await searched(&pages) else { return }
    detection.candidates.insert(found, at: 0)
  }

  /// Returns the indexes of candidates, the surest first. Equally sure ones keep their order.
  private static func ranking(_ candidates: [DetectedPagination]) -> [Int] {
    candidates.indices.sorted {
      (candidates[$1].confidence, $0) < (candidates[$0].confidence, $1)
    }
  }

  /// Returns the candidate after its check, and whether no other candidate needs one.
  private func verified(
    _ candidate: DetectedPagination, before: ArraySlice<DetectedPagination>,
    _ pages: inout FetchedPages
  ) async throws -> (DetectedPagination, isDecided: Bool) {
    var checked = candidate
    guard candidate.leadsOn else {
      if let longer = try await verified(withoutTotalOf: candidate, &pages) {
        return (longer, true)
      }
      if candidate.withoutTotal != nil {
        if detector.mayBeFull || detector.mayCountPages {
          checked.confidence = min(candidate.confidence, .possible)
          checked.doubts.append(
            "what looks like a total is as many as the page has, and may count "
              + (detector.mayCountPages ? "pages" : "this page alone"))
        }
        // The server may heed the parameter of another candidate.
        return (checked, false)
      }
      // If this is surely the last page, the other candidates need no check.
      return (candidate, candidate.confidence == .likely)
    }
    guard let (whole, check) = try await corrected(candidate.pagination, &pages) else {
      // A counter that was not checked is only a guess if another counter before it was refuted.
      if candidate.pagination.next.isCounter,
        before.contains(where: { other in
          other.pagination.next.isCounter && other.check?.result == .refuted
        })
      {
        checked.confidence = .guess
      }
      return (checked, false)
    }
    if whole != candidate.pagination { checked = candidate.composed(whole) }
    checked.check = check.result
    switch check.result.result {
    case .confirmed:
      checked.confidence = .verified
      return (checked, true)
    case .refuted:
      checked.confidence = .guess
      return (checked, false)
    case .undecided:
      checked.confidence = min(candidate.confidence, .possible)
      // If the listing ended too soon, another description may read the rest.
      return (checked, candidate.confidence == .likely && !check.endsBeforeTotal)
    }
  }

  /// Checks a description, and then up to two corrections that its check suggests: the server may
  /// count and end the listing differently. Returns the last description checked, and its check.
  /// Nil if no more may be checked.
  func corrected(
    _ pagination: Pagination, _ pages: inout FetchedPages
  ) async throws -> (pagination: Pagination, check: Check)? {
    guard var check = try await check(pagination, &pages) else { return nil }
    var pagination = pagination
    for _ in 0..<2 {
      guard let other = check.correction, let again = try await self.check(other, &pages) else {
        break
      }
      (pagination, check) = (other, again)
    }
    if check.result.result == .confirmed {
      pagination = try await removingContradictedTotal(from: pagination)
      if check.hasNextPage { pagination = try await addingEndRule(to: pagination) }
    }
    return (pagination, check)
  }

  /// The answers to requests for further pages.
  struct FetchedPages {
    /// The number of candidates that may still be checked.
    var left: Int
    var answers: [PageRequest: Result<PageAnswer, PageError>] = [:]
  }

  /// Checks the candidate without its total; see `DetectedPagination.withoutTotal`. Returns it if it
  /// is confirmed, otherwise nil.
  private func verified(
    withoutTotalOf candidate: DetectedPagination, _ pages: inout FetchedPages
  ) async throws -> DetectedPagination? {
    guard var longer = candidate.withoutTotal,
      let check = try await check(longer.pagination, &pages), check.result.result == .confirmed
    else { return nil }
    (longer.check, longer.confidence) = (check.result, .verified)
    longer.doubts.append("what looks like a total is not the number of the listing's items")
    return longer
  }

  /// The result of one check.
  struct Check {
    var result: SecondPageCheck
    /// The corrected description to check next, if this one does not count or end the listing as
    /// the server does; nil otherwise.
    var correction: Pagination?
    /// Whether the listing ended before it had as many items as it declares.
    var endsBeforeTotal = false
    /// Whether another page follows the last one that was loaded.
    var hasNextPage = false
  }

  /// Checks one description. Returns nil if no more may be checked. Equal requests of several
  /// descriptions are made once and count once.
  private func check(
    _ pagination: Pagination, _ pages: inout FetchedPages
  ) async throws -> Check? {
    var request: String?
    do {
      let engine = try engine(of: pagination)
      var followed = try FollowedPages(first, by: engine, declared: detector.declaredItems)
      let next = engine.finder.continuation(after: first, itemCount: followed.counts[0])
      if let failure = next.nextFailure { throw failure }
      guard let position = next.next else {
        return Check(result: SecondPageCheck(.undecided, "The first page is the last."))
      }
      let asked = try engine.builder.request(at: position)
      request = try describe(asked, pagination)
      if pages.answers[asked] == nil {
        guard pages.left > 0 else { return nil }
        pages.left -= 1
      }
      var check = try await otherCount(than: followed, pagination, &pages)
      if check == nil {
        check = try await follow(
          from: position, closing: next.closing, &followed, pagination, &pages)
        check?.endsBeforeTotal = followed.endsBeforeTotal
      }
      check?.result.request = request
      return check
    } catch let error as PageError {
      let refutes = error.refutesDescription
      let words = refutes ? "is refused" : "cannot be had"
      return Check(
        result: SecondPageCheck(
          refutes ? .refuted : .undecided, "A further page \(words). \(error.message)",
          request: error.request ?? request),
        correction: error.isBadRequest ? pagination.sendingTokenAlone(after: first) : nil)
    }
  }

  /// Loads pages from `start` on, at most to the third page, until they decide on the description.
  private func follow(
    from start: Position, closing: Position?, _ followed: inout FollowedPages,
    _ pagination: Pagination, _ pages: inout FetchedPages
  ) async throws -> Check {
    var (position, closing) = (start, closing)
    while true {
      let asked = try followed.engine.builder.request(at: position)
      let answer: PageAnswer
      do {
        answer = try await self.answer(to: asked, at: position, pagination, &pages)
      } catch let error as PageError where followed.counts.count > 1 && error.refutesDescription {
        // The pages before were right, so this refusal does not refute the description.
        if pagination.ends(by: error), case .last = followed.endWithoutItems(error.message) {
          return Check(
            result: SecondPageCheck(
              .confirmed, followed.words + " behind it is none, as the server says."))
        }
        return Check(
          result: SecondPageCheck(.undecided, "A further page is refused. \(error.message)"),
          correction: error.endRuleCorrection(of: pagination))
      }
      closing = followed.engine.finder.continuation(after: answer, itemCount: 0).closing ?? closing
      let step = followed.judge(answer)
      if case .leads(let further) = step, followed.counts.count < 3 {
        position = further
        continue
      }
      try await loader(of: pagination).close(at: closing)
      let longer = followed.exceedsTotal ? pagination.withoutItemTotal : nil
      return verdict(step, on: pagination, longer, followed)
    }
  }

  /// Returns the check that ends with a step; `longer` is the description without a total that its
  /// pages disprove.
  private func verdict(
    _ step: FollowedPages.Step, on pagination: Pagination, _ longer: Pagination?,
    _ followed: FollowedPages
  ) -> Check {
    switch step {
    case .refuted(let words):
      Check(
        result: SecondPageCheck(.refuted, words),
        correction: followed.beginsWithLastItem ? pagination.overlappingStart : nil)
    case .undecided(let words): Check(result: SecondPageCheck(.undecided, words))
    case .leads:
      Check(
        result: SecondPageCheck(.confirmed, followed.words + " another page follows."),
        correction: longer, hasNextPage: true)
    case .last:
      Check(
        result: SecondPageCheck(.confirmed, followed.words + " it is the last."),
        correction: longer)
    }
  }

  /// Returns the refutation of a description if the server counts in another way; nil otherwise.
  private func otherCount(
    than followed: FollowedPages, _ pagination: Pagination, _ pages: inout FetchedPages
  ) async throws -> Check? {
    guard
      let other = otherCount(pagination, followed.engine, itemCount: followed.counts[0]),
      let probe = try? followed.engine.builder.request(at: other.position),
      let answer = try? await answer(to: probe, at: other.position, pagination, &pages),
      followed.hasOnlyNewItems(answer)
    else { return nil }
    return Check(result: SecondPageCheck(.refuted, other.words), correction: other.pagination)
  }

  /// Returns another way in which the server may count: pages from 0 instead of 1, or pages instead
  /// of items; nil if there is none. It is the right one if the page at `position` has no items of
  /// the first page.
  private func otherCount(
    _ pagination: Pagination, _ engine: PaginationEngine, itemCount: Int
  ) -> (pagination: Pagination, position: Position, words: String)? {
    guard !engine.startsMidway else { return nil }
    var other = pagination
    switch pagination.next {
    case .pageNumber(1, let echo):
      guard !detector.saysPageOne,
        RequestEditor(engine.first).value(at: engine.routes[0].send) == nil
      else {
        return nil
      }
      other.next = .pageNumber(first: 0, from: echo)
      return (
        other, Bookmark(.page(1)).position,
        "Page 1 is another page than the one without a number: pages count from 0."
      )
    case .offset(let first, .itemsReturned) where itemCount > 1:
      other.next = .pageNumber(first: first)
      return (
        other, Bookmark(.offset(first + 1)).position,
        "What is at \(first + 1) is another page than the first: pages are counted, and not items."
      )
    default: return nil
    }
  }

  private func describe(_ request: PageRequest, _ pagination: Pagination) throws -> String {
    try listing(of: pagination).redactor(for: request)
      .describe(request.method, request.url)
  }

  /// Returns the answer to a request, and the lists of the indexes around its page. Each request is
  /// made only once.
  private func answer(
    to request: PageRequest, at position: Position, _ pagination: Pagination,
    _ pages: inout FetchedPages
  ) async throws -> PageAnswer {
    var answer: PageAnswer
    if let known = pages.answers[request] {
      answer = try known.get().moved(to: position)
    } else {
      do {
        answer = try await loader(of: pagination).answer(at: position)
        pages.answers[request] = .success(answer)
      } catch let error as PageError {
        pages.answers[request] = .failure(error)
        throw error
      }
    }
    let engine = try engine(of: pagination)
    for url in engine.indexes(neededAt: answer.requestedBookmark) {
      let index =
        url == first.request.url
        ? first
        : pages.answers.values.lazy.compactMap { try? $0.get() }.first { $0.request.url == url }
      if let index { answer.indexes[url] = try engine.reader.pages(listedIn: index) }
    }
    return answer
  }

  private func listing(of pagination: Pagination) throws -> Listing {
    try Listing(client: client, pagination: pagination, first: first.request, secrets: secrets)
  }

  private func loader(of pagination: Pagination) throws -> PageLoader<Item> {
    PageLoader(try listing(of: pagination), decoder)
  }
}

extension Pagination {
  /// Whether the description treats this refusal as the end of the listing.
  fileprivate func ends(by error: PageError) -> Bool {
    guard let status = error.response?.status.code else { return false }
    return end.contains { rule in
      if case .status(let codes, nil) = rule { codes.contains(status) } else { false }
    }
  }

  /// The description for a server whose second page begins with the last item of the first: it counts from 1, or
  /// includes the item whose key is sent.
  var overlappingStart: Pagination? {
    var other = self
    switch next {
    case .offset(0, .itemsReturned): other.next = .offset(first: 1)
    case .lastItem where policy.overlap == 0:
      other.policy.overlap = 1
      other.end.append(.sameCursor)
    default: return nil
    }
    return other
  }
}

extension Pagination {
  /// The description that sends a token without the other parameters of the first request, as
  /// servers demand whose token has them in it: `nextPageKey` goes alone. Nil if there are none, or
  /// if the parameter is not named like the token, so that the refusal may be about its name.
  fileprivate func sendingTokenAlone(after first: PageAnswer) -> Pagination? {
    guard case .body(let path) = next, case .query(let parameter, _) = send, request.keep == .all
    else { return nil }
    let name = PaginationVocabulary.normalized(parameter)
    let isNamedAlike = PaginationVocabulary.names(of: path).contains { token in
      token == name || token == "next" + name
    }
    let others = RequestEditor(first.request).query.pairs.contains { $0.name != parameter }
    guard isNamedAlike, others else { return nil }
    var alone = self
    alone.request.keep = .none
    return alone
  }
}

extension PageError {
  /// Whether the server said that the request is wrong, and not the place or the permission.
  fileprivate var isBadRequest: Bool {
    response.map { [400, 422].contains($0.status.code) } ?? false
  }

  /// Returns the description that also ends with this refusal, if nothing but an empty
  /// or short page could end it before; nil otherwise. See `Pagination.ends(by:)`.
  fileprivate func endRuleCorrection(of pagination: Pagination) -> Pagination? {
    guard let status = missingPageStatus,
      pagination.routes.allSatisfy(\.next.isCounter),
      pagination.end.allSatisfy({ $0 == .emptyPage || $0 == .shortPage })
    else { return nil }
    var other = pagination
    other.end.append(.status([status]))
    return other
  }

  /// Whether the server refused the request itself, instead of being unavailable for a time.
  fileprivate var refutesDescription: Bool {
    // Rate limits have many statuses, 403 among them.
    if [.connectFailed, .timedOut, .truncated, .throttled].contains(code) { return false }
    let passing = PassingStatus.later.union(PassingStatus.outage)
    return response.map { !passing.contains($0.status.code) } ?? true
  }
}

extension PageAnswer {
  /// Returns the answer at the position of another description that made the same request.
  fileprivate func moved(to position: Position) -> PageAnswer {
    PageAnswer(
      request: request, url: url, status: status, headerFields: headerFields, document: document,
      position: position)
  }
}
