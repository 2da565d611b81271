import Foundation
import TestSupport
import Testing

@testable import QuireCommand

@Suite("The example TerminalReader", .timeLimit(.minutes(3)))
struct TerminalReaderTests {
  /// A server with pages of ten records; its nth answer may fail, or wait for a gate.
  private func listing(
    pages: Int, failing: Set<Int> = [], gates: [Int: StallGate] = [:]
  ) throws -> FaultServer {
    try FaultServer { request in
      if failing.contains(request.ordinal) { return [.respond("", status: "404 Not Found")] }
      let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
      let records = (10 * page - 9...10 * page).map {
        "{\"id\": \($0), \"name\": \"Record \($0)\"}"
      }
      let link = page < pages ? [("Link", "</list?page=\(page + 1)>; rel=\"next\"")] : []
      let answer = FaultStep.respond("[\(records.joined(separator: ","))]", headers: link)
      return gates[request.ordinal].map { [.stall(until: $0), answer] } ?? [answer]
    }
  }

  private func pages(_ server: FaultServer) -> [String] {
    server.requests.map { $0.target.split(separator: "=").last.map(String.init) ?? "" }
  }

  /// What the window shows after each `show` of a script: its title, and its eight rows.
  private func play(
    _ script: String, at url: String
  ) async throws -> [(title: String, rows: [String])] {
    let file = TemporaryFile(script)
    let ending = try await Command(
      ["--script", url], of: "TerminalReader",
      input: FileHandle(forReadingFrom: URL(fileURLWithPath: file.path))
    ).end()
    #expect(ending.status == 0, "\(ending.errors)")
    let lines = ending.output.components(separatedBy: "\n").dropLast()
    return stride(from: 0, to: lines.count, by: 12).map { start in
      let rows = lines[start + 2..<start + 10].map { $0.trimmingCharacters(in: .whitespaces) }
      return (lines[start].split(separator: " ").joined(separator: " "), rows)
    }
  }

  private func rows(_ range: ClosedRange<Int>) -> [String] { range.map { "\($0)  Record \($0)" } }

  @Test("P-7: it loads before the end is in sight, at the end, and anew when it is pulled down")
  func scrolls() async throws {
    let server = try listing(pages: 3)
    defer { server.stop() }
    let shown = try await play(
      """
      wait show
      down show
      down wait show
      end wait show
      end show
      pageUp show
      home up down show up up
      up wait show
      """, at: server.url("/list?page=1"))
    #expect(
      shown.map(\.title) == [
        "Records: 10 records content", "Records: 10 records content",
        "Records: 20 records content", "Records: 30 records exhausted",
        "Records: 30 records exhausted", "Records: 30 records exhausted",
        "Records: 30 records exhausted", "Records: 10 records content",
      ])
    #expect(
      shown.map(\.rows) == [
        rows(1...8), rows(2...9), rows(3...10), rows(14...21), rows(24...30) + ["that is all"],
        rows(16...23), rows(1...8), rows(1...8),
      ])
    #expect(pages(server) == ["1", "2", "3", "1"])
  }

  @Test("TI-26, TI-49: what fails has a row that tries again, and what was there stays")
  func retries() async throws {
    let server = try listing(pages: 2, failing: [1, 3, 5])
    defer { server.stop() }
    let shown = try await play(
      """
      wait show enter wait show
      end wait show enter wait show
      home up up up wait show
      enter wait show
      """, at: server.url("/list?page=1"))
    #expect(
      shown.map(\.title) == [
        "Records: 0 records loadingError", "Records: 10 records content",
        "Records: 10 records loadingMoreError", "Records: 20 records exhausted",
        "Records: 20 records loadingError", "Records: 10 records content",
      ])
    #expect(shown[0].rows[4].contains("404"))
    #expect(shown[1].rows == rows(1...8))
    #expect(shown[2].rows == rows(4...10) + ["Retry load more (Enter)"])
    #expect(shown[3].rows == rows(4...11))
    #expect(shown[4].rows == rows(1...8))
    #expect(pages(server) == ["1", "1", "2", "2", "1", "1"])
  }

  @Test(
    "CP-15, OU-03: left and right turn pages as high as the window, across pages of the listing")
  func turns() async throws {
    let server = try listing(pages: 2)
    defer { server.stop() }
    let shown = try await play(
      "wait down right wait show right wait show right show left left left show",
      at: server.url("/list?page=1"))
    // The second window-high page is begun with ten records, and full once more are there.
    #expect(
      shown.map(\.rows.first) == ["4  Record 4", "9  Record 9", "14  Record 14", "1  Record 1"])
  }

  @Test("It reads the demo API")
  func demo() async throws {
    let shown = try await DemoServer.whileServing(port: 0) { origin in
      try await play("wait pageDown wait end wait show", at: origin + "/link-header")
    }
    #expect(shown.count == 1)
    #expect(shown[0].title.hasSuffix("content"))
    #expect(shown[0].rows.allSatisfy { $0.contains("Record ") })
  }

  @Test("In a terminal keys are heard, what loads is seen, and Ctrl-C leaves all as it was")
  func terminal() async throws {
    let gates = [1: StallGate(), 2: StallGate(), 3: StallGate()]
    let server = try listing(pages: 5, gates: gates)
    defer { server.stop() }
    let terminal = try PseudoTerminal(rows: 12, columns: 60)
    let modes = terminal.modes
    let command = try Command(
      [server.url("/list?page=1")], of: "TerminalReader", terminal: terminal)

    #expect(await terminal.screen { $0.contains { $0.contains("Loading …") } } != nil)
    #expect(terminal.modes != modes)
    gates[1]?.open()
    let first = try #require(await terminal.screen { $0.contains(" 1  Record 1") })
    #expect(first.count == 12)
    #expect(first[0].hasSuffix("content "))

    terminal.type("\u{1B}[F")
    #expect(await terminal.screen { $0.contains { $0.contains("loading more …") } } != nil)
    gates[2]?.open()
    #expect(await terminal.screen { $0.contains(" 11  Record 11") } != nil)

    terminal.type("\u{1B}[H")
    #expect(await terminal.screen { $0.contains(" 1  Record 1") } != nil)
    terminal.type("\u{1B}[A\u{1B}[A")
    #expect(await terminal.screen { $0.contains { $0.contains("pull to refresh: 66 %") } } != nil)
    terminal.type("\u{1B}[A")
    let refreshing = await terminal.screen { $0.contains { $0.contains("refreshing …") } }
    #expect(refreshing?.contains(" 1  Record 1") == true)
    gates[3]?.open()
    let again = await terminal.screen { $0[0].contains("10 records") && $0[2] == " 1  Record 1" }
    #expect(again != nil)

    terminal.type("\u{3}")
    let ending = try await command.end()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(terminal.modes == modes)
    #expect(await terminal.output(endingWith: "\u{1B}[?25h\u{1B}[?1049l"))
  }

  @Test("A signal that ends it leaves the terminal as it was, too", arguments: [SIGTERM, SIGINT])
  func signals(signal: Int32) async throws {
    let server = try listing(pages: 1)
    defer { server.stop() }
    let terminal = try PseudoTerminal(rows: 12, columns: 60)
    let modes = terminal.modes
    let command = try Command(
      [server.url("/list?page=1")], of: "TerminalReader", terminal: terminal)
    #expect(await terminal.screen { $0.contains(" 1  Record 1") } != nil)
    command.send(signal: signal)
    let ending = try await command.end()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(terminal.modes == modes)
    #expect(await terminal.output(endingWith: "\u{1B}[?25h\u{1B}[?1049l"))
  }
}
