import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

/// Verifies the candidates of a detection by loading the second and the third page.
struct DetectionVerifier<Item: Sendable> {
  let client: PageClient
  let first: PageAnswer
  let decoder: LenientPageDecoder<Item>
  /// What the first answer says, and what to search for where no candidate is confirmed.
  let detector: PaginationDetector
  /// The secrets that the caller declared.
  var secrets: [String] = []

  /// Checks candidates in order until one is confirmed or `checks` of them were checked.
  ///
  /// A confirmed candidate moves to the front, a refuted one becomes a guess, and an undecided one
  /// is no longer likely.
  func verify(_ detection: inout Detection, checks: Int) async throws {
    var pages = FetchedPages(left: checks)
    // What something speaks for is asked for before guesses.
    var isDecided = false
    for index in Self.ranking(detection.candidates) where !isDecided {
      switch try await verify(
        detection.candidates[index], before: detection.candidates[..<index], &pages)
      {
      case .confirmed(let candidate):
        detection.candidates.remove(at: index)
        detection.candidates.insert(candidate, at: 0)
        return
      case .decided(let candidate):
        detection.candidates[index] = candidate
        isDecided = true
      case .open(let candidate): detection.candidates[index] = candidate
      }
    }
    detection.candidates = Self.ranking(detection.candidates).map { detection.candidates[$0] }
    guard checks > 1, !isDecided, let found = try await found(&pages) else { return }
    detection.candidates.insert(found, at: 0)
  }

  /// The places of candidates, the surest first, and otherwise in their order.
  private static func ranking(_ candidates: [DetectedPagination]) -> [Int] {
    candidates.indices.sorted {
      (candidates[$1].confidence, $0) < (candidates[$0].confidence, $1)
    }
  }

  /// What the pages behind the first say of a candidate.
  private enum Verdict {
    case confirmed(DetectedPagination)
    /// No other candidate is checked.
    case decided(DetectedPagination)
    case open(DetectedPagination)
  }

  private func verify(
    _ candidate: DetectedPagination, before: ArraySlice<DetectedPagination>,
    _ pages: inout FetchedPages
  ) async throws -> Verdict {
    var checked = candidate
    guard candidate.leadsOn else {
      if let longer = try await verified(beyondTotalOf: candidate, &pages) {
        return .confirmed(longer)
      }
      if detector.fillsItsSize, candidate.beyondTotal != nil {
        checked.confidence = min(candidate.confidence, .possible)
        checked.doubts.append(
          "what looks like a total is as many as were asked for, and may count this page alone")
        return .open(checked)
      }
      // If this is surely the last page, the other candidates need no check.
      return candidate.confidence == .likely ? .decided(candidate) : .open(candidate)
    }
    guard let (whole, check) = try await settled(candidate.pagination, &pages) else {
      // Where one way to count was refuted, another one is a guess until it is asked for.
      if candidate.pagination.next.isCounter,
        before.contains(where: { other in
          other.pagination.next.isCounter && other.check?.result == .refuted
        })
      {
        checked.confidence = .guess
      }
      return .open(checked)
    }
    if whole != candidate.pagination { checked = candidate.composed(whole) }
    checked.check = check.result
    switch check.result.result {
    case .confirmed:
      checked.confidence = .verified
      return .confirmed(checked)
    case .refuted: checked.confidence = .guess
    case .undecided: checked.confidence = min(candidate.confidence, .possible)
    }
    // Where a listing ends too soon, another description may read the rest.
    let isDecided =
      check.result.result == .undecided && candidate.confidence == .likely && !check.fallsShort
    return isDecided ? .decided(checked) : .open(checked)
  }

  /// The check of a description, or of the one that it leads to: a listing may count in another way,
  /// and end in another way as well. Nil if no more may be checked.
  func settled(
    _ pagination: Pagination, _ pages: inout FetchedPages
  ) async throws -> (pagination: Pagination, check: Check)? {
    guard var check = try await check(pagination, &pages) else { return nil }
    var pagination = pagination
    for _ in 0..<2 {
      guard let other = check.instead, let again = try await self.check(other, &pages) else {
        break
      }
      (pagination, check) = (other, again)
    }
    return (pagination, check)
  }

  /// The answers to requests for further pages.
  struct FetchedPages {
    /// How many candidates may still be checked.
    var left: Int
    var answers: [PageRequest: Result<PageAnswer, PageError>] = [:]
  }

  /// The candidate that ignores the total of another one, if it is confirmed.
  private func verified(
    beyondTotalOf candidate: DetectedPagination, _ pages: inout FetchedPages
  ) async throws -> DetectedPagination? {
    guard var longer = candidate.beyondTotal,
      let check = try await check(longer.pagination, &pages), check.result.result == .confirmed
    else { return nil }
    (longer.check, longer.confidence) = (check.result, .verified)
    longer.doubts.append("what looks like a total counts the items of the page alone")
    return longer
  }

  /// The result of one check.
  struct Check {
    var result: SecondPageCheck
    /// The description that counts as the server does, if this one was refuted for counting
    /// differently.
    var instead: Pagination?
    /// Whether the listing ended before it had as many items as it declares.
    var fallsShort = false
  }

  /// Checks one description; nil if no more may be checked. Equal requests of several descriptions
  /// are made once and count once.
  private func check(
    _ pagination: Pagination, _ pages: inout FetchedPages
  ) async throws -> Check? {
    var request: String?
    do {
      let engine = try engine(of: pagination)
      var followed = try FollowedPages(first, by: engine, declared: detector.declaredItems)
      let next = engine.continuation(after: first, itemCount: followed.counts[0])
      if let failure = next.nextFailure { throw failure }
      guard let position = next.next else {
        return Check(result: SecondPageCheck(.undecided, "The first page is the last."))
      }
      let asked = try engine.request(at: position)
      request = try describe(asked, pagination)
      if pages.answers[asked] == nil {
        guard pages.left > 0 else { return nil }
        pages.left -= 1
      }
      var check = try await otherCount(than: followed, pagination, &pages)
      if check == nil {
        check = try await follow(
          from: position, closing: next.closing, &followed, pagination, &pages)
        check?.fallsShort = followed.fallsShort
      }
      check?.result.request = request
      return check
    } catch let error as PageError {
      let refutes = error.refutesDescription
      let words = refutes ? "is refused" : "cannot be had"
      return Check(
        result: SecondPageCheck(
          refutes ? .refuted : .undecided, "A further page \(words). \(error.message)",
          request: error.request ?? request))
    }
  }

  /// Loads the pages from `start` on until they decide on the description.
  private func follow(
    from start: Position, closing: Position?, _ followed: inout FollowedPages,
    _ pagination: Pagination, _ pages: inout FetchedPages
  ) async throws -> Check {
    var (position, closing) = (start, closing)
    while true {
      let asked = try followed.engine.request(at: position)
      let answer: PageAnswer
      do {
        answer = try await self.answer(to: asked, at: position, pagination, &pages)
      } catch let error as PageError where followed.counts.count > 1 && error.refutesDescription {
        // The page before was right, so it is not the description that is refused.
        if pagination.ends(by: error), case .last = followed.over(error.message) {
          return Check(
            result: SecondPageCheck(
              .confirmed, followed.words + " behind it is none, as the server says."))
        }
        return Check(
          result: SecondPageCheck(.undecided, "A further page is refused. \(error.message)"),
          instead: error.endsPages(of: pagination))
      }
      closing = followed.engine.continuation(after: answer, itemCount: 0).closing ?? closing
      let step = followed.judge(answer)
      if case .leads(let further) = step, followed.counts.count < 3 {
        position = further
        continue
      }
      try await loader(of: pagination).close(at: closing)
      return switch step {
      case .refuted(let words):
        Check(
          result: SecondPageCheck(.refuted, words),
          instead: followed.beginsWithTheLast ? pagination.countedFromOne : nil)
      case .undecided(let words): Check(result: SecondPageCheck(.undecided, words))
      case .leads:
        Check(result: SecondPageCheck(.confirmed, followed.words + " another page follows."))
      case .last: Check(result: SecondPageCheck(.confirmed, followed.words + " it is the last."))
      }
    }
  }

  /// The refutation of a description, if the server counts in another way.
  private func otherCount(
    than followed: FollowedPages, _ pagination: Pagination, _ pages: inout FetchedPages
  ) async throws -> Check? {
    guard
      let other = otherCount(pagination, followed.engine, itemCount: followed.counts[0]),
      let probe = try? followed.engine.request(at: other.position),
      let answer = try? await answer(to: probe, at: other.position, pagination, &pages),
      followed.brings(othersIn: answer)
    else { return nil }
    return Check(result: SecondPageCheck(.refuted, other.words), instead: other.pagination)
  }

  /// Another way in which the server may count: pages from 0 instead of 1, or pages instead of
  /// items. It is right if the page at that position has no items of the first page.
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

  /// The answer to a request, which is made only once.
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
  /// The pages that followed, in words.
  fileprivate var words: String {
    let pages = counts.dropFirst().enumerated().map { index, count in
      "\(index == 0 ? "The second page" : "the third") has \(count.counted("item"))"
    }
    return pages.joined(separator: ", ") + ", none of the first page's;"
  }
}

extension Pagination {
  /// Whether the description takes a refusal for the end.
  fileprivate func ends(by error: PageError) -> Bool {
    guard let status = error.response?.status.code else { return false }
    return end.contains { rule in
      if case .status(let codes, nil) = rule { codes.contains(status) } else { false }
    }
  }

  /// The description with its items counted from 1, if it counts them from 0.
  fileprivate var countedFromOne: Pagination? {
    guard case .offset(0, .itemsReturned) = next else { return nil }
    var other = self
    other.next = .offset(first: 1)
    return other
  }
}

extension PageError {
  /// The description that takes this refusal for the end, where a page that does not exist is all that
  /// can end it; see `Pagination.ends(by:)`.
  fileprivate func endsPages(of pagination: Pagination) -> Pagination? {
    guard let status = response?.status.code, [404, 416].contains(status),
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
  /// The same answer at the position of another description that made the same request.
  fileprivate func moved(to position: Position) -> PageAnswer {
    PageAnswer(
      request: request, url: url, status: status, headerFields: headerFields, document: document,
      position: position)
  }
}

/// The pages that a check has loaded by one description, including the first.
///
/// Pure. Each page is read once; items are identified by `ItemIdentity`.
struct FollowedPages {
  /// The verdict of the latest page on the description.
  enum Step {
    /// The page follows the first one, and another follows it.
    case leads(to: Position)
    /// The page follows the first one, and is the last.
    case last
    case refuted(String)
    case undecided(String)
  }

  let engine: PaginationEngine
  /// The number of items in the listing, if the first answer seems to declare it.
  private let declared: Int?
  private var identity: ItemIdentity
  /// The number of items of each page.
  private(set) var counts: [Int]
  /// The positions of the pages after the first.
  private var positions: [Position] = []
  /// The number of items by the description's own total, which a walk compares with what came.
  private var announced: Int?
  /// Whether the listing ended before it had as many items as it declares.
  private(set) var fallsShort = false
  /// Whether the second page repeats one item of the first and no more: its last one, if the server
  /// counts from 1.
  private(set) var beginsWithTheLast = false

  init(_ first: PageAnswer, by engine: PaginationEngine, declared: Int?) throws {
    self.engine = engine
    self.declared = declared
    let items = try Self.items(of: first, engine)
    identity = ItemIdentity(items)
    counts = [items.count]
    note(engine.continuation(after: first, itemCount: items.count).total)
  }

  private mutating func note(_ total: Total?) {
    if let total, total.kind == .items { announced = total.value }
  }

  static func items(
    of answer: PageAnswer, _ engine: PaginationEngine
  ) throws -> [JSONValue] {
    try answer.document.wholes(ofItemsOf: engine.items)
  }

  /// Judges the answer to the request for the next page.
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

  /// Whether an answer has items, and none of the first page's.
  func brings(othersIn answer: PageAnswer) -> Bool {
    guard let items = try? Self.items(of: answer, engine), !items.isEmpty else { return false }
    let verdict = identity.verdict(on: items)
    return verdict.repeated == 0 && verdict.alike == 0
  }

  private mutating func judge(_ items: [JSONValue], of answer: PageAnswer) -> Step {
    if items.isEmpty { return over("The \(ordinal) page is empty: there is nothing to compare.") }
    let verdict = identity.verdict(on: items)
    let count = items.count.counted("item")
    beginsWithTheLast = counts.count == 1 && counts[0] > 1 && verdict.repeated == 1
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
    note(next.total)
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

  /// Judges an answer without items. After a page of a counted listing it is the end; after a token
  /// it may mean that the token was sent to the wrong place.
  fileprivate mutating func over(_ words: String) -> Step {
    let counts = engine.routes.contains { $0.next.isCounter || $0.next.isOfItem }
    guard counts, self.counts.count > 1 else { return .undecided(words) }
    return end()
  }

  private mutating func end() -> Step {
    let seen = counts.reduce(0, +)
    // A link cannot be misread; a number or a token can be taken for something else. Nor is a walk whole
    // that ends before its own total.
    let followsLinks = engine.routes.allSatisfy { $0.send == .url || $0.send == .request }
    guard let declared = followsLinks ? announced : declared, !engine.startsMidway,
      seen < declared
    else { return .last }
    fallsShort = true
    return .undecided("\(seen) of \(declared) items came before the end: some may be missing.")
  }

  /// Why a number is not the continuation: one that counts items has to grow by the items of the
  /// second page, and one that numbers pages by one. Other numbers skip items or jump anywhere.
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

  /// The ordinal of the next page, in words.
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
