import Dispatch
import Foundation
import TestSupport
import Testing

@testable import HelloQuire

@Suite("What a program that depends on Quire gets", .timeLimit(.minutes(15)))
struct DependentTests {
  @Test("12-A10: libraries bring in two packages, and what not all need hangs on traits")
  func packages() async throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    let scratch = FileManager.default.temporaryDirectory
      .appending(path: "manifest-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swift", "package", "--package-path", root.path, "--scratch-path", scratch, "dump-package",
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let manifest = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let targets = try #require(manifest["targets"] as? [[String: Any]])
    var unconditional: Set<String> = []
    var conditional: [String: Set<String>] = [:]
    for target in targets {
      for case let product as [Any] in (target["dependencies"] as? [[String: Any]] ?? [])
        .compactMap({ $0["product"] })
      {
        let name = try #require(product[1] as? String)
        let traits = (product.last as? [String: Any])?["traits"] as? [String]
        guard let trait = traits?.first else {
          unconditional.insert(name)
          continue
        }
        #expect(traits?.count == 1)
        conditional[trait, default: []].insert(name)
      }
    }
    #expect(unconditional == ["swift-http-types", "swift-log"])
    #expect(
      conditional
        == [
          "Tool": ["swift-argument-parser", "FlyingFox", "Yams"], "SQLite": ["GRDB.swift"],
          "Telemetry": ["swift-metrics", "swift-distributed-tracing"],
        ])
  }

  @Test(
    "12-A1: the first example's loop does not need the main actor: it walks on while that is blocked",
    .timeLimit(.minutes(15)))
  @MainActor func leavesMainActor() async throws {
    let begun = DispatchSemaphore(value: 0)
    let walked = DispatchSemaphore(value: 0)
    let server = try FaultServer { request in
      let page = Int(request.target.split(separator: "=").last ?? "1") ?? 1
      (page == 1 ? begun : walked).signal()
      let link = page < 2 ? [("Link", "</list?page=\(page + 1)>; rel=\"next\"")] : []
      return [.respond("[{\"id\": \(page), \"name\": \"n\"}]", headers: link)]
    }
    defer { server.stop() }
    let url = server.url("/list?page=1")
    let walk = Task { try await HelloQuire.list(url) }
    await Task.yield()
    func wait(_ semaphore: DispatchSemaphore) -> DispatchTimeoutResult {
      semaphore.wait(timeout: .now() + 300)
    }
    #expect(wait(begun) == .success)
    #expect(wait(walked) == .success)
    try await walk.value
  }
}
