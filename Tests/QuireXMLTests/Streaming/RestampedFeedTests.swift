import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireXML
import Synchronization
import Testing

/// Answers with ever the next page.
private final class Feed: HTTPTransport {
  private let ordinal = Mutex(0)
  private let page: @Sendable (Int) -> String

  init(_ page: @escaping @Sendable (Int) -> String) { self.page = page }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    let number = ordinal.withLock { number in
      defer { number += 1 }
      return number
    }
    var head = HTTPResponse(status: .ok)
    head.headerFields[.contentType] = "application/xml"
    return TransportResponse(head: head, body: .bytes(Array(page(number).utf8)))
  }
}

@Suite("Records of XML that come again with a new stamp", .timeLimit(.minutes(15)))
struct RestampedFeedTests {
  private func drain(
    _ delivery: PageDelivery, _ items: @escaping @Sendable (Int) -> String
  ) async throws -> (pages: Int, error: PageError?) {
    let feed = Feed { n in "<feed>\(items(n))<next>t\(n)</next></feed>" }
    let cursor = PageClient(transport: feed).cursor(
      at: "https://api.test/feed",
      pagination: Pagination(next: .body("/feed/next"), send: .query("t"), items: "/feed/item"),
      decoder: XMLRawPageDecoder(), delivery: delivery)
    let walk = cursor.limited(to: Limits(pages: 50)).walk()
    do {
      while try await walk.next() != nil {}
      return (walk.report.pages, nil)
    } catch let error as PageError {
      return (walk.report.pages, error)
    }
  }

  static let restamped: [(changed: String, items: @Sendable (Int) -> String)] = [
    ("@age", { n in (0..<5).map { "<item id='\($0)' age='\(n)'>e\($0)</item>" }.joined() }),
    ("age", { n in "<item><id>7</id><title>e</title><age>\(n)</age></item>" }),
    (
      "pubDate",
      { n in
        (0..<20).map { "<item><guid>g\($0)</guid><title>e</title><pubDate>\(n)</pubDate></item>" }
          .joined()
      }
    ),
    (
      "dc:date",
      { n in
        (0..<3).map {
          "<item xmlns:dc='urn:dc'><title>e\($0)</title><dc:date>\(n)</dc:date></item>"
        }.joined()
      }
    ),
    ("stats/views", { n in "<item id='7'><stats><views>\(n)</views></stats></item>" }),
  ]

  @Test(
    "12-L12: the same elements with a new stamp are a stall, and what changed is named",
    arguments: Self.restamped.map(\.changed), [PageDelivery.whole, .asItArrives])
  func stalls(changed: String, delivery: PageDelivery) async throws {
    let listing = try #require(Self.restamped.first { $0.changed == changed })
    let (_, error) = try await drain(delivery, listing.items)
    #expect(error?.code == .stalledContent)
    #expect(error?.pageIndex == 1)
    #expect(error?.message.contains("\"\(changed)\"") == true, "\(error?.message ?? "none")")
  }

  @Test(
    "12-L12: similar elements are not taken for the same ones",
    arguments: [PageDelivery.whole, .asItArrives])
  func passes(delivery: PageDelivery) async throws {
    let listings: [@Sendable (Int) -> String] = [
      { n in "<item id='\(n)'><value>20</value></item>" },
      { n in "<item><time>\(n)</time><value>20</value></item>" },
      { n in (0..<5).map { "<item sensor='\($0)'><time>\(n)</time>20</item>" }.joined() },
      { n in (0..<5).map { "<item>\(n * 5 + $0)</item>" }.joined() },
    ]
    for items in listings {
      let (pages, error) = try await drain(delivery, items)
      #expect(error == nil)
      #expect(pages == 50)
    }
  }
}
