import QuireCore
import QuirePagination

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
  /// The placement of the page size in the first request, if the first page has as many items.
  private let size: Pagination.Placement?
  /// The number of items of each page.
  private(set) var counts: [Int]
  /// The positions of the pages after the first.
  private var positions: [Position] = []
  /// The number of items by the description's own total, which a walk compares with the number of
  /// items received; nil if no page had it.
  private var describedTotal: Int?
  /// Whether the listing ended before it had as many items as it declares.
  private(set) var endsBeforeTotal = false
  /// Whether the second page repeats exactly one item of the first: its last item, if the server
  /// counts from 1.
  private(set) var beginsWithLastItem = false

  init(_ first: PageAnswer, by engine: PaginationEngine, declared: Int?) throws {
    self.engine = engine
    self.declared = declared
    let items = try Self.items(of: first, engine)
    identity = ItemIdentity(items)
    counts = [items.count]
    size =
      PaginationDetector.parameters(of: RequestEditor(first.request))
      .first { PaginationDetector.sizes.contains($0.name) && $0.value.integer == items.count }?
      .placement
    note(engine.finder.continuation(after: first, itemCount: items.count).total)
  }

  private mutating func note(_ total: Total?) {
    if let total, total.kind == .items { describedTotal = total.value }
  }

  static func items(
    of answer: PageAnswer, _ engine: PaginationEngine
  ) throws -> [JSONValue] {
    try answer.document.contents(ofItems: engine.items)
  }

  /// Judges the answer to the request for the next page.
  mutating func judge(_ answer: PageAnswer) -> Step {
    do {
      if let unread = answer.document as? UnreadableDocument { throw unread.reason }
      switch try engine.reader.classify(answer) {
      case .failure(let failure):
        return .refuted(
          "The \(ordinal) request failed: \(failure.message ?? "the server says so").")
      case .end, .emptyPage:
        return endWithoutItems("The \(ordinal) request says that the listing is over.")
      case .page: break
      }
      return judge(try Self.items(of: answer, engine), of: answer)
    } catch {
      let message = (error as? PageError)?.message ?? "\(error)"
      return .refuted("The \(ordinal) answer is no such page. \(message)")
    }
  }

  /// Whether an answer has items, and none of them is on the pages so far, except for the first
  /// `overlap` items.
  func hasOnlyNewItems(_ answer: PageAnswer, overlap: Int = 0) -> Bool {
    guard let items = try? Self.items(of: answer, engine), items.count > overlap else {
      return false
    }
    let verdict = identity.verdict(on: items)
    return verdict.repeated <= overlap && verdict.similar == 0
  }

  private mutating func judge(_ items: [JSONValue], of answer: PageAnswer) -> Step {
    if items.isEmpty {
      return endWithoutItems("The \(ordinal) page is empty: there is nothing to compare.")
    }
    let verdict = identity.verdict(on: items)
    let count = items.count.counted("item")
    beginsWithLastItem = counts.count == 1 && counts[0] > 1 && verdict.repeated == 1
    if items.count == verdict.repeated, items.count <= engine.pagination.policy.overlap {
      return endWithoutItems("The \(ordinal) page has only what the one before has.")
    }
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
    if let left = droppedSize(in: answer), items.count > counts[0] {
      return .undecided(
        "The next link leaves out \(left) of the first request, and numbers pages of \(count): those "
          + "between may be missing.")
    }
    if verdict.similar > 0 {
      return .undecided(
        "\(verdict.similar) of the \(count) of the \(ordinal) page may be those of a page before.")
    }
    let next = engine.finder.continuation(after: answer, itemCount: items.count)
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

  /// Judges an answer without items, after which no page follows. In a counted listing it is the
  /// end if a second page came before; otherwise it decides nothing, because a token may have been
  /// sent to the wrong place.
  mutating func endWithoutItems(_ words: String) -> Step {
    let counts = engine.routes.contains { $0.next.isCounter || $0.next.itemPath != nil }
    guard counts, self.counts.count > 1 else { return .undecided(words) }
    return end()
  }

  /// The number of items that came.
  private var seen: Int {
    counts.reduce(0, +) - (counts.count - 1) * engine.pagination.policy.overlap
  }

  /// Whether more items came than the description's own total, which then counts something else.
  var exceedsTotal: Bool { describedTotal.map { seen > $0 } ?? false }

  private mutating func end() -> Step {
    // A link cannot be misread, so a total of uncertain meaning does not count against it. A walk
    // that ends before the description's own total is incomplete in any case.
    let followsLinks = engine.routes.allSatisfy { $0.send == .url || $0.send == .request }
    guard let declared = followsLinks ? describedTotal : declared, !engine.startsMidway,
      seen < declared
    else { return .last }
    endsBeforeTotal = true
    return .undecided("\(seen) of \(declared) items came before the end: some may be missing.")
  }

  /// Returns the page size in words that the first request has and the second does not, if the
  /// second has the number of a page; nil otherwise.
  private func droppedSize(in answer: PageAnswer) -> String? {
    let sent = RequestEditor(answer.request)
    let vocabulary = PaginationVocabulary.shared
    guard counts.count == 1, let size, sent.value(at: size) == nil,
      PaginationDetector.parameters(of: sent).contains(where: {
        vocabulary.pageNames.contains($0.name) && $0.value.integer != nil
      })
    else { return nil }
    return size.place
  }

  /// Returns the reason why the number that the pages lead to is no continuation; nil if it may be
  /// one. An offset has to grow by the items of the second page, and a page number by one. Other
  /// numbers skip items or jump anywhere.
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

extension FollowedPages {
  /// The pages after the first one in words, as the beginning of a sentence.
  var words: String {
    let pages = counts.dropFirst().enumerated().map { index, count in
      "\(index == 0 ? "The second page" : "the third") has \(count.counted("item"))"
    }
    return pages.joined(separator: ", ") + ", none of the first page's;"
  }
}
