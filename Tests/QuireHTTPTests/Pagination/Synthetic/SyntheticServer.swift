import HTTPTypes
import QuireCore
import Synchronization

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// Serves a synthetic listing, and refuses every request that is not as its description says.
final class SyntheticServer: HTTPTransport {
  let listing: SyntheticListing
  private let state = Mutex(State())

  private struct State {
    var pages = 0
    var opened = 0
    var closed = 0
    var last = -1
  }

  init(_ listing: SyntheticListing) { self.listing = listing }

  /// How many requests came.
  var requests: Int { state.withLock(\.pages) }

  /// How often the listing was opened, and how often closed.
  var sides: [Int] { state.withLock { [$0.opened, $0.closed] } }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    if let answer = try side(request) { return answer }
    let (isFirst, last) = state.withLock { state in
      state.pages += 1
      return (state.pages == 1, state.last)
    }
    let received = try SyntheticRequest(request, for: listing)
    try received.check(isFirst: isFirst, last: last)
    if isFirst, let index = SyntheticPage(indexOf: listing) { return index.answer() }
    let page = isFirst ? 0 : try received.page()
    state.withLock { $0.last = page }
    if !isFirst, case .status(let status, let condition) = listing.ending,
      !listing.sizes.indices.contains(page)
    {
      return refusal(status, condition)
    }
    return SyntheticPage(listing, page).answer()
  }

  /// The answer to a request beside those for pages; nil for those.
  private func side(_ request: TransportRequest) throws -> TransportResponse? {
    let policy = listing.pagination.policy
    let path = try URLReference(request.url).path
    for (rule, place) in [(policy.open, \State.opened), (policy.close, \State.closed)] {
      guard let rule, request.head.method.rawValue == rule.method else { continue }
      let own = try rule.url.map {
        try URLReference($0).resolved(against: URLReference(listing.url)).path
      }
      guard own ?? path == path else { continue }
      state.withLock { $0[keyPath: place] += 1 }
      return SyntheticPage(listing, -1, isBare: true).answer()
    }
    return nil
  }

  private func refusal(_ status: Int, _ condition: Pagination.Condition?) -> TransportResponse {
    var page = SyntheticPage(listing, listing.sizes.count, isBare: true)
    if let source = condition?.value, let value = condition?.test.example {
      page.plant(value, at: source)
    }
    var response = page.answer()
    response.head.status = HTTPResponse.Status(code: status)
    if status == 204 { response.body = .bytes([]) }
    return response
  }

  /// What a request has that it should not have, or has not.
  struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }
}
