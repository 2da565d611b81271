import HTTPTypes
import QuireCore

/// Asks for the second pages that a detection speaks of.
struct DetectionVerifier<Item: Sendable> {
  let client: PageClient
  let first: PageAnswer
  let decoder: LenientPageDecoder<Item>
  /// What the caller calls secret.
  var secrets: [String] = []

  /// Checks candidates from the first on until one is confirmed, or `checks` requests were made.
  ///
  /// What is confirmed comes first, and what is refuted is no more than a guess.
  func verify(_ detection: inout Detection, checks: Int) async throws {
    var pages = SecondPages(left: checks)
    for index in detection.candidates.indices {
      guard detection.candidates[index].leadsOn else {
        // What is sure to be the last page needs no second.
        if detection.candidates[index].confidence == .likely { break }
        continue
      }
      guard let check = try await check(detection.candidates[index].pagination, &pages) else {
        continue
      }
      detection.candidates[index].check = check
      switch check.result {
      case .confirmed:
        detection.candidates[index].confidence = .verified
        let candidate = detection.candidates.remove(at: index)
        detection.candidates.insert(candidate, at: 0)
        return
      case .refuted: detection.candidates[index].confidence = .guess
      case .undecided: if detection.candidates[index].confidence == .likely { return }
      }
    }
    let ranked = detection.candidates.enumerated().sorted {
      ($1.element.confidence, $0.offset) < ($0.element.confidence, $1.offset)
    }
    detection.candidates = ranked.map(\.element)
  }

  /// What came of the requests for second pages.
  private struct SecondPages {
    /// How many may be asked for yet.
    var left: Int
    var answers: [PageRequest: Result<PageAnswer, PageError>] = [:]
  }

  /// Checks one description; nil when it takes one request more than is allowed. What descriptions ask
  /// for alike is asked for once.
  private func check(
    _ pagination: Pagination, _ pages: inout SecondPages
  ) async throws -> SecondPageCheck? {
    var request: String?
    do {
      let home = try Origin(url: first.request.url)
      let engine = try PaginationEngine(pagination, first: first.request, home: home)
      let count = try first.document.values(at: .nowhere, inItemsOf: engine.items).count
      let next = engine.continuation(after: first, itemCount: count)
      if let failure = next.nextFailure { throw failure }
      guard let position = next.next else {
        return SecondPageCheck(.undecided, "The first page is the last.")
      }
      let second = try engine.request(at: position)
      request = try source(of: pagination).listing.get().redactor(for: second)
        .describe(second.method, second.url)
      let known = pages.answers[second] != nil
      guard let answer = try await answer(to: second, at: position, pagination, &pages) else {
        return nil
      }
      if !known { await close(pagination, behind: answer, by: engine, else: next.closing) }
      var check = SecondPageCheck.judge(answer, after: first, by: engine)
      check.request = request
      return check
    } catch let error as PageError {
      // That a page cannot be had just now says nothing about the description.
      return SecondPageCheck(
        .undecided, "The second page cannot be had. \(error.message)",
        request: error.request ?? request)
    }
  }

  /// The answer to a request, from before if it was made before; nil when it may not be made.
  private func answer(
    to request: PageRequest, at position: Position, _ pagination: Pagination,
    _ pages: inout SecondPages
  ) async throws -> PageAnswer? {
    if let known = pages.answers[request] { return try known.get().moved(to: position) }
    guard pages.left > 0 else { return nil }
    pages.left -= 1
    do {
      let answer = try await source(of: pagination).answer(at: position)
      pages.answers[request] = .success(answer)
      return answer
    } catch let error as PageError {
      pages.answers[request] = .failure(error)
      throw error
    }
  }

  /// Closes what the description holds at the server: no third page is asked for.
  private func close(
    _ pagination: Pagination, behind answer: PageAnswer, by engine: PaginationEngine,
    else closing: Position?
  ) async {
    let after = engine.continuation(after: answer, itemCount: 0)
    await source(of: pagination).close(at: after.closing ?? closing)
  }

  private func source(of pagination: Pagination) -> HTTPPageSource<Item> {
    HTTPPageSource(
      client: client, pagination: pagination, first: first.request, pageSize: nil,
      decoder: decoder, secrets: secrets)
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
