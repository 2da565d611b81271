import Quire
import TestSupport
import Testing

@Suite("Pages read at once, on the wire", .timeLimit(.minutes(15)))
struct ParallelWireTests {
  /// Sixteen numbered pages; each behind the first, which tells how many there are, is held until
  /// `window` of them were asked for.
  private func server(holding window: Int) throws -> FaultServer {
    try FaultServer { request in
      let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
      let answer = FaultStep.respond(
        "{\"items\":[\(page)],\"pages\":16}", headers: [("Content-Type", "application/json")])
      guard page > 1 else { return [answer] }
      return [.mark("asked"), .stallUntilReached("asked", times: window), answer]
    }
  }

  private func walk(
    _ server: FaultServer, window: Int, _ change: (inout CurlTransport.Configuration) -> Void
  ) async throws -> WalkReport {
    var settings = CurlTransport.Configuration()
    change(&settings)
    let transport = CurlTransport(settings)
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    let client = PageClient(transport: transport, configuration: configuration)
    let pagination = Pagination(
      next: .pageNumber, send: .query("page"),
      end: [.total(Pagination.TotalSource("/pages", .pages))],
      items: "/items", total: Pagination.TotalSource("/pages", .pages))
    let walk = client.cursor(of: Int.self, at: server.url(), pagination: pagination)
      .parallel(window).walk()
    var items: [Int] = []
    while let page = try await walk.next() { items += page.items }
    #expect(items == Array(1...16))
    await transport.shutdown()
    return walk.report
  }

  @Test(
    "12-A5, P-9: a window of eight over six connections reads six pages at once, and the report names what held it"
  )
  func narrowed() async throws {
    let server = try server(holding: 6)
    defer { server.stop() }
    let report = try await walk(server, window: 8) { $0.connectionsPerHost = 6 }
    #expect(server.connections == 6)
    #expect(report.warnings.map(\.code) == [.narrowedWindow])
    #expect(report.warnings.first?.remedy == Remedy(.connectionsPerHost, ["8"]))
    #expect(report.warnings.first?.message.contains("6 pages") == true)
  }

  @Test("12-A5, P-9: a window of eight over as many connections has eight requests in flight")
  func wide() async throws {
    let server = try server(holding: 8)
    defer { server.stop() }
    let report = try await walk(server, window: 8) { $0.connectionsPerHost = 8 }
    #expect(server.connections == 8)
    #expect(report.warnings.isEmpty)
  }

  @Test("12-A2: a page that was read on a guess and dropped leaves the report as it is without it")
  func dropsGuesses() async throws {
    // The server gives five of ten items, so the first page counts as the last; it comes last.
    let server = try FaultServer { request in
      let answer = FaultStep.respond(
        "{\"items\":[1,2,3,4,5]}", headers: [("Content-Type", "application/json")])
      return request.target.contains("offset=")
        ? [answer, .mark("answered")] : [.stallUntilReached("answered", times: 3), answer]
    }
    defer { server.stop() }
    let transport = CurlTransport(CurlTransport.Configuration())
    let pagination = Pagination(
      next: .offset, send: .query("offset"), end: [.shortPage], items: "/items",
      size: Pagination.PageSize(.query("limit")))
    let walk = PageClient(transport: transport).cursor(
      of: Int.self, at: server.url(), pagination: pagination, pageSize: 10
    ).parallel(4).walk()
    #expect(try await walk.collect() == [1, 2, 3, 4, 5])
    #expect(walk.report.warnings.map(\.code) == [.shortFirstPage])
    await transport.shutdown()
  }

  @Test("12-A5: the limit of all connections holds a window as well, and is named likewise")
  func total() async throws {
    let server = try server(holding: 3)
    defer { server.stop() }
    let report = try await walk(server, window: 4) { $0.connectionsTotal = 3 }
    #expect(server.connections == 3)
    #expect(report.warnings.map(\.code) == [.narrowedWindow])
    #expect(report.warnings.first?.message.contains("3 pages") == true)
  }
}
