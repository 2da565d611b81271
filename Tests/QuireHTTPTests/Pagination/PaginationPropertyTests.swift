import HTTPTypes
import QuireCore
import Testing

@testable import QuireHTTP

@Suite("Pagination, any listing")
struct PaginationPropertyTests {
  /// A small generator that a seed determines (SplitMix64).
  private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  private static let first = UInt64.random(in: 0...UInt64.max)

  @Test(
    "T1 T2 T13 T21 R15: no item is lost or repeated, whatever the sizes and cursors, and no request is made in vain",
    arguments: (0..<60).map { first &+ $0 }, ListingServer.Style.allCases)
  func drains(_ seed: UInt64, _ style: ListingServer.Style) async throws {
    var random = Seeded(state: seed)
    let server = Self.server(style, using: &random)
    let pageSize =
      style == .offset && Bool.random(using: &random) ? Int.random(in: 1...50, using: &random) : nil
    let client = PageClient(transport: server)
    let cursor = client.cursor(
      of: Int.self, at: "https://a.test/l?q=%2F", pagination: server.pagination,
      pageSize: pageSize, request: .init(method: style == .body ? .post : .get))
    var items: [Int] = []
    for try await page in cursor { items += page.items }
    #expect(items == server.items, "seed \(seed)")
    if pageSize == nil {
      #expect(server.requests == server.fewestRequests, "seed \(seed)")
    }
  }

  @Test(
    "P-9: what counts is read in parallel, and comes as in sequence; what does not is read in order",
    arguments: (0..<20).map { first &+ $0 }, ListingServer.Style.allCases)
  func drainsInParallel(_ seed: UInt64, _ style: ListingServer.Style) async throws {
    var random = Seeded(state: seed)
    let server = Self.server(style, using: &random)
    let pageSize = style == .offset ? Int.random(in: 1...50, using: &random) : nil
    let cursor = PageClient(transport: server).cursor(
      of: Int.self, at: "https://a.test/l?q=%2F", pagination: server.pagination,
      pageSize: pageSize, request: .init(method: style == .body ? .post : .get))
    var items: [Int] = []
    for try await page in cursor.parallel(4) { items += page.items }
    #expect(items == server.items, "seed \(seed)")
  }

  private static func server(
    _ style: ListingServer.Style, using random: inout Seeded
  ) -> ListingServer {
    let smallest = style == .page ? 1 : 0
    let sizes = (0..<Int.random(in: 1...12, using: &random)).map { _ in
      Int.random(in: smallest...9, using: &random)
    }
    var cursors: [String] = []
    while cursors.count < sizes.count {
      let cursor = Self.cursor(using: &random)
      if !cursors.contains(cursor) { cursors.append(cursor) }
    }
    return ListingServer(
      style, sizes: sizes, cursors: cursors, maximum: Int.random(in: 1...20, using: &random))
  }

  /// Every printable character of ASCII and some of everything else, but nothing blank.
  private static func cursor(using random: inout Seeded) -> String {
    let others: [Unicode.Scalar] = ["é", "ß", "漢", "😀", "\u{A0}", "\u{FEFF}", "\u{2028}", "İ"]
    var text = ""
    for _ in 0..<Int.random(in: 1...40, using: &random) {
      if Int.random(in: 0..<6, using: &random) == 0 {
        text.unicodeScalars.append(others.randomElement(using: &random) ?? "x")
      } else {
        text.unicodeScalars.append(
          Unicode.Scalar(UInt8.random(in: 0x20...0x7E, using: &random)))
      }
    }
    return text.allSatisfy(\.isWhitespace) ? "x" + text : text
  }
}
