import QuireCore

/// The pages of one description that a check has followed, the first among them.
///
/// Pure. Each page is looked through once; items are told apart by `ItemIdentity`.
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
    try answer.document.values(at: "", inItemsOf: engine.items).map { $0 ?? .null }
  }

  /// Takes in the answer to the request for the next page.
  mutating func judge(_ answer: PageAnswer) -> Step {
    do {
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
      let next = Self.number(position), next != sent + counts[1], next != sent + 1
    else { return nil }
    guard sent == counts[0] || sent == 1 || sent == 2 else { return nil }
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

extension NextSource {
  /// Whether the continuation is a member of an item.
  var isOfItem: Bool {
    switch root {
    case .lastItem, .firstItem, .maxItem: true
    default: false
    }
  }
}
