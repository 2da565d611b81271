import HTTPTypes
import QuireCore

/// Asks for the second pages that a detection speaks of.
struct DetectionVerifier<Item: Sendable> {
  let client: PageClient
  let first: PageAnswer
  let decoder: LenientPageDecoder<Item>

  /// Checks candidates from the first on until one is confirmed, or `checks` requests were made.
  ///
  /// What is confirmed comes first, and what is refuted is no more than a guess.
  func verify(_ detection: inout Detection, checks: Int) async throws {
    var left = checks
    for index in detection.candidates.indices where left > 0 {
      guard detection.candidates[index].leadsOn else {
        // What is sure to be the last page needs no second.
        if detection.candidates[index].confidence == .likely { break }
        continue
      }
      left -= 1
      let check = try await check(detection.candidates[index].pagination)
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

  private func check(_ pagination: Pagination) async throws -> SecondPageCheck {
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
      let redactor = Redactor(
        fields: client.configuration.headers.appending(second.headerFields),
        urls: [first.request.url, second.url])
      request = redactor.describe(second.method, second.url)
      let source = HTTPPageSource(
        client: client, pagination: pagination, first: first.request, pageSize: nil,
        decoder: decoder)
      let answer = try await source.answer(at: position)
      var check = SecondPageCheck.judge(answer, after: first, by: engine)
      check.request = request
      let after = engine.continuation(after: answer, itemCount: 0)
      await source.close(at: after.closing ?? next.closing)
      return check
    } catch let error as PageError {
      // That a page cannot be had just now says nothing about the description.
      return SecondPageCheck(
        .undecided, "The second page cannot be had. \(error.message)",
        request: error.request ?? request)
    }
  }
}
