import Foundation
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

@Suite("The examples")
struct ExampleTests {
  @Test("HelloQuire, the README's first example, prints every record of the demo API")
  func helloQuire() async throws {
    let ending = try await DemoServer.whileServing(port: 0) { origin in
      try await Command.run("HelloQuire", "\(origin)/link-header")
    }
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.lines == (1...DemoRecords.count).map { "\($0) Record \($0)" })
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

    let resumed = try await Command.run("ExportWithResume", server.url("/list?page=1"), file.path)
    #expect(resumed.status == 0, "\(resumed.errors)")
    #expect(resumed.output == "complete\n")
    #expect(try file.lines() == (1...5).map { "{\"page\":\($0)}" })
    #expect(!FileManager.default.fileExists(atPath: file.path + ".position"))
  }

  @Test("C-11: ClosureSource walks a listing that is no HTTP, and keeps its pages")
  func closureSource() async throws {
    let ending = try await Command.run("ClosureSource")
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(
      ending.lines == ["page 0: MERCURY", "page 1: JUPITER, SATURN", "page 2: URANUS, NEPTUNE"])
  }
}
