import Foundation
import Testing

/// Programs that are compiled against the modules that this test was built with.
@Suite struct IsolationTests {
  private static var modules: URL? {
    var directory = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    for _ in 0..<4 {
      let modules = directory.appending(path: "Modules")
      let module = modules.appending(path: "QuireListModel.swiftmodule")
      if FileManager.default.fileExists(atPath: module.path) { return modules }
      directory = directory.deletingLastPathComponent()
    }
    return nil
  }

  private static let program = """
    import QuireCore
    import QuireListModel

    nonisolated struct Mail: Identifiable, Equatable, Sendable { let id: Int; var isRead = false }

    final class Inbox {
      let model = ListModel(Cursor(pages: [[Mail(id: 1)], [Mail(id: 2)]]))
      var days = ListSections { (mail: Mail) in mail.id / 10 }

      func open() async throws {
        try await model.start()
        model.filter = { !$0.isRead }
        model.report(visible: 0..<1)
        days.update(model.items)
        try await model.commit(model.update(1) { $0.isRead = true }) { nil }
        for await change in model.changes { print(change.difference.changed.count, model.state) }
      }
    }

    @main struct Program {
      static func main() async throws { try await Inbox().open() }
    }
    """

  @Test(
    "18-Model, X-15: it is used unchanged in modules whose code is on the main actor, and refused elsewhere",
    .enabled(if: modules != nil), .timeLimit(.minutes(15)), arguments: [true, false])
  func builds(onMainActor: Bool) async throws {
    let modules = try #require(Self.modules)
    let file = FileManager.default.temporaryDirectory
      .appending(path: "Isolation-\(UUID().uuidString).swift")
    try Self.program.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      [
        "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors",
        "-I", modules.path, file.path,
      ] + (onMainActor ? ["-default-isolation", "MainActor"] : [])
    let pipe = Pipe()
    process.standardError = pipe
    try process.run()
    let words = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect((process.terminationStatus == 0) == onMainActor, "\(words)")
    if !onMainActor { #expect(words.contains("main actor-isolated"), "\(words)") }
  }
}
