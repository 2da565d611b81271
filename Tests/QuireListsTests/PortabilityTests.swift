import Foundation
import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct PortabilityTests {
  /// Takes what may be shared, which the compiler checks.
  private func share<Value: Sendable>(_ value: Value) -> Value { value }

  @Test(
    "X-15: all that a list is made of is shared by tasks on any thread, and no main thread is needed"
  )
  func sharesEverything() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 5, count: 40))
    let cursor = share(Cursor(source).deduplicated { $0 })
    let list = share(PagedList(cursor, options: ListOptions(threshold: .onDemand)))
    let walk = share(cursor.walk())
    let trigger = share(ThresholdTrigger())
    let controls = share(ScrollControls(for: list))
    let sections = share(SectionedList(autoLoad: false))
    let crossings = Recorder<Double>()
    trigger.onCrossing {
      crossings.note($0.fraction)
      return false
    }
    sections.attach { SectionAnswer(hasMore: $0 < 40, counts: [$0 * 5]) }
    let (states, events) = (share(list.states), share(list.events))
    let listeners = [
      Task.detached { await states.makeAsyncIterator().next(79).count },
      Task.detached { await events.makeAsyncIterator().next(1).count },
    ]
    let walked = try await withThrowingTaskGroup(of: [Int].self) { group in
      for task in 0..<8 {
        group.addTask {
          var items: [Int] = []
          while let page = try await walk.next() {
            items += page.items
            try await list.loadMore()
            try await sections.loadMore()
            trigger.report(consumed: task + 1, loaded: 8)
            controls.scrolled(to: Double(task), in: Viewport(content: 100, extent: 10))
            _ = (list.snapshot.count, sections.sections, controls.header, trigger.threshold)
          }
          return items
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(walked.sorted() == Array(0..<200))
    #expect(try await list.items.collected() == Array(0..<200))
    while try await sections.loadMore() {}
    #expect(sections.sections.itemCount == 200)
    #expect(crossings.count == 1)
    for listener in listeners { #expect(await listener.value > 0) }
  }

  /// A directory with the modules that this test was built with.
  private static var modules: URL? {
    var directory = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    for _ in 0..<4 {
      let modules = directory.appending(path: "Modules")
      let module = modules.appending(path: "QuireCore.swiftmodule")
      if FileManager.default.fileExists(atPath: module.path) { return modules }
      directory = directory.deletingLastPathComponent()
    }
    return nil
  }

  /// What the compiler says of a program in language mode 6, where concurrency is checked completely;
  /// warnings are errors.
  private func compile(_ program: String, modules: URL) async throws -> (Int32, String) {
    let file = FileManager.default.temporaryDirectory
      .appending(path: "Portability-\(UUID().uuidString).swift")
    try program.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6",
      "-warnings-as-errors", "-I", modules.path, file.path,
    ]
    let pipe = Pipe()
    process.standardError = pipe
    try process.run()
    let words = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, words)
  }

  @Test(
    "X-15: a program in language mode 6 builds without a warning, and cannot share what is not shared",
    .enabled(if: modules != nil), .timeLimit(.minutes(15)))
  func buildsInMode6() async throws {
    let modules = try #require(Self.modules)
    func program(_ shared: String) -> String {
      """
      import QuireCore
      import QuireLists
      func share(_ value: some Sendable) {}
      @main struct Program {
        static func main() async {
          let list = PagedList(Cursor(pages: [[1], [2]]))
          let paginator = Paginator(Cursor(pages: [[1], [2]]))
          share(list)
          share(paginator)
          share(\(shared))
        }
      }
      """
    }
    for shared in ["list", "list.snapshot", "list.states", "ScrollControls(for: list)"] {
      let (status, words) = try await compile(program(shared), modules: modules)
      #expect(status == 0, "\(shared): \(words)")
    }
    for iterator in ["list", "paginator", "paginator.items", "Cursor(pages: [[1]])"] {
      let (status, words) = try await compile(
        program("\(iterator).makeAsyncIterator()"), modules: modules)
      #expect(status != 0 && words.contains("error:"), "\(iterator) \(words)")
      #expect(words.contains("Sendable"), "\(iterator): \(words)")
    }
  }
}
