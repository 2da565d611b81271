import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

/// The end of a listing, which a check of three pages does not see: requests a page behind it.
extension DetectionVerifier {
  /// Returns the description of counted pages without the total that ends it, if the server has items
  /// behind the page that the total makes the last: it counts something else, or pages from 0.
  func removingContradictedTotal(from pagination: Pagination) async throws -> Pagination {
    let engine = try engine(of: pagination)
    let list = list(of: engine)
    let known = try first.document.contents(ofItems: list)
    let count = known.count
    guard !engine.startsMidway, count > 0, let total = detector.declaredEnd(of: pagination),
      let last = pagination.lastPage(of: total, itemsOnPage: count),
      let behind = try await items(list, on: last.plus(1), by: engine, itemsOnPage: count),
      behind.contains(where: { !$0.isBlank }),
      // Some servers have the last page again behind it, and some the first.
      let before = try await items(list, on: last, by: engine, itemsOnPage: count)
    else { return pagination }
    let verdict = ItemIdentity(known + before).verdict(on: behind)
    return verdict.repeated + verdict.similar > 0 ? pagination : pagination.withoutEndTotals
  }

  /// The list with the items of the first page. Of several that a description names, the others say
  /// nothing about the end of this one.
  private func list(of engine: PaginationEngine) -> Pagination.Items {
    guard engine.items.takesFirst else { return engine.items }
    return engine.items.paths.lazy.map(Pagination.Items.path).first { list in
      (try? first.document.contents(ofItems: list))?.isEmpty == false
    } ?? engine.items
  }

  /// Returns the items of a page by its number from 0; nil if it cannot be read.
  private func items(
    _ list: Pagination.Items, on page: Int, by engine: PaginationEngine, itemsOnPage count: Int
  ) async throws -> [JSONValue]? {
    let target: Bookmark.Target =
      switch engine.pagination.next {
      case .offset(let start, _): .offset(start.plus(page * count))
      default: .page(page.plus(engine.pagination.next.firstCount ?? 0))
      }
    do {
      let request = try engine.builder.request(at: Bookmark(target).position)
      return try await answer(to: request).document.contents(ofItems: list)
    } catch is PageError {
      return nil
    }
  }

  /// Returns the description of counted pages with an end rule for what the server sends after the
  /// last page: no page, or the last page again. Requests a page far behind the end, unless the
  /// answers declare the end.
  func addingEndRule(to pagination: Pagination) async throws -> Pagination {
    let engine = try engine(of: pagination)
    let count = try FollowedPages.items(of: first, engine).count
    guard let position = pagination.positionBeyondEnd,
      engine.finder.continuation(after: first, itemCount: count).total == nil
    else { return pagination }
    var other = pagination
    do {
      let answer = try await answer(to: try engine.builder.request(at: position))
      let further = try FollowedPages.items(of: answer, engine).count
      // A full page may be one of a listing that long, or of a server that counts no further.
      guard further > 0, further < count else { return pagination }
      other.end.append(.noNewItems())
    } catch let error as PageError {
      guard let status = error.missingPageStatus else { return pagination }
      other.end.append(.status([status]))
    }
    return other
  }
}

extension Pagination {
  /// The description without the totals that end it; empty pages end it instead.
  fileprivate var withoutEndTotals: Pagination {
    var longer = self
    longer.end.removeAll { if case .total = $0 { true } else { false } }
    if !longer.end.contains(.emptyPage) { longer.end.append(.emptyPage) }
    longer.total = nil
    return longer
  }

  /// The number from 0 of the page that a total makes the last, if pages are counted by number or by
  /// items; nil otherwise, and for a total beyond what a server would have.
  fileprivate func lastPage(
    of total: (kind: Total.Kind, count: Int), itemsOnPage count: Int
  ) -> Int? {
    guard (1...1_000_000_000).contains(total.count) else { return nil }
    return switch (next, total.kind) {
    case (.pageNumber, .pages): total.count - 1
    case (.pageNumber, .items), (.offset(_, .itemsReturned), .items): (total.count - 1) / count
    default: nil
    }
  }

  /// The position of a page that hardly any listing has; nil if pages are not counted, or another rule
  /// ends them.
  fileprivate var positionBeyondEnd: Position? {
    let saysEnd = end.contains { rule in
      switch rule {
      case .emptyPage, .shortPage, .total: false
      default: true
      }
    }
    guard !saysEnd else { return nil }
    return switch next {
    case .pageNumber: Bookmark(.page(1_000_000)).position
    case .offset: Bookmark(.offset(1_000_000)).position
    default: nil
    }
  }
}

extension PageError {
  /// The status, if it says that the page does not exist; nil for other statuses.
  var missingPageStatus: Int? {
    response.map(\.status.code).flatMap { [204, 404, 410, 416].contains($0) ? $0 : nil }
  }
}
