import HTTPTypes
import QuireCore
import QuireTesting
import QuireXML
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Pagination, any listing")
struct PaginationPropertyTests {
  private static let first = UInt64.random(in: 0...UInt64.max)

  @Test(
    "T1 T2 T6 T13 T21 R15: no item is lost or repeated, whatever the sizes and cursors, and no request is made in vain",
    arguments: (0..<60).map { first &+ $0 }, ListingServer.Style.allCases)
  func drains(_ seed: UInt64, _ style: ListingServer.Style) async throws {
    var random = SeededGenerator(seed: seed)
    let server = Self.server(style, using: &random)
    let pageSize =
      style == .offset && Bool.random(using: &random) ? Int.random(in: 1...50, using: &random) : nil
    var items: [Int] = []
    for try await page in Self.cursor(server, pageSize: pageSize) { items += page.items }
    #expect(items == server.items, "seed \(seed)")
    #expect(server.requests == server.fewestRequests(pageSize: pageSize), "seed \(seed)")
  }

  @Test(
    "T13 R15: every printable character of ASCII, and others, travels in a cursor",
    arguments: [ListingServer.Style.token, .body, .link, .sentinel, .flag, .xml])
  func characters(_ style: ListingServer.Style) async throws {
    let scalars = (0x20...0x7E).compactMap(Unicode.Scalar.init) + Self.others
    let cursors =
      scalars.map { "a\($0)b" }
      + scalars.filter { !$0.properties.isWhitespace }.map { "\($0)\($0)" }
    let server = ListingServer(
      style, sizes: Array(repeating: 1, count: cursors.count + 1), cursors: cursors + ["last"],
      maximum: 1)
    var items: [Int] = []
    for try await page in Self.cursor(server, pageSize: nil) { items += page.items }
    #expect(items == server.items)
  }

  @Test(
    "P-9: what counts is read in parallel, and comes as in sequence; what does not is read in order",
    arguments: (0..<20).map { first &+ $0 }, ListingServer.Style.allCases)
  func drainsInParallel(_ seed: UInt64, _ style: ListingServer.Style) async throws {
    var random = SeededGenerator(seed: seed)
    let server = Self.server(style, using: &random)
    let pageSize = style == .offset ? Int.random(in: 1...50, using: &random) : nil
    var items: [Int] = []
    for try await page in Self.cursor(server, pageSize: pageSize).parallel(4) {
      items += page.items
    }
    #expect(items == server.items, "seed \(seed)")
  }

  private static func cursor(_ server: ListingServer, pageSize: Int?) -> Cursor<Int> {
    PageClient(transport: server).cursor(
      at: "https://a.test/l?q=%2F", pagination: server.pagination, pageSize: pageSize,
      request: .init(method: server.style == .body ? .post : .get),
      decoder: AutomaticPageDecoder(
        json: ClosurePageDecoder { try $0.value.integer ?? -1 },
        xml: MappedPageDecoder(XMLItemPageDecoder()) { try $0.value(at: "/id")?.integer ?? -1 }))
  }

  private static func server(
    _ style: ListingServer.Style, using random: inout SeededGenerator
  ) -> ListingServer {
    let smallest = style == .page || style == .pages ? 1 : 0
    let sizes = (0..<Int.random(in: 1...12, using: &random)).map { _ in
      Int.random(in: smallest...9, using: &random)
    }
    var cursors: [String] = []
    while cursors.count < sizes.count {
      let cursor = Self.cursor(using: &random)
      let isTrimmed = style == .xml && cursor.first?.isWhitespace ?? true
      let isEnd = style == .sentinel && cursor == ListingServer.sentinel
      if !cursors.contains(cursor), !isTrimmed, !isEnd { cursors.append(cursor) }
    }
    return ListingServer(
      style, sizes: sizes, cursors: cursors, maximum: Int.random(in: 1...20, using: &random))
  }

  private static let others: [Unicode.Scalar] = [
    "é", "ß", "漢", "😀", "\u{A0}", "\u{FEFF}", "\u{2028}", "İ", "\u{301}", "\u{202E}", "\u{10FFFD}",
  ]

  /// Every printable character of ASCII and some of everything else, but nothing blank, and no blank
  /// at the end.
  private static func cursor(using random: inout SeededGenerator) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 1...40, using: &random) {
      if Int.random(in: 0..<6, using: &random) == 0 {
        text.unicodeScalars.append(others.randomElement(using: &random) ?? "x")
      } else {
        text.unicodeScalars.append(
          Unicode.Scalar(UInt8.random(in: 0x20...0x7E, using: &random)))
      }
    }
    return text.last?.isWhitespace ?? true ? text + "x" : text
  }
}
