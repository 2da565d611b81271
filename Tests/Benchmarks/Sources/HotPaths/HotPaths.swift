import HTTPTypes
import Quire
import QuireHTTP
import QuireJSON

/// Walks one hot path again and again: `HotPaths PATH TIMES`. `instructions` counts what it executes.
@main
struct HotPaths {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let times = arguments.last.flatMap { Int($0) } ?? 1
    switch arguments.first {
    case "page": try await walk(ahead: false, pages: times)
    case "ahead": try await walk(ahead: true, pages: times)
    case "typed": for _ in 0..<times { try read(JSONPageDecoder<Row>(), rows) }
    case "raw": for _ in 0..<times { try export(rows) }
    case "index": for _ in 0..<times { _ = try JSONDocument(rows) }
    default: print("page ahead typed raw index")
    }
  }

  // MARK: Items

  struct Row: Decodable, Sendable {
    let id: Int
    let name: String
    let isOpen: Bool
    let text: String
    let score: Double
  }

  /// A page of a hundred items, 16 KB.
  private static let rows: [UInt8] = {
    let items = (0..<100).map {
      "{\"id\":\($0),\"name\":\"a name of more than fifteen letters\",\"isOpen\":true,"
        + "\"text\":\"a text of more than fifteen letters\",\"score\":0.5,\"tags\":[\"a\",\"b\"]}"
    }
    return Array("[\(items.joined(separator: ","))]".utf8)
  }()

  private static func read<Item>(_ decoder: some PageDecoder<Item>, _ page: [UInt8]) throws {
    var session = try decoder.begin(DecodingContext())
    try session.receive(page)
    _ = try session.finish()
    precondition(try session.items().count == 100)
  }

  private static func export(_ page: [UInt8]) throws {
    var session = JSONRawPageDecoder().begin(DecodingContext())
    try session.receive(page)
    _ = try session.finish()
    var output: [UInt8] = []
    for item in try session.items().items {
      item.appendCompact(to: &output)
      output.append(UInt8(ascii: "\n"))
    }
    precondition(output.count > page.count / 2)
  }

  // MARK: Pages

  /// Pages of bytes, each linked to the next, from a transport that costs nothing.
  private static func walk(ahead: Bool, pages: Int) async throws {
    let client = PageClient(transport: LinkedPages(last: pages))
    let cursor = client.cursor(
      at: "https://example.com/page?number=1", pagination: .linkHeader, decoder: BytesPageDecoder())
    var count = 0
    if ahead {
      for try await _ in Paginator(cursor) { count += 1 }
    } else {
      for try await _ in cursor { count += 1 }
    }
    precondition(count == pages)
  }

  private struct LinkedPages: HTTPTransport {
    let last: Int

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      let path = request.head.path ?? ""
      let number = path.split(separator: "=").last.flatMap { Int($0) } ?? 1
      var head = HTTPResponse(status: .ok)
      head.headerFields = [.contentType: "application/json", .contentLength: "5"]
      if number < last, let link = HTTPField.Name("Link") {
        head.headerFields[link] =
          "<https://example.com/page?number=\(number + 1)>; rel=\"next\""
      }
      return TransportResponse(head: head, body: .bytes(Array("\(10_000 + number)".utf8)))
    }
  }
}
