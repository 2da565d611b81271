import HTTPTypes
import QuireCore

/// Follows the candidates of a detection to a second and a third page.
struct DetectionVerifier<Item: Sendable> {
  let client: PageClient
  let first: PageAnswer
  let decoder: LenientPageDecoder<Item>
  /// How many items there are in all, as the first answer seems to say; nil where it does not.
  let declared: Int?
  /// Whether the first answer says that its page is number 1.
  let isPageOne: Bool
  /// What the caller calls secret.
  var secrets: [String] = []

  /// Checks candidates from the first on until one is confirmed, or `checks` of them were.
  ///
  /// What is confirmed comes first; what is refuted is no more than a guess, and what could not be
  /// decided is not likely any more.
  func verify(_ detection: inout Detection, checks: Int) async throws {
    var pages = FetchedPages(left: checks)
    for index in detection.candidates.indices {
      let candidate = detection.candidates[index]
      guard candidate.leadsOn else {
        // What is sure to be the last page needs no second.
        if candidate.confidence == .likely { break }
        continue
      }
      guard var check = try await check(candidate.pagination, &pages) else { continue }
      var checked = candidate
      if check.isFromZero, let other = candidate.countedFromZero,
        let again = try await self.check(other.pagination, &pages)
      {
        (checked, check) = (other, again)
      }
      checked.check = check.result
      switch check.result.result {
      case .confirmed:
        checked.confidence = .verified
        detection.candidates.remove(at: index)
        detection.candidates.insert(checked, at: 0)
        return
      case .refuted: checked.confidence = .guess
      case .undecided: checked.confidence = min(candidate.confidence, .possible)
      }
      detection.candidates[index] = checked
      if check.result.result == .undecided, candidate.confidence == .likely { break }
    }
    let ranked = detection.candidates.enumerated().sorted {
      ($1.element.confidence, $0.offset) < ($0.element.confidence, $1.offset)
    }
    detection.candidates = ranked.map(\.element)
  }

  /// What came of the requests for further pages.
  private struct FetchedPages {
    /// How many candidates may be checked yet.
    var left: Int
    var answers: [PageRequest: Result<PageAnswer, PageError>] = [:]
  }

  /// What came of one check.
  private struct Check {
    var result: SecondPageCheck
    /// Whether it was refuted because pages are counted from 0.
    var isFromZero = false
  }

  /// Checks one description; nil when no more may be checked. What descriptions ask for alike is asked
  /// for once, and costs nothing the second time.
  private func check(
    _ pagination: Pagination, _ pages: inout FetchedPages
  ) async throws -> Check? {
    var request: String?
    func done(_ result: SecondPageCheck.Result, _ words: String) -> Check {
      Check(result: SecondPageCheck(result, words, request: request))
    }
    do {
      let home = try Origin(url: first.request.url)
      let engine = try PaginationEngine(pagination, first: first.request, home: home)
      var followed = try FollowedPages(first, by: engine, declared: declared)
      let next = engine.continuation(after: first, itemCount: followed.counts[0])
      if let failure = next.nextFailure { throw failure }
      guard var position = next.next else {
        return done(.undecided, "The first page is the last.")
      }
      var asked = try engine.request(at: position)
      request = try describe(asked, pagination)
      if pages.answers[asked] == nil {
        guard pages.left > 0 else { return nil }
        pages.left -= 1
      }
      if let number = firstNumber(engine) {
        let answer = try? await answer(to: number.request, at: number.position, pagination, &pages)
        if let answer, followed.brings(othersIn: answer) {
          var check = done(
            .refuted, "Page 1 is another page than the one without a number: pages count from 0.")
          check.isFromZero = true
          return check
        }
      }
      var closing = next.closing
      while true {
        let answer = try await answer(to: asked, at: position, pagination, &pages)
        closing = engine.continuation(after: answer, itemCount: 0).closing ?? closing
        let step = followed.judge(answer)
        if case .leads(let further) = step, followed.counts.count < 3 {
          position = further
          asked = try engine.request(at: further)
          continue
        }
        await source(of: pagination).close(at: closing)
        switch step {
        case .refuted(let words): return done(.refuted, words)
        case .undecided(let words): return done(.undecided, words)
        case .leads: return done(.confirmed, followed.words + " it leads on.")
        case .last: return done(.confirmed, followed.words + " it is the last.")
        }
      }
    } catch let error as PageError {
      let refutes = error.refutesDescription
      let words = refutes ? "is refused" : "cannot be had"
      var check = done(refutes ? .refuted : .undecided, "A further page \(words). \(error.message)")
      check.result.request = error.request ?? request
      return check
    }
  }

  /// The request for page 1, where a description that counts pages from 1 only supposes so.
  private func firstNumber(
    _ engine: PaginationEngine
  ) -> (request: PageRequest, position: Position)? {
    guard !isPageOne, engine.routes.count == 1, let route = engine.routes.first,
      case .pageNumber(1, _) = route.next.root, !engine.startsMidway,
      RequestEditor(engine.first).value(at: route.send) == nil
    else { return nil }
    let position = Bookmark(.page(1)).position
    return (try? engine.request(at: position)).map { ($0, position) }
  }

  private func describe(_ request: PageRequest, _ pagination: Pagination) throws -> String {
    try source(of: pagination).listing.get().redactor(for: request)
      .describe(request.method, request.url)
  }

  /// The answer to a request, from before if it was made before.
  private func answer(
    to request: PageRequest, at position: Position, _ pagination: Pagination,
    _ pages: inout FetchedPages
  ) async throws -> PageAnswer {
    if let known = pages.answers[request] { return try known.get().moved(to: position) }
    do {
      let answer = try await source(of: pagination).answer(at: position)
      pages.answers[request] = .success(answer)
      return answer
    } catch let error as PageError {
      pages.answers[request] = .failure(error)
      throw error
    }
  }

  private func source(of pagination: Pagination) -> HTTPPageSource<Item> {
    HTTPPageSource(
      client: client, pagination: pagination, first: first.request, pageSize: nil,
      decoder: decoder, secrets: secrets)
  }
}

extension FollowedPages {
  /// How many items followed.
  fileprivate var words: String {
    let pages = counts.dropFirst().enumerated().map { index, count in
      "\(index == 0 ? "The second page" : "the third") has \(count.counted("item"))"
    }
    return pages.joined(separator: ", ") + ", none of the first page's;"
  }
}

extension PageError {
  /// Whether a page was refused for what was asked, rather than for the time it was asked at.
  fileprivate var refutesDescription: Bool {
    guard let status = response?.status.code else {
      return ![.connectFailed, .timedOut, .truncated].contains(code)
    }
    return ![408, 425, 429, 502, 503, 504].contains(status)
  }
}

extension PageAnswer {
  /// The same answer, as what another description asked for by the same request.
  fileprivate func moved(to position: Position) -> PageAnswer {
    PageAnswer(
      request: request, url: url, status: status, headerFields: headerFields, document: document,
      position: position)
  }
}
