import ArgumentParser
import HTTPTypes
@testable import QuireCore
import QuireDetect
import QuireHTTP
import QuireJSON
import QuirePagination
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

/// What the tool makes of pages that are a single value, or a root without content.
@Suite("Pages of every root, by the tool", .timeLimit(.minutes(15)))
struct RootPageTests {
  private static let roots = [
    "null", "true", "0", "1e999", "\"\"", "\"x\"", "[]", "{}", "[null]", "", "nul", "<a/>",
    "<a>x</a>", "<a b='c'/>", "<a><b/></a>", "<a xmlns='urn:x'><!-- c --></a>",
  ]

  private struct Always: HTTPTransport {
    let page: String

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      let type = page.hasPrefix("<") ? "application/xml" : "application/json"
      let fields: HTTPFields = [.contentType: type]
      let head = HTTPResponse(status: .ok, headerFields: fields)
      return TransportResponse(head: head, framing: .explicit, body: .bytes(Array(page.utf8)))
    }
  }

  private static let specs = [
    ["--next", "link"], ["--next", "link", "--items", "/a"], ["--next", "header:X-Next"],
    ["--next", "body:/0", "--send", "query:c", "--end", "flag:/0", "--total", ""],
    ["--next", "last:/id", "--send", "query:c", "--items", "optional:/a/b"],
    ["--next", "offset", "--send", "query:o", "--end", "total:/a", "--end", "empty"],
    ["--next", "page", "--send", "query:p", "--end", "short", "--page-size", "1"],
  ]

  /// Every preset, and descriptions by the options for them; those that a body is missing for have
  /// one.
  private static let plans: [(options: [String], plan: ExportPlan)] =
    (Pagination.presets.map { preset in
      ["--preset", preset.name]
        + (preset.pagination.items.missingPath.map { ["--items", $0.text] } ?? [])
    } + specs).compactMap { options in
      plan(options).map { (options, $0) }
    }

  /// Some descriptions poll, and pause between two requests: sleeping takes no time, and adds up.
  private final class QuickClock: Clock {
    typealias Instant = ContinuousClock.Instant
    private let time = Mutex(ContinuousClock.now)

    var now: Instant { time.withLock { $0 } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) {
      time.withLock { $0 = max($0, deadline) }
    }
  }

  /// The plan of an export with these options, with a body where the description needs one.
  private static func plan(_ options: [String]) -> ExportPlan? {
    let bodies = [[], ["--data", "{}"], ["--data", "a=b"], ["--data", "<a><b/></a>"]]
    for body in bodies {
      let words = ["https://api.test/{id}/things", "--progress", "never"] + options + body
      let command = try? ExportCommand.parse(words)
      if let command, let plan = try? ExportPlan(command) { return plan }
    }
    return nil
  }

  @Test(
    "12-K1: an export of every preset and its plan take a page of any root, and none is a trap",
    arguments: roots)
  func everyPreset(root: String) async throws {
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    configuration.clock = QuickClock()
    let client = PageClient(transport: Always(page: root), configuration: configuration)
    for (options, plan) in Self.plans {
      let cursor = client.cursor(
        at: plan.url, pagination: plan.pagination, pageSize: plan.pageSize, request: plan.request,
        decoder: RawItem.decoder(for: plan.format, raw: false, xmlLimits: plan.xmlLimits))
      // Later pages of the same server are no first pages any more, and cost only time.
      do {
        let walk = cursor.limited(to: Limits(pages: 1)).walk()
        guard let page = try await walk.next() else { continue }
        _ = try await walk.next()
        _ = try plan.forecast(from: page, warnings: walk.report.warnings)
      } catch {
        #expect(error is PageError, "\(options): \(error)")
      }
    }
  }

  @Test(
    "12-K1: export, plan and detect end with a status of their own on a page of any root",
    arguments: roots)
  func processes(root: String) async throws {
    let type = root.hasPrefix("<") ? "application/xml" : "application/json"
    let server = try FaultServer { _ in [.respond(root, headers: [("Content-Type", type)])] }
    defer { server.stop() }
    for words in [
      ["export", "--next", "link", "--retries", "0"],
      ["export", "--next", "link", "--retries", "0", "--plan"],
      ["export", "--preset", "pages", "--max-pages", "1", "--retries", "0"], ["detect"],
    ] {
      let ending = try await Command.quire(words + [server.url("/things")])
      #expect(!ending.wasKilled && [0, 1].contains(ending.status), "\(words): \(ending.errors)")
      #expect(ending.status == 0 || !(ending.errors + ending.output).isEmpty)
    }
  }

  @Test("12-K1: with too few descriptors a command says so and fails, whatever their number")
  func descriptors() async throws {
    let server = try FaultServer { _ in [.respond("[]")] }
    defer { server.stop() }
    for count in [5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40] {
      for command in ["export --next link --retries 0", "detect"] {
        let url = server.url("/things")
        let ending = try await Command.shell("ulimit -n \(count); \"$quire\" \(command) '\(url)'")
          .end()
        #expect(!ending.wasKilled && ending.status < 128, "\(count) \(command): \(ending.status)")
        if count < DescriptorCheck.needed {
          #expect(ending.status == 1)
          #expect(ending.errors.contains("ulimit -n 256"), "\(count): \(ending.errors)")
        }
      }
    }
  }
}
