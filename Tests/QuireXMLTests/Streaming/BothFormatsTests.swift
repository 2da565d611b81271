import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireTesting
import QuireXML
import Synchronization
import Testing

/// One rule for parts of pages, whatever the pages are written in.
@Suite("Parts of pages, in either format")
struct BothFormatsTests {
  enum Format: CaseIterable, Sendable { case xml, json }

  /// A page being sent, in words that both formats have.
  enum Step: Sendable {
    case items(ClosedRange<Int>)
    /// The beginning of an item, and what follows it to its end.
    case head(Int)
    case tail
    case end(next: String?)
    case wait(Gate)
    case fail(PageError.Code)
    /// What neither format can hold here.
    case junk
  }

  private func pieces(_ steps: [Step], _ format: Format) -> [FeedTransport.Piece] {
    var isFirst = true
    var started = false
    var pieces: [FeedTransport.Piece] = []
    func item(_ text: String) -> String {
      defer { isFirst = false }
      return format == .xml ? "<item>\(text)</item>" : (isFirst ? "" : ",") + "\"\(text)\""
    }
    func add(_ text: String) {
      let head = started ? "" : format == .xml ? "<list>" : "{\"list\":{\"item\":["
      started = true
      pieces.append(.bytes(head + text))
    }
    for step in steps {
      switch step {
      case .items(let numbers): add(numbers.map { item("\($0)") }.joined())
      case .head(let number): add(String(item("\(number)").dropLast(format == .xml ? 7 : 1)))
      case .tail: add(format == .xml ? "</item>" : "\"")
      case .end(let next):
        let xml = next.map { "<next>\($0)</next>" } ?? ""
        let json = next.map { ",\"next\":\"\($0)\"" } ?? ""
        add(format == .xml ? xml + "</list>" : "]}\(json)}")
      case .wait(let gate): pieces.append(.wait(gate))
      case .fail(let code): pieces.append(.fail(code))
      case .junk: add(format == .xml ? "</x>" : ";")
      }
    }
    return pieces
  }

  private func cursor(
    _ transport: some HTTPTransport, _ format: Format, attempts: Int,
    delivery: PageDelivery = .asItArrives
  ) -> Cursor<String> {
    var configuration = PageClient.Configuration()
    configuration.retry.attempts = attempts
    configuration.retry.delay = .zero
    let client = PageClient(transport: transport, configuration: configuration)
    let pagination = Pagination(
      next: .body(format == .xml ? "//next" : "/next"), send: .query("after"), items: "/list/item")
    return format == .xml
      ? client.cursor(
        at: "https://api.test/items", pagination: pagination, decoder: XMLPageDecoder<String>(),
        delivery: delivery)
      : client.cursor(
        at: "https://api.test/items", pagination: pagination, decoder: JSONPageDecoder<String>(),
        delivery: delivery)
  }

  /// What a loop sees that goes on after errors, in words.
  private func story(_ cursor: Cursor<String>) async -> [String] {
    let walk = cursor.walk()
    var pages = walk.makeAsyncIterator()
    var story: [String] = []
    var failures = 0
    while failures < 5 {
      do {
        guard let page = try await pages.next() else { break }
        let numbers = page.items.joined(separator: " ")
        story.append(
          page.hasMoreParts ? "\(numbers) …" : "\(numbers) →\(page.next == nil ? "" : " x")")
      } catch {
        failures += 1
        let error = error as? PageError
        let place = error?.checkpoint?.itemOffset ?? 0
        story.append("\(error.map { "\($0.code)" } ?? "?") behind \(place)")
      }
    }
    story.append(
      "\(walk.report.pages) pages, \(walk.report.items) items, \(walk.report.traffic.requests) requests"
    )
    return story
  }

  static let scenes: [(name: String, bodies: [[Step]], attempts: Int, story: [String])] = [
    (
      "items come before the end",
      [[.items(1...2), .head(3), .tail, .end(next: "x")], [.items(4...4), .end(next: nil)]],
      1, ["1 2 …", "3 …", " → x", "4 …", " →", "2 pages, 4 items, 2 requests"]
    ),
    (
      "nothing but the beginning came",
      [[.head(1), .fail(.truncated)], [.items(1...2), .end(next: nil)]], 2,
      ["1 2 …", " →", "1 pages, 2 items, 2 requests"]
    ),
    (
      "a connection that dies behind items is asked again, and goes on behind them",
      [[.items(1...3), .fail(.truncated)], [.items(1...1), .items(2...4), .end(next: nil)]], 2,
      ["1 2 3 …", "4 …", " →", "1 pages, 4 items, 2 requests"]
    ),
    (
      "without another attempt it is an error, behind which the next call goes on",
      [[.items(1...3), .fail(.timedOut)], [.items(1...4), .end(next: nil)]], 1,
      ["1 2 3 …", "timedOut behind 3", "4 …", " →", "1 pages, 4 items, 2 requests"]
    ),
    (
      "a body that ends too early",
      [[.items(1...2), .head(3)], [.items(1...3), .end(next: nil)]], 2,
      ["1 2 …", "3 …", " →", "1 pages, 3 items, 2 requests"]
    ),
    (
      "a page that has changed meanwhile",
      [[.items(1...3), .fail(.truncated)], [.items(2...4), .end(next: nil)]], 2,
      ["1 2 3 …", "pageChanged behind 3"]
    ),
    (
      "a page that has become shorter",
      [[.items(1...3), .fail(.truncated)], [.items(1...2), .end(next: nil)]], 2,
      ["1 2 3 …", "pageChanged behind 3"]
    ),
    (
      "a broken tail is an error behind the items", [[.items(1...2), .junk]], 1,
      ["1 2 …", "malformed behind 2"]
    ),
    ("a page without items", [[.end(next: nil)]], 1, [" →", "1 pages, 0 items, 1 requests"]),
  ]

  @Test(
    "14-Arrival, H-4, H-5: pages in parts are the same story in XML and in JSON: early items, dead connections, broken tails",
    arguments: scenes.indices, Format.allCases)
  func parts(_ index: Int, _ format: Format) async throws {
    let scene = Self.scenes[index]
    let transport = FeedTransport(scene.bodies.map { pieces($0, format) })
    let story = await story(cursor(transport, format, attempts: scene.attempts))
    #expect(Array(story.prefix(scene.story.count)) == scene.story, "\(scene.name)")
    #expect(transport.open == 0)
  }

  @Test(
    "14-Arrival: a page that is there at once is one part, and one that breaks at its end gives its items first",
    arguments: Format.allCases)
  func atOnce(_ format: Format) async throws {
    func body(_ steps: [Step]) -> [UInt8] {
      Array(
        pieces(steps, format).map { piece in
          if case .bytes(let text) = piece { text } else { "" }
        }.joined().utf8)
    }
    let good = body([.items(1...3), .end(next: nil)])
    for delivery in [PageDelivery.whole, .asItArrives] {
      let cursor = cursor(CannedTransport([good]), format, attempts: 1, delivery: delivery)
      #expect(await story(cursor) == ["1 2 3 →", "1 pages, 3 items, 1 requests"])
    }
    let broken = CannedTransport([body([.items(1...2), .junk]), body([.items(1...2), .junk])])
    let error = await story(cursor(broken, format, attempts: 1)).prefix(3)
    #expect(Array(error) == ["1 2 …", "malformed behind 2", "malformed behind 2"])
    let cut = CannedTransport([body([.items(1...2)]), good])
    #expect(
      await story(cursor(cut, format, attempts: 2)) == [
        "1 2 …", "3 →", "1 pages, 3 items, 2 requests",
      ])
  }

  @Test(
    "14-Arrival: an item is delivered while the rest of its page has not come",
    arguments: Format.allCases)
  func early(_ format: Format) async throws {
    let gate = Gate()
    let transport = FeedTransport([
      pieces([.items(1...2), .head(3), .wait(gate), .tail, .end(next: nil)], format)
    ])
    var pages = cursor(transport, format, attempts: 1).makeAsyncIterator()
    #expect(try await pages.next()?.items == ["1", "2"])
    gate.openUp()
    #expect(try await pages.next()?.items == ["3"])
  }
}

/// Answers with bodies that are there at once.
private final class CannedTransport: HTTPTransport {
  private let bodies: Mutex<ArraySlice<[UInt8]>>

  init(_ bodies: [[UInt8]]) { self.bodies = Mutex(bodies[...]) }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    let body = bodies.withLock { $0.popFirst() }
    guard let body else { throw PageError(.connectFailed, "There are no more bodies.") }
    return TransportResponse(head: .init(status: .ok), body: .bytes(body))
  }
}
