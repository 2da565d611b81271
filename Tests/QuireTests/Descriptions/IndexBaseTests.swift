import Quire
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("The base of an index's links", .timeLimit(.minutes(15)))
struct IndexBaseTests {
  private let pagination = Pagination(
    next: .index("/pages | /l/pages/p", link: "/at"), items: .optional("/items | /l/items/i"),
    policy: Pagination.Policy(linkBase: .firstOf(["/base | /l/@base", .header("X-Base")])))

  private static let pages: [String: String] = [
    "/x/index": #"{"base":"/a/","pages":[{"at":"1"},{"at":"more/"},{"at":"/3"}]}"#,
    "/x/xml":
      "<l base='/x/a/'><pages><p><at>1</at></p><p><at>more/</at></p><p><at>/x/3</at></p></pages></l>",
    "/a/more/": #"{"base":"deep/","pages":[{"at":"2"}]}"#,
    "/x/a/1": "<l><items><i>1</i></items></l>", "/x/3": "<l><items><i>3</i></items></l>",
    "/x/a/more/": "<l base='deep/'><pages><p><at>2</at></p></pages></l>",
    "/x/a/more/deep/2": "<l><items><i>2</i></items></l>",
    "/a/1": #"{"items":[1]}"#, "/a/more/deep/2": #"{"items":[2]}"#, "/3": #"{"items":[3]}"#,
  ]

  private func client(_ server: Answers) -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    return PageClient(transport: server, configuration: configuration)
  }

  private func server() -> Answers {
    Answers { asked, _ in
      Self.pages[asked.target].map { Answers.Answer(stringLiteral: $0) } ?? Answers.Answer(404)
    }
  }

  @Test(
    "12-L19: the pages that an index lists start from what it says its links start from, nested indexes too",
    arguments: [("/x/index", ""), ("/x/xml", "/x")])
  func linkBase(path: String, folder: String) async throws {
    let server = server()
    let items = try await client(server).drain(pagination, at: "https://l.test\(path)")
    // A text of XML is written in quotes.
    #expect(items.map { $0.filter(\.isNumber) } == ["1", "2", "3"])
    let pages = ["/a/1", "/a/more/", "/a/more/deep/2", "/3"]
    #expect(server.targets == [path] + pages.map { folder + $0 })
  }

  @Test("12-L19, G18: a walk over an index with a base goes on in a new process, from each page")
  func resumes() async throws {
    let url = "https://l.test/x/index"
    var positions: [Position] = []
    for try await page in client(server()).cursor(of: Int.self, at: url, pagination: pagination) {
      if let next = page.next { positions.append(next) }
    }
    #expect(positions.count == 4)
    for (position, rest) in zip(positions, [[1, 2, 3], [2, 3], [2, 3], [3]]) {
      let cursor = client(server()).cursor(of: Int.self, at: url, pagination: pagination)
      #expect(try await cursor.resuming(from: position).items.collect() == rest)
    }
  }

  @Test("Walks through the indexes of one listing drop none of each other's")
  func twoWalks() async throws {
    let pages = [
      "/index": #"{"pages":[{"at":"/i"},{"at":"/j"}]}"#,
      "/i": #"{"pages":[{"at":"/1"},{"at":"/2"}]}"#, "/j": #"{"pages":[{"at":"/3"},{"at":"/4"}]}"#,
      "/1": #"{"items":[1]}"#, "/2": #"{"items":[2]}"#, "/3": #"{"items":[3]}"#,
      "/4": #"{"items":[4]}"#,
    ]
    let server = Answers { asked, _ in
      pages[asked.target].map { Answers.Answer(stringLiteral: $0) } ?? Answers.Answer(404)
    }
    let cursor = client(server).cursor(
      of: Int.self, at: "https://l.test/index", pagination: pagination)
    let (first, second) = (cursor.walk(), cursor.walk())
    for _ in 1...3 { _ = try await first.next() }
    for _ in 1...6 { _ = try await second.next() }
    let copy = first.copy()
    #expect(try await first.items.collect() == [2, 3, 4])
    #expect(try await second.items.collect() == [4])
    let count = server.targets.count
    #expect(count == 2 * pages.count)
    #expect(try await copy.items.collect() == [2, 3, 4])
    #expect(server.targets.count == count + 4)
  }

  @Test("An index whose links the link policy moves, or that has one twice, is read to its end")
  func movedLinks() async throws {
    let pages = [
      "/index":
        #"{"pages":[{"at":"http://inner.test/index#a"},{"at":"http://inner.test/1"},{"at":"/1"},"#
        + #"{"at":"//inner.test/m"},{"at":"/3"}]}"#,
      "/m": #"{"pages":[{"at":"http://inner.test/2"}]}"#, "/1": #"{"items":[1]}"#,
      "/2": #"{"items":[2]}"#, "/3": #"{"items":[3]}"#,
    ]
    let server = Answers { asked, _ in
      pages[asked.target].map { Answers.Answer(stringLiteral: $0) } ?? Answers.Answer(404)
    }
    let items = try await client(server).drain(
      pagination.links(.rebase), at: "https://l.test/index")
    #expect(items == ["1", "2", "3"])
    #expect(server.targets == ["/index", "/1", "/m", "/2", "/3"])
  }
}
