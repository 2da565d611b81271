import QuireCore

extension SecondPageCheck {
  /// What the answer to the second request says, compared with the first.
  ///
  /// Pure. Items are compared whole, and each page is looked through once.
  static func judge(
    _ second: PageAnswer, after first: PageAnswer, by engine: PaginationEngine
  ) -> SecondPageCheck {
    do {
      switch try engine.screen(second) {
      case .failure(let failure):
        let words = failure.message ?? "the server says so"
        return .init(.refuted, "The second request failed: \(words).")
      case .end, .emptyPage:
        return .init(.undecided, "The second request says that the listing is over.")
      case .page: break
      }
      let items = try second.document.values(at: "", inItemsOf: engine.items)
      let known = try Set(first.document.values(at: "", inItemsOf: engine.items))
      return judge(items, known: known, second, by: engine)
    } catch {
      let message = (error as? PageError)?.message ?? "\(error)"
      return .init(.refuted, "The second answer is no such page. \(message)")
    }
  }

  private static func judge(
    _ items: [JSONValue?], known: Set<JSONValue?>, _ second: PageAnswer,
    by engine: PaginationEngine
  ) -> SecondPageCheck {
    let count = items.count.counted("item")
    if items.isEmpty {
      return .init(.undecided, "The second page is empty: there is nothing to compare.")
    }
    let repeated = items.count { known.contains($0) }
    if repeated == items.count, known.count == 1, items.count > 1 || known == [nil] {
      return .init(.undecided, "All items of both pages look alike.")
    }
    if repeated == items.count {
      return .init(
        .refuted, "The second page repeats the first: the server does not heed what was sent.")
    }
    if repeated > engine.pagination.policy.overlap {
      return .init(
        .refuted, "\(repeated) of the \(count) of the second page are on the first, too.")
    }
    let next = engine.continuation(after: second, itemCount: items.count)
    if let position = next.next, position.page == second.position.page,
      !engine.pagination.policy.handle
    {
      return .init(.refuted, "The second page leads to itself.")
    }
    let further = next.next == nil ? "it is the last" : "it leads on"
    return .init(.confirmed, "The second page has \(count), none of the first page's; \(further).")
  }
}
