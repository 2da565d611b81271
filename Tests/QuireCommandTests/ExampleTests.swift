import Foundation
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

@Suite("The examples", .timeLimit(.minutes(15)))
struct ExampleTests {
  @Test("HelloQuire, the README's first example, prints every record of the demo API")
  func helloQuire() async throws {
    let ending = try await DemoServer.whileServing(port: 0) { origin in
      try await Command.run("HelloQuire", "\(origin)/link-header")
    }
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.lines == (1...DemoRecords.count).map { "\($0) Record \($0)" })
  }

  @Test("16-Sinks: OwnSink fills a folder of its own, and goes on where it was stopped")
  func ownSink() async throws {
    let isBroken = Mutex(true)
    let server = try FaultServer { request in
      let page = Int(request.target.split(separator: "=").last ?? "1") ?? 1
      if page == 3, isBroken.withLock({ $0 }) { return [.respond("", status: "404 Not Found")] }
      let link = page < 4 ? [("Link", "</list?page=\(page + 1)>; rel=\"next\"")] : []
      return [.respond("[{\"id\": \(page)}]", headers: link)]
    }
    defer { server.stop() }
    let folder = TemporaryFile()
    defer { try? FileManager.default.removeItem(atPath: folder.path + ".state") }
    let arguments = [server.url("/list?page=1"), folder.path]
    let stopped = try await Command(arguments, of: "OwnSink").end()
    #expect(stopped.status != 0)
    isBroken.withLock { $0 = false }
    let rest = try await Command(arguments, of: "OwnSink").end()
    #expect(
      rest.status == 0 && rest.output.contains("complete: 2 pages, 2 items"), "\(rest.output)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["1.json", "2.json", "3.json", "4.json"])
  }

  @Test("C-8: ExportWithResume goes on where it was stopped, in a new process")
  func exportWithResume() async throws {
    let isBroken = Mutex(true)
    let server = try FaultServer { request in
      let page = Int(request.target.split(separator: "=").last ?? "1") ?? 1
      if page == 3, isBroken.withLock({ $0 }) {
        return [.respond("", status: "500 Internal Server Error")]
      }
      let link = page < 5 ? [("Link", "</list?page=\(page + 1)>; rel=\"next\"")] : []
      return [.respond("[{\"page\": \(page)}]", headers: link)]
    }
    defer { server.stop() }
    let file = TemporaryFile()
    defer { try? FileManager.default.removeItem(atPath: file.path + ".position") }

    let stopped = try await Command.run("ExportWithResume", server.url("/list?page=1"), file.path)
    #expect(stopped.status != 0)
    #expect(try file.lines() == ["{\"page\":1}", "{\"page\":2}"])
    isBroken.withLock { $0 = false }
    // What a run leaves that was killed after it wrote page 3, and before it said so.
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file.path))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("{\"page\":3}\n{\"pa".utf8))
    try handle.close()

    let resumed = try await Command.run("ExportWithResume", server.url("/list?page=1"), file.path)
    #expect(resumed.status == 0, "\(resumed.errors)")
    #expect(resumed.output == "complete\n")
    #expect(try file.lines() == (1...5).map { "{\"page\":\($0)}" })

    let requests = server.requests.count
    let again = try await Command.run("ExportWithResume", server.url("/list?page=1"), file.path)
    #expect(again.status == 0, "\(again.errors)")
    #expect(again.output == "complete\n")
    #expect(server.requests.count == requests, "A complete export has nothing to ask for.")
    #expect(try file.lines() == (1...5).map { "{\"page\":\($0)}" })
  }

  @Test("ExportWithResume exports a listing of one page behind what the file held, and once")
  func exportOfOnePage() async throws {
    let server = try FaultServer { _ in [.respond("[1, 2]")] }
    defer { server.stop() }
    let file = TemporaryFile("0\n")
    defer { try? FileManager.default.removeItem(atPath: file.path + ".position") }
    for _ in 1...2 {
      let ending = try await Command.run("ExportWithResume", server.url("/list"), file.path)
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(try file.lines() == ["0", "1", "2"])
    }
  }

  @Test("C-11: ClosureSource walks a listing that is no HTTP, and keeps its pages")
  func closureSource() async throws {
    let ending = try await Command.run("ClosureSource")
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(
      ending.lines == ["page 0: MERCURY", "page 1: JUPITER, SATURN", "page 2: URANUS, NEPTUNE"])
  }

  @Test("15-Rate: FiftyWalks drains fifty listings of a server that would refuse them one by one")
  func fiftyWalks() async throws {
    let isFirst = Atomic(true)
    let server = try FaultServer { request in
      let page = request.target.contains("page=2") ? 2 : 1
      var headers = [("Content-Type", "application/json")]
      if page == 1 { headers.append(("Link", "<\(request.target)&page=2>; rel=\"next\"")) }
      // However slow the program is, its walks have to wait for this.
      if isFirst.exchange(false, ordering: .relaxed) {
        headers += [("RateLimit-Remaining", "0"), ("RateLimit-Reset", "2")]
      }
      return [.respond(#"{"items":[\#(page)]}"#, headers: headers)]
    }
    defer { server.stop() }
    let ending = try await Command.run("FiftyWalks", server.url("/list"))
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(
      ending.lines == [
        "50 walks, 100 items, 100 requests", "some waited for the budget they share",
      ])
    #expect(server.requests.count == 100)
  }

  @Test("D-1: ListBucket lists a bucket of a server that speaks S3, every key and every page")
  func listBucket() async throws {
    let keys = ["a b", "a+b&c", "caf\u{E9}", "<tag>", "\u{4E2D}/100%", "z"]
    let server = try FaultServer { request in
      let start = keys.indices.first { request.target.hasSuffix("=t%2B\($0)%3D") } ?? 0
      let page = keys.indices.dropFirst(start).prefix(2)
      let contents = page.map { index in
        let key = keys[index].replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        return """
          <Contents><Key>\(key)</Key><LastModified>2025-03-0\(index + 1)T12:00:00.000Z\
          </LastModified><ETag>&quot;x&quot;</ETag><Size>\(index * 10)</Size></Contents>
          """
      }
      let next = page.endIndex < keys.endIndex ? page.endIndex : nil
      let token = next.map { "<NextContinuationToken>t+\($0)=</NextContinuationToken>" } ?? ""
      let body = """
        <?xml version="1.0" encoding="UTF-8"?>
        <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>\
        <IsTruncated>\(next != nil)</IsTruncated>\(contents.joined())\(token)</ListBucketResult>
        """
      return [.respond(body, headers: [("Content-Type", "application/xml")])]
    }
    defer { server.stop() }

    let ending = try await Command.run("ListBucket", server.url("/bucket?prefix="))
    #expect(ending.status == 0, "\(ending.errors)")
    let lines = keys.enumerated().map { "2025-03-0\($0 + 1)T12:00:00Z \($0 * 10) \($1)" }
    #expect(ending.lines == lines + ["150 bytes"])
    #expect(
      server.requests.map(\.target) == [
        "/bucket?prefix=&list-type=2", "/bucket?prefix=&list-type=2&continuation-token=t%2B2%3D",
        "/bucket?prefix=&list-type=2&continuation-token=t%2B4%3D",
      ])
  }
}
