import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

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
        if var longer = candidate.beyondTotal,
          let check = try await check(longer.pagination, &pages),
          check.result.result == .confirmed
        {
          (longer.check, longer.confidence) = (check.result, .verified)
          longer.doubts.append("what looks like a total counts the items of the page alone")
          detection.candidates.remove(at: index)
          detection.candidates.insert(longer, at: 0)
          return
        }
        // Of what is sure to be the last page, the others need no check.
        if candidate.confidence == .likely { break }
        continue
      }
      guard var check = try await check(candidate.pagination, &pages) else { continue }
      var checked = candidate
      if let other = check.instead, let again = try await self.check(other, &pages) {
        (checked, check) = (candidate.composed(other), again)
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
    /// The description that counts as the server does, where this one was refuted for counting otherwise.
    var instead: Pagination?
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
      if let other = otherCount(pagination, engine, itemCount: followed.counts[0]),
        let probe = try? engine.request(at: other.position)
      {
        let answer = try? await answer(to: probe, at: other.position, pagination, &pages)
        if let answer, followed.brings(othersIn: answer) {
          var check = done(.refuted, other.words)
          check.instead = other.pagination
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
        try await loader(of: pagination).close(at: closing)
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

  /// How a server may count that does not count as a description supposes: pages from 0 and not from 1, or
  /// pages and not items. What is at the position tells: if that has none of the first page's items, it does.
  private func otherCount(
    _ pagination: Pagination, _ engine: PaginationEngine, itemCount: Int
  ) -> (pagination: Pagination, position: Position, words: String)? {
    guard !engine.startsMidway else { return nil }
    var other = pagination
    switch pagination.next {
    case .pageNumber(1, let echo):
      guard !isPageOne, RequestEditor(engine.first).value(at: engine.routes[0].send) == nil else {
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

  /// The answer to a request, from before if it was made before.
  private func answer(
    to request: PageRequest, at position: Position, _ pagination: Pagination,
    _ pages: inout FetchedPages
  ) async throws -> PageAnswer {
    if let known = pages.answers[request] { return try known.get().moved(to: position) }
    do {
      let answer = try await loader(of: pagination).answer(at: position)
      pages.answers[request] = .success(answer)
      return answer
    } catch let error as PageError {
      pages.answers[request] = .failure(error)
      throw error
    }
  }

  private func listing(of pagination: Pagination) throws -> Listing {
    try Listing(client: client, pagination: pagination, first: first.request, secrets: secrets)
  }

  private func loader(of pagination: Pagination) throws -> PageLoader<Item> {
    PageLoader(try listing(of: pagination), decoder)
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
  /// Whether a page was refused because of its request, rather than at that time only.
  fileprivate var refutesDescription: Bool {
    // A limit of use is said by many statuses, 403 among them.
    if [.connectFailed, .timedOut, .truncated, .throttled].contains(code) { return false }
    let passing = RetryPolicy.laterStatuses.union(RetryPolicy.outageStatuses)
    return response.map { !passing.contains($0.status.code) } ?? true
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

/// The pages of one description that a check has followed, the first among them.
///
/// Pure. Each page is read once; items are identified by `ItemIdentity`.
struct FollowedPages {
  /// What the last page says about the description.
  enum Step {
    /// It follows, and leads to another page.
    case leads(to: Position)
    /// It follows, and is the last.
    case last
    case refuted(String)
    case undecided(String)
  }

  let engine: PaginationEngine
  /// How many items there are in all, as the first answer seems to say; nil where it does not.
  private let declared: Int?
  private var identity: ItemIdentity
  /// How many items each page had.
  private(set) var counts: [Int]
  /// The first page's own position and those behind it.
  private var positions: [Position] = []

  init(_ first: PageAnswer, by engine: PaginationEngine, declared: Int?) throws {
    self.engine = engine
    self.declared = declared
    let items = try Self.items(of: first, engine)
    identity = ItemIdentity(items)
    counts = [items.count]
  }

  private static func items(
    of answer: PageAnswer, _ engine: PaginationEngine
  ) throws -> [JSONValue] {
    try answer.document.wholes(ofItemsOf: engine.items)
  }

  /// Takes in the answer to the request for the next page.
  mutating func judge(_ answer: PageAnswer) -> Step {
    do {
      if let unread = answer.document as? UnreadableDocument { throw unread.reason }
      switch try engine.screen(answer) {
      case .failure(let failure):
        return .refuted(
          "The \(ordinal) request failed: \(failure.message ?? "the server says so").")
      case .end, .emptyPage: return over("The \(ordinal) request says that the listing is over.")
      case .page: break
      }
      return judge(try Self.items(of: answer, engine), of: answer)
    } catch {
      let message = (error as? PageError)?.message ?? "\(error)"
      return .refuted("The \(ordinal) answer is no such page. \(message)")
    }
  }

  /// Whether the items of an answer are others than those of the first page, all of them.
  func brings(othersIn answer: PageAnswer) -> Bool {
    guard let items = try? Self.items(of: answer, engine), !items.isEmpty else { return false }
    let verdict = identity.verdict(on: items)
    return verdict.repeated == 0 && verdict.alike == 0
  }

  private mutating func judge(_ items: [JSONValue], of answer: PageAnswer) -> Step {
    if items.isEmpty { return over("The \(ordinal) page is empty: there is nothing to compare.") }
    let verdict = identity.verdict(on: items)
    let count = items.count.counted("item")
    if verdict.repeated == items.count {
      if counts == [1], items.count > 1 || items == [.null] {
        return .undecided("All items of both pages look alike.")
      }
      return .refuted(
        "The \(ordinal) page repeats \(counts.count == 1 ? "the first" : "those before it"): the "
          + "server does not heed what was sent.")
    }
    if verdict.repeated > engine.pagination.policy.overlap {
      return .refuted(
        "\(verdict.repeated) of the \(count) of the \(ordinal) page are on "
          + "\(counts.count == 1 ? "the first" : "those before it"), too.")
    }
    if verdict.alike > 0 {
      return .undecided(
        "\(verdict.alike) of the \(count) of the \(ordinal) page may be those of a page before.")
    }
    let next = engine.continuation(after: answer, itemCount: items.count)
    if let failure = next.nextFailure {
      return .undecided("The \(ordinal) page does not say how to go on. \(failure.message)")
    }
    identity.add(items)
    counts.append(items.count)
    positions.append(answer.position)
    guard let position = next.next else { return end() }
    if position.page == answer.position.page, !engine.pagination.policy.handle {
      return .refuted("The \(Self.ordinals[counts.count - 2]) page leads to itself.")
    }
    if let jump = jump(to: position) { return .refuted(jump) }
    return .leads(to: position)
  }

  /// An answer without items, behind a page that led to it: the end of a listing that is counted, as
  /// such listings have it; elsewhere, a token that was sent to where it means nothing.
  private func over(_ words: String) -> Step {
    let counts = engine.routes.contains { $0.next.isCounter || $0.next.isOfItem }
    guard counts, self.counts.count > 1 else { return .undecided(words) }
    return end()
  }

  private func end() -> Step {
    let seen = counts.reduce(0, +)
    // A link says itself where it leads; a number or a token may be taken for something else.
    let followsLinks = engine.routes.allSatisfy { $0.send == .url || $0.send == .request }
    guard let declared, !followsLinks, !engine.startsMidway, seen < declared else { return .last }
    return .undecided("\(seen) of \(declared) items came before the end: some may be missing.")
  }

  /// Why a number does not lead on from the pages that came: one that counts the items of the first
  /// page has to count those of the second as well, and one that numbers pages goes up by one. A number
  /// that means something else skips items where it is sent, or brings them from anywhere.
  private func jump(to position: Position) -> String? {
    guard positions.count == 1, counts.count == 2, let sent = positions.last.flatMap(Self.number),
      let next = Self.number(position), next != sent.plus(counts[1]), next != sent.plus(1),
      sent == counts[0] || sent == 1 || sent == 2
    else { return nil }
    return
      "The first page leads to \(sent) and the second to \(next): the server takes the number for "
      + "something else."
  }

  private static func number(_ position: Position) -> Int? {
    guard let bookmark = try? Bookmark(position), case .token(let token) = bookmark.target else {
      return nil
    }
    return Int(token.plainText)
  }

  private static let ordinals = ["second", "third", "fourth"]

  /// What the page that is asked for next is called.
  var ordinal: String { Self.ordinals[min(counts.count, Self.ordinals.count) - 1] }
}

extension Pagination.Next {
  /// Whether the continuation is a member of an item.
  var isOfItem: Bool {
    switch root {
    case .lastItem, .firstItem, .maxItem: true
    default: false
    }
  }
}
