import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

/// Groups of descriptions that differ in the name of one query parameter, for listings where
/// neither a preset nor the answer reveals the name.
///
/// Most servers ignore unknown parameters, so one request can send all names of a group:
/// `?offset=20&skip=20&startRow=20`. A group has no two names that differ only in case, and no
/// `page[number]` beside `page`, because servers read these as one parameter.
extension PaginationDetector {
  /// The groups to try, the likeliest first; none if the answer gives no reason to expect a further
  /// page.
  var searches: [[Pagination]] {
    guard placeholders.isEmpty, isSearchable,
      let place = lists.first, let count = outline.countedList(vocabulary)?.count, count > 1,
      declaredItems != nil || signs.contains(where: { $0.saysMore(vocabulary) }) || mayBeFull
    else { return [] }
    let items = items(at: place)
    // A total that the first page reaches may count that page alone.
    let numbered = {
      self.numbered(items, first: self.firstPage, $0).withoutTotal(self.declaredItems)
    }
    let counted = {
      self.counted(items, first: self.firstOffset, $0).withoutTotal(self.declaredItems)
    }
    let tokens = signs.filter { $0.isContinuation && !$0.isLink && $0.value != nil }
      .compactMap(\.source)
    let groups =
      tokens.prefix(2).flatMap { next in
        [
          relatives(named: Self.cursors + Self.tokens).map { continued(items, by: next, $0) },
          group(Self.cursors + Self.tokens) { continued(items, by: next, $0) },
        ]
      } + [
        group(Self.offsets, counted), group(Self.pages, numbered),
        group(Self.familyOffsets, counted) + group(Self.familyPages, numbered),
        group(Self.ambiguousOffsets, counted),
      ]
      + [Self.cursors, Self.backwardCursors].map { names in
        lastKey(in: place).map { key in
          group(names) { continued(items, by: .lastItem(key), $0) }
        } ?? []
      }
    return groups.filter { !$0.isEmpty }
  }

  /// Whether parameters can be added to the request: not to one that is answered by a part that was
  /// not asked for, which a walk refuses.
  private var isSearchable: Bool {
    guard !isUnaskedPart else { return false }
    return switch answer.request.body {
    case .none: answer.request.method == .get
    case .json(.object): answer.request.method == .post
    default: false
    }
  }

  /// Returns a description for each name that the request does not have yet, capitalized if the
  /// answer capitalizes its names.
  private func group(
    _ names: [String], _ description: (Pagination.Placement) -> Pagination
  ) -> [Pagination] {
    let isJSON = answer.request.body != .none
    return names.filter { !isJSON || !$0.contains("[") }
      .map { placement(writesCapitals ? $0.capitalizedFirst : $0) }
      .filter { sent.value(at: $0) == nil }.map(description)
  }

  private func continued(
    _ items: Pagination.Items, by next: Pagination.Next, _ send: Pagination.Placement
  ) -> Pagination {
    let end = flags(beside: items) + sentinels(of: next)
    return Pagination(
      next: next, send: send, request: Pagination.RequestRule(isQuery: isPost),
      end: next.itemPath != nil ? end + [.emptyPage] : end, items: items,
      total: itemTotal)
  }

  /// Returns the path, in an item, of the member that most likely identifies the item's place: a
  /// cursor, or else an identifier.
  private func lastKey(in list: PagePath) -> PagePath? {
    Self.keyEndings.lazy.compactMap { ending in
      itemMember(in: list) { node in
        node.kind == .scalar && PaginationVocabulary.normalized(node.name).hasSuffix(ending)
      }
    }.first
  }

  private static let keyEndings = ["cursor", "token", "id", "key", "hash", "seq", "signature"]

  // MARK: Names

  private static let offsets = [
    "offset", "skip", "_skip", "$skip", "_start", "startRow", "start_row", "rowStart",
    "startIndex", "start_index", "startAt", "start_at", "startPosition", "start_position",
    "startRecord", "startItem", "firstResult", "first_result", "first_row", "resultOffset",
    "recordOffset", "skipCount", "iDisplayStart", "ofs", "offsetStart", "start-index", "_offset",
    "start_record",
  ]
  private static let pages = [
    "page", "p", "_page", "pageNumber", "page_number", "page-number", "pageNo", "page_no",
    "pageNum", "page_num", "pageNr", "pageIndex", "page_index", "currentPage", "current_page",
    "curPage", "paged", "pg", "pn", "pageId", "startPage", "page.number",
  ]
  private static let familyOffsets = [
    "page[offset]", "page[from]", "page[start]", "page[skip]", "pagination[offset]",
    "pagination[start]", "filter[offset]", "filter[skip]",
  ]
  private static let familyPages = [
    "page[number]", "page[page]", "pagination[page]", "paging[page]", "filter[page]",
  ]
  /// Names of offsets that are just as often names of filters.
  private static let ambiguousOffsets = ["from", "start", "begin", "index", "position", "pos"]
  private static let cursors = [
    "cursor", "after", "starting_after", "startingAfter", "start_after", "startAfter", "after_id",
    "afterId", "last_id", "lastId", "last_key", "lastKey", "since_id", "sinceId", "from_id",
    "fromId",
    "marker", "page_token", "pageToken", "page_key", "pageKey", "next_token", "nextToken", "token",
    "last_seen", "lastSeen", "start_key", "exclusiveStartKey",
  ]
  private static let backwardCursors = [
    "before", "before_id", "beforeId", "ending_before", "endingBefore", "max_id", "maxId", "until",
    "until_id", "untilId",
    "older_than", "olderThan",
  ]
  private static let tokens = [
    "next", "next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_page",
    "nextPage", "continuation", "continuation_token", "continuationToken", "continue",
    "pagination_token", "paginationToken", "page_cursor", "pageCursor", "search_after",
    "searchAfter", "scroll_id", "scrollId", "bookmark", "anchor", "state", "until", "since", "from",
    "start", "key", "offset", "page", "skip", "skip_token", "skipToken", "$skiptoken",
    "resumptionToken", "cursorMark", "pos",
  ]
}

extension DetectorSign {
  /// The place of a token as a continuation; nil for other signs.
  fileprivate var source: Pagination.Next? {
    switch kind {
    case .field: .header(place)
    case .token: (try? PagePath(place)).map { .body($0) }
    case .link, .flag, .total, .pages: nil
    }
  }
}

extension DetectionVerifier {
  /// Searches for the parameter that the server heeds. Returns the first description that is not
  /// refuted; nil if there is none.
  func searched(_ pages: inout FetchedPages) async throws -> DetectedPagination? {
    for group in detector.searches {
      guard let heeded = try await effectiveParameter(of: group) else { continue }
      var ways = [heeded]
      if let other = heeded.overlappingStart { ways.append(other) }
      var whole: Pagination?
      for way in ways where whole == nil {
        if try await skipsNoItems(way) { whole = way }
      }
      guard let pagination = whole else { continue }
      pages.left += 1
      guard let (whole, check) = try await corrected(pagination, &pages),
        check.result.result != .refuted,
        let request = try second(by: whole, try followed(by: whole))
      else { continue }
      return DetectedPagination(
        preset: nil, items: nil, pagination: whole,
        confidence: check.result.result == .confirmed ? .verified : .possible,
        evidence: ["of \(group.count) parameters, the server heeds this one"], doubts: [],
        alternatives: [], check: check.result, swift: whole.swift, next: .next(request))
    }
    return nil
  }

  /// Returns the description whose parameter the server heeds, by halving the group; nil if it
  /// heeds none.
  private func effectiveParameter(of group: [Pagination]) async throws -> Pagination? {
    guard try await returnsNewItems(group[...]) else { return nil }
    var rest = group[...]
    while rest.count > 1 {
      let half = rest.prefix((rest.count + 1) / 2)
      rest = try await returnsNewItems(half) ? half : rest.dropFirst(half.count)
    }
    return rest.first
  }

  /// Whether a request with all of the parameters brings only items that the first page does not
  /// have.
  private func returnsNewItems(_ descriptions: ArraySlice<Pagination>) async throws -> Bool {
    guard let one = descriptions.first else { return false }
    do {
      let followed = try followed(by: one)
      var request = RequestEditor(first.request)
      for pagination in descriptions {
        guard let second = try second(by: pagination, followed) else { continue }
        let sent = RequestEditor(second)
        switch pagination.send {
        case .query(let name, _):
          guard let pair = sent.query.pairs.last(where: { $0.name == name }) else { continue }
          request.query.set(name, encoded: pair.encoded)
        case .jsonBody(let path):
          guard let value = sent.value(at: pagination.send) else { continue }
          try request.setBody(value, at: path)
        default: continue
        }
      }
      return followed.hasOnlyNewItems(
        try await answer(to: try request.request()),
        overlap: one.overlappingStart == nil ? 0 : 1)
    } catch is PageError {
      // A server that refuses unknown parameters cannot be asked with many names at once.
      return false
    }
  }

  /// Whether the description skips no items: asked to continue after the first page's second last
  /// item, the server must begin with the last one. It does not if it takes the value for something
  /// else.
  private func skipsNoItems(_ pagination: Pagination) async throws -> Bool {
    do {
      let engine = try engine(of: pagination)
      let items = try FollowedPages.items(of: first, engine)
      let target: Bookmark.Target
      switch pagination.next {
      case .offset(let start, _): target = .offset(start + items.count - 1)
      case .lastItem(let path):
        // An overlapping page begins with the item that was asked for.
        let place = items.count - 2 + pagination.policy.overlap
        guard items.indices.contains(place), let key = items[place].value(at: path) else {
          return false
        }
        target = .token(key)
      default: return true
      }
      let answer = try await answer(to: try engine.builder.request(at: Bookmark(target).position))
      let further = try FollowedPages.items(of: answer, engine).prefix(1)
      return ItemIdentity(Array(items.suffix(1))).verdict(on: Array(further)).repeated == 1
    } catch is PageError {
      return false
    }
  }

  /// Returns the answer to a request, without retries: a refused request would be refused again.
  func answer(to request: PageRequest) async throws -> PageAnswer {
    var client = client
    client.configuration.retry = .never
    let listing = try Listing(
      client: client, pagination: Pagination(next: .linkHeader), first: request, secrets: secrets)
    return try await PageLoader(listing, decoder).answer(at: nil)
  }

  private func followed(by pagination: Pagination) throws -> FollowedPages {
    try FollowedPages(first, by: try engine(of: pagination), declared: detector.declaredItems)
  }

  /// Returns the request for the second page; nil if the first is the last.
  private func second(by pagination: Pagination, _ followed: FollowedPages) throws -> PageRequest? {
    let engine = try engine(of: pagination)
    let position = engine.finder.continuation(after: first, itemCount: followed.counts[0]).next
    return try position.map { try engine.builder.request(at: $0) }
  }

  func engine(of pagination: Pagination) throws -> PaginationEngine {
    try PaginationEngine(pagination, first: first.request, home: detector.home)
  }
}
