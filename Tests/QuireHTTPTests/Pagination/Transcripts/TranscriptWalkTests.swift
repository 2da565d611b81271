import Foundation
import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination
import QuireTesting
import Testing

/// Walks that begin, stop and read ahead anywhere, on every listing of `Tests/Fixtures/vectors` that a server could
/// answer in any order.
@Suite("Transcripts, left anywhere and gone on with")
struct TranscriptWalkTests {
  /// Answers what a transcript asks for, whenever and however often it is asked.
  private struct AnsweringTransport: HTTPTransport {
    let exchanges: [ScriptedExchange]

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      try Task.checkCancellation()
      let fitting = exchanges.filter { exchange in
        exchange.method == request.head.method && exchange.url == request.url
          && exchange.body == String(decoding: request.body, as: UTF8.self)
          && exchange.fields.allSatisfy { request.head.headerFields[$0.name] == $0.value }
          && exchange.forbidden.allSatisfy { request.head.headerFields[$0] == nil }
      }
      // A cursor may be a header field, which the first request has not.
      guard let exchange = fitting.max(by: { $0.fields.count < $1.fields.count }) else {
        return TransportResponse(head: HTTPResponse(status: .notFound), body: .bytes([]))
      }
      return TransportResponse(
        head: exchange.answer, body: .bytes(Array(exchange.answerBody.utf8)))
    }
  }

  /// The walks of a test, and what they have read.
  private struct Reader {
    let make: (Position) -> Cursor<String>
    var random: SeededGenerator
    var items: [String] = []
    var log: [String] = []

    /// Reads on from `start`, until some item or page; returns where to go on.
    mutating func read(from start: Position) async throws -> Position? {
      var cursor = make(start)
      var name = ""
      switch Int.random(in: 0..<6, using: &random) {
      case 0: (cursor, name) = (cursor.parallel(3), "parallel ")
      case 1: (cursor, name) = (cursor.paged(by: 2), "paged ")
      default: break
      }
      let count = Int.random(in: 1...5, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        log.append("\(name)paginator to \(count)")
        let paginator = Paginator(cursor, maxPagesAhead: 2)
        try await take(count, of: paginator.items)
        return paginator.report.checkpoint
      case 1:
        log.append("\(name)inside")
        let walk = cursor.walk()
        guard let page = try await walk.next() else { return walk.report.checkpoint }
        let part = Int.random(in: 0...page.items.count, using: &random)
        items += page.items.prefix(part)
        return page.position(afterItems: part)
      case 2:
        log.append("\(name)page")
        let walk = cursor.walk()
        if let page = try await walk.next() { items += page.items }
        return walk.report.checkpoint
      default:
        log.append("\(name)items to \(count)")
        var walk = cursor.walk()
        try await take(count, of: walk.items)
        if Bool.random(using: &random) { walk = walk.copy() }
        try await take(count, of: walk.items)
        return walk.report.checkpoint
      }
    }

    private mutating func take(
      _ count: Int, of sequence: some AsyncSequence<String, any Error>
    ) async throws {
      var left = count
      for try await item in sequence {
        items.append(item)
        left -= 1
        if left == 0 { return }
      }
    }
  }

  @Test(
    "C-8: every listing gives each of its items once, wherever its walks stop and however they read",
    arguments: try Transcript.files())
  func anywhere(_ file: String) async throws {
    for transcript in try Transcript.all(in: file) {
      guard let pages = transcript.pages, transcript.answersInAnyOrder else { continue }
      for seed in UInt64(1)...6 {
        let player = TranscriptPlayer(transcript)
        let transport = AnsweringTransport(exchanges: transcript.script)
        var reader = Reader(
          make: { start in
            let cursor = player.cursor(
              over: transport, delivery: seed.isMultiple(of: 3) ? .asItArrives : .whole)
            return start == .start ? cursor : cursor.resuming(from: start)
          }, random: SeededGenerator(seed: seed))
        var position: Position? = .start
        do {
          for _ in 0..<500 {
            guard let start = position else { break }
            position = try await reader.read(from: start).map {
              try JSONDecoder().decode(Position.self, from: JSONEncoder().encode($0))
            }
          }
        } catch PageError.Code.invalidArgument where seed.isMultiple(of: 3) {
          // Its description needs whole pages.
          continue
        } catch PageError.Code.notResumable {
          continue
        }
        #expect(
          position == nil && reader.items == pages.flatMap { $0 },
          "\(transcript.title), seed \(seed): \(reader.items), \(reader.log)")
      }
    }
  }
}

extension Transcript {
  /// Whether the same request always has the same answer, and nothing is held open, forgotten or waited for.
  fileprivate var answersInAnyOrder: Bool {
    let requests = script.map { "\($0.method) \($0.url) \($0.body) \($0.fields)" }
    return error == nil && recovery == nil && !opens && !closes && !isDistinct
      && Set(requests).count == requests.count
  }
}
