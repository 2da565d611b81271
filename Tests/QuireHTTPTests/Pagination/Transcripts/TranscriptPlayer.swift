import Foundation
import HTTPTypes
import QuireCore
@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination
import QuireTesting
import QuireXML
import Testing

/// Plays a transcript through the real client and checks what comes of it.
struct TranscriptPlayer {
  let transcript: Transcript
  private var transport: ScriptedTransport
  private let clock = InstantClock()
  private let log = CapturedLog()
  private var pages: [Page<String>] = []
  private var failure: PageError?
  private var texts: [String] = []
  /// Bytes a slice, where items are wanted as they arrive.
  private var sliced: Int?

  init(_ transcript: Transcript) {
    self.transcript = transcript
    transport = ScriptedTransport(transcript.script)
  }

  /// One walk from the start to the end.
  mutating func play() async throws {
    let cursor = transcript.isDistinct ? cursor().deduplicated { $0 } : cursor()
    let iterator = cursor.makeAsyncIterator()
    await drain(iterator) { _ in true }
    try check()
  }

  /// One walk whose items are delivered as they arrive, `size` bytes at a time; false where its description
  /// needs whole pages.
  mutating func playArriving(by size: Int) async throws -> Bool {
    sliced = size
    let cursor = transcript.isDistinct ? cursor().deduplicated { $0 } : cursor()
    await drain(cursor.makeAsyncIterator()) { _ in true }
    if failure?.code == .invalidArgument, failure?.message.contains("delivery .whole") == true {
      return false
    }
    // Parts are put together; those of a page that failed later are not in the transcript.
    var whole: [Page<String>] = []
    var items: [String] = []
    for page in pages {
      items += page.items
      guard !page.hasMoreParts else { continue }
      whole.append(page)
      whole[whole.count - 1].items = items
      items = []
    }
    pages = whole
    try check()
    return true
  }

  /// Whether one walk asks for all that the transcript has and delivers what it delivers.
  mutating func drainsExactly() async -> Bool {
    await drain(cursor().makeAsyncIterator()) { _ in true }
    let items = pages.map(\.items)
    return items == transcript.pages ?? items
      && (transcript.pages != nil || pages.count == transcript.pageCount)
      && failure?.code.description == transcript.error && transport.unplayed.isEmpty
  }

  /// Every page by a walk of its own, that knows nothing but the position before it as JSON.
  ///
  /// Such a walk does not know which items came before it.
  mutating func playResuming() async throws {
    if transcript.isDistinct { return }
    if transcript.isIndexed {
      let index = transcript.script[0]
      let pages = transcript.script.dropFirst().flatMap { [index, $0] }
      transport = ScriptedTransport([index] + pages)
    }
    var position = Position.start
    var visited: [Position] = []
    while failure == nil {
      let iterator = cursor().resuming(from: position, visited: visited).makeAsyncIterator()
      let count = pages.count
      await drain(iterator) { $0.next == nil }
      guard pages.count > count, let next = pages.last?.next else { break }
      visited.append(position)
      let stored = try JSONEncoder().encode(next)
      texts.append(String(decoding: stored, as: UTF8.self))
      position = try JSONDecoder().decode(Position.self, from: stored)
    }
    try check()
  }

  private mutating func drain(
    _ iterator: Cursor<String>.Iterator, while goesOn: (Page<String>) -> Bool
  ) async {
    var iterator = iterator
    do {
      while let page = try await iterator.next() {
        pages.append(page)
        if !goesOn(page) { return }
      }
    } catch let error as PageError {
      failure = error
      texts.append("\(error) \(String(describing: error.underlying))")
    } catch {
      Issue.record(error)
    }
  }

  private func cursor() -> Cursor<String> {
    guard let sliced else { return cursor(over: transport) }
    return cursor(over: SlicingTransport(transport, sliced), delivery: .asItArrives)
  }

  /// The transcript's listing, at another server.
  func cursor(over transport: any HTTPTransport, delivery: PageDelivery = .whole) -> Cursor<String>
  {
    var configuration = PageClient.Configuration()
    // On the other clock the time for closing would be up at once.
    configuration.clock = transcript.closes ? ManualClock() : clock
    configuration.logger = log.logger
    configuration.acceptsUnprovenEnd = transcript.isBytes
    var environment = PageClient.Environment()
    environment.random = { 0 }
    let client = PageClient(
      transport: transport, headers: transcript.clientHeaders, configuration: configuration
    ).with(environment)
    let request = PageClient.RequestOptions(
      method: transcript.method, headers: transcript.fields,
      body: transcript.body)
    if transcript.isBytes {
      return client.cursor(
        at: transcript.url, pagination: transcript.pagination, pageSize: transcript.pageSize,
        request: request, decoder: BytesPageDecoder(), delivery: delivery
      ).map { String(decoding: $0, as: UTF8.self) }
    }
    let id = transcript.id
    let json = ClosurePageDecoder { item in
      let value = try item.value
      return (value.value(at: id) ?? value).plainText
    }
    let xml = MappedPageDecoder(XMLItemPageDecoder()) { item in
      let text = try (item.value(at: id) ?? item.value).plainText
      return text.isEmpty ? "-" : text
    }
    return client.cursor(
      at: transcript.url, pagination: transcript.pagination, pageSize: transcript.pageSize,
      request: request, decoder: AutomaticPageDecoder(json: json, xml: xml), delivery: delivery)
  }

  private func check() throws {
    if let pages = transcript.pages {
      #expect(self.pages.map(\.items) == pages)
    } else {
      #expect(pages.count == transcript.pageCount ?? 0)
    }
    if let totals = transcript.totals {
      #expect(pages.map { $0.total.map { "\($0.value):\($0.kind)" } ?? "-" } == totals)
    }
    if let mismatch = failure?.underlying as? ScriptMismatch {
      Issue.record("\(mismatch)")
    } else {
      #expect(
        failure?.code.description == transcript.error, "\(failure.map { "\($0)" } ?? "no error")")
    }
    if let resume = transcript.resume {
      #expect(pages.last?.http?.resume?.value?.description == resume)
    }
    if let recovery = transcript.recovery {
      #expect(pages.map { $0.http?.recovery?.rawValue ?? "-" } == recovery)
    }
    if let message = transcript.message {
      #expect(failure?.description.contains(message) == true, "\(failure?.description ?? "")")
    }
    #expect(transport.unplayed.map(\.url) == [], "not asked for")
    #expect(clock.now.offset >= .seconds(transcript.waited))
    if let secret = transcript.secret {
      #expect(!log.text.isEmpty)
      #expect(!log.text.contains(secret))
      for text in texts { #expect(!text.contains(secret)) }
    }
  }
}

/// Cuts the bodies of another transport into slices.
private struct SlicingTransport: HTTPTransport {
  let base: any HTTPTransport
  let size: Int

  init(_ base: any HTTPTransport, _ size: Int) {
    self.base = base
    self.size = size
  }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    var response = try await base.send(request)
    var bytes: [UInt8] = []
    while let slice = try await response.body.next() { bytes += slice }
    let body = TransportBody.slices(
      stride(from: 0, to: bytes.count, by: size).map {
        Array(bytes[$0..<min(bytes.count, $0 + size)])
      })
    response.body = TransportBody(next: { try await body.next() })
    return response
  }
}

/// Plays every transcript of one file of `Tests/Fixtures/vectors`.
func play(_ file: String) async throws {
  for transcript in try Transcript.all(in: file) {
    var player = TranscriptPlayer(transcript)
    try await player.play()
  }
}
