import CFuzzer
import Glibc
import QuireCore
import QuireXML

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// One input: a byte that chooses, then a page.
///
/// The page is the answer to a first request. Whatever it is, an export under any preset reads it to its
/// items and to what follows it or to an error, a plan looks for what the description missed, and a
/// detector tells what it shows: none of them is a trap.
@main
struct PageFuzzer {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(
      LLVMFuzzerRunDriver(&count, &arguments) { data, count in
        data.map { PageFuzzer.test($0, count) } ?? 0
      })
  }

  private static let url = "https://api.test/things"

  private static func test(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let page = Array(UnsafeBufferPointer(start: data + 1, count: count - 1))
    let pagination = Pagination.presets[Int(data[0]) % Pagination.presets.count].pagination.example
    guard let document = document(page) else { return 0 }
    let answer = PageAnswer(
      request: PageRequest(url: url), url: url, status: 200, headerFields: [:],
      document: document, position: .start)
    export(answer, pagination)
    if let outlined = document as? any OutlinedDocument {
      let outline = outlined.outline
      precondition(outline.nodes.count <= PageOutline.mostNodes)
      precondition(outline.nodes.first?.kind != .scalar || outline.nodes.count == 1)
    }
    if let detector = try? PaginationDetector(answer) {
      precondition(!detector.detection().observations.isEmpty)
    }
    return 0
  }

  private static func document(_ page: [UInt8]) -> (any PageDocument)? {
    (try? JSONDocument(page)) ?? (try? XMLDocument(page))
  }

  /// What a walk does with the answer.
  private static func export(_ answer: PageAnswer, _ pagination: Pagination) {
    guard let home = try? Origin(url: url) else { return }
    for body in [PageRequest.Body.none, .json(.object([])), .form(""), .xml("<a/>")] {
      let first = PageRequest(
        method: body == .none ? .get : .post, url: url, headerFields: [:], body: body)
      guard let engine = try? PaginationEngine(pagination, first: first, home: home) else {
        continue
      }
      guard (try? engine.reader.classify(answer)) != nil else { return }
      let items = (try? answer.document.values(at: "/id", inItemsOf: engine.items)) ?? []
      let next = engine.finder.continuation(after: answer, itemCount: items.count)
      if let position = next.next { _ = try? engine.builder.request(at: position) }
      return
    }
  }
}
