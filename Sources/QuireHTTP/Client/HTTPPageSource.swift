import HTTPTypes
import Logging
import QuireCore

/// The pages of one listing over HTTP: asks the description what to request, the transport to send
/// it, the decoder to read it, and the retry machine whether to do so again.
struct HTTPPageSource<Item: Sendable>: PartedPageSource {
  private let client: PageClient
  private let decoder: any PageDecoder<Item>
  /// A description or a URL that cannot work is thrown at the first page, where the caller is
  /// listening.
  private let setup: Result<Setup, PageError>

  private struct Setup: Sendable {
    let engine: PaginationEngine
    let home: Origin
    let secrets: SecretParameters
    let isRepeatable: Bool
  }

  init(
    client: PageClient, pagination: Pagination, first: PageRequest, pageSize: Int?,
    decoder: any PageDecoder<Item>
  ) {
    self.client = client
    self.decoder = decoder
    setup = Result { () throws(PageError) -> Setup in
      let home = try Origin(url: first.url)
      let engine = try PaginationEngine(pagination, first: first, home: home, pageSize: pageSize)
      for notice in engine.notices { client.configuration.logger.warning("\(notice)") }
      return Setup(
        engine: engine, home: home, secrets: SecretParameters(of: first.url),
        isRepeatable: first.method.isSafe || pagination.request.isQuery)
    }
  }

  var repeatedPositions: RepeatedPositions {
    (try? setup.get())?.engine.pagination.policy.handle == true ? .allowed : .refused
  }

  private func visit(_ position: Position?, _ setup: Setup) throws -> PageVisit {
    let position = position.map(setup.secrets.reveal)
    let request = try setup.engine.request(at: position)
    return PageVisit(
      client: client, home: setup.home, engine: setup.engine, request: request,
      position: position ?? .start)
  }

  func parts(at position: Position) throws -> any PageParts<Item> {
    let setup = try setup.get()
    let visit = try visit(position.value == nil ? nil : position.page, setup)
    return HTTPPageParts(
      visit, decoder: decoder, secrets: setup.secrets, isRepeatable: setup.isRepeatable,
      from: position)
  }

  func page(at position: Position?) async throws -> Page<Item>? {
    let setup = try setup.get()
    let visit = try visit(position, setup)
    var retry = RetryMachine(policy: client.configuration.retry, isRepeatable: setup.isRepeatable)
    var traffic = Traffic(requests: 0)
    while true {
      do {
        guard var page = try await visit.attempt(decoder: decoder, traffic: &traffic) else {
          return nil
        }
        page.next = page.next.map(setup.secrets.conceal)
        page.previous = page.previous.map(setup.secrets.conceal)
        return page
      } catch let failure as RetryMachine.Failure {
        let action = retry.failed(
          failure, wireRequests: traffic.requests, random: client.environment.random())
        switch action {
        case .fail(let error):
          throw visit.describe(error)
        case .retry(let delay):
          visit.logRetry(of: failure.error, after: delay)
          traffic.retries += 1
          try await client.configuration.clock.sleep(for: delay)
        }
      }
    }
  }
}

extension HTTPRequest.Method {
  /// Whether the method asks for nothing but an answer (RFC 9110, §9.2.1).
  var isSafe: Bool {
    switch self {
    case .get, .head, .options: true
    default: ["QUERY", "PROPFIND", "REPORT", "SEARCH"].contains(rawValue)
    }
  }
}
