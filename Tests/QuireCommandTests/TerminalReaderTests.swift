import Foundation
import TestSupport
import Testing

@testable import QuireCommand

@Suite("The example TerminalReader", .timeLimit(.minutes(15)))
struct TerminalReaderTests {
  /// A server with pages of ten records that lead on and back; its nth answer may fail, or wait for a gate.
  private func listing(
    pages: Int, failing: Set<Int> = [], gates: [Int: StallGate] = [:]
  ) throws -> FaultServer {
    try FaultServer { request in
      if failing.contains(request.ordinal) { return [.respond("", status: "404 Not Found")] }
      let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
      let records = (10 * page - 9...10 * page).map {
        "{\"id\": \($0), \"name\": \"Record \($0)\"}"
      }
      var links: [String] = []
      if page < pages { links.append("</list?page=\(page + 1)>; rel=\"next\"") }
      if page > 1 { links.append("</list?page=\(page - 1)>; rel=\"prev\"") }
      let answer = FaultStep.respond(
        "[\(records.joined(separator: ","))]",
        headers: links.isEmpty ? [] : [("Link", links.joined(separator: ", "))])
      return gates[request.ordinal].map { [.stall(until: $0), answer] } ?? [answer]
    }
  }

  private func pages(_ server: FaultServer) -> [String] {
    server.requests.map { $0.target.split(separator: "=").last.map(String.init) ?? "" }
  }

  /// A screen that `show` prints: its title, the day above the rows, the rows, and the last line.
  private struct Screen {
    var title: String
    var day: String
    var rows: [String]
    var bottom: String

    /// Rows without what stands at their right.
    var records: [String] { rows.map { $0.components(separatedBy: "   ")[0] } }

    init(_ lines: ArraySlice<String>) {
      let lines = Array(lines)
      title = lines[0].split(separator: " ").joined(separator: " ")
      day = lines[1].trimmingCharacters(in: CharacterSet(charactersIn: "─ "))
      rows = lines[2..<lines.count - 2].map { $0.trimmingCharacters(in: .whitespaces) }
      bottom = lines[lines.count - 1].trimmingCharacters(in: .whitespaces)
    }
  }

  private func print(
    _ script: String, at url: String, _ options: [String] = []
  ) async throws -> [String] {
    let file = TemporaryFile(script)
    let ending = try await Command(
      ["--script"] + options + [url], of: "TerminalReader",
      input: FileHandle(forReadingFrom: URL(fileURLWithPath: file.path))
    ).end()
    #expect(ending.status == 0, "\(ending.errors)")
    return ending.output.components(separatedBy: "\n").dropLast()
  }

  /// The screens of a script; each has eight rows.
  private func play(
    _ script: String, at url: String, _ options: String...
  ) async throws -> [Screen] {
    let lines = try await print(script, at: url, options)
    return stride(from: 0, to: lines.count - 11, by: 12).map { Screen(lines[$0..<$0 + 12]) }
  }

  private func rows(_ range: ClosedRange<Int>, chosen: Int? = nil) -> [String] {
    range.map { ($0 == chosen ? ">" : "") + "\($0)  Record \($0)" }
  }

  @Test(
    "18-Reader, P-7: it loads before the end is in sight, to the end, and anew when it is pulled down"
  )
  func scrolls() async throws {
    let server = try listing(pages: 3)
    defer { server.stop() }
    let shown = try await play(
      """
      wait show
      down down show
      pageDown down show
      wait end wait end wait show
      pageUp show
      home wait show up up show
      up wait show
      """, at: server.url("/list?page=1"))
    try #require(shown.count == 8)
    #expect(shown[0].title == "Records: 20 more to come")
    #expect(shown[0].records == rows(1...8, chosen: 1))
    #expect(shown[1].records == rows(1...8, chosen: 3))
    #expect(shown[2].records == rows(5...12, chosen: 12))
    #expect(shown[3].title == "Records: 30 all loaded")
    #expect(shown[3].rows.last == "that is all" && shown[3].records.prefix(7) == rows(24...30)[...])
    #expect(shown[4].records == rows(23...30, chosen: 23))
    #expect(shown[5].records == rows(1...8, chosen: 1))
    #expect(shown[6].rows.prefix(3) == ["pull to refresh: 66 %", "", ">1  Record 1"])
    #expect(shown[7].title == "Records: 20 more to come")
    #expect(shown[7].records == rows(1...8, chosen: 1))
    #expect(pages(server) == ["1", "2", "3", "1", "2"])
  }

  @Test(
    "18-Reader, 18-Section: records are sectioned by day, and the day of the first one stays above them"
  )
  func days() async throws {
    let server = try listing(pages: 9)
    defer { server.stop() }
    let shown = try await play(
      "wait show pageDown show pageDown show", at: server.url("/list?page=1"))
    try #require(shown.count == 3)
    #expect(shown.map(\.day) == ["2026-03-01", "2026-03-01", "2026-02-28"])
    #expect(
      shown[1].rows.first { $0.hasPrefix("9 ") || $0.hasPrefix(">9 ") }?.hasSuffix("2026-02-28")
        == true)
    #expect(shown[0].rows.allSatisfy { !$0.contains("2026") })
  }

  @Test("18-Reader, TI-26, TI-49: what fails has a row that tries again, and what was there stays")
  func retries() async throws {
    let server = try listing(pages: 2, failing: [1, 3, 5])
    defer { server.stop() }
    let shown = try await play(
      """
      wait show enter wait show
      end show enter wait show
      home up up up wait show
      enter wait show
      """, at: server.url("/list?page=1"))
    try #require(shown.count == 6)
    #expect(shown[0].title == "Records: 0 failed" && shown[0].rows[4].contains("404"))
    #expect(shown[1].title == "Records: 10 failed")
    #expect(shown[1].records == rows(1...8, chosen: 1))
    #expect(shown[2].rows.last == "could not be loaded (Enter)")
    #expect(shown[3].title == "Records: 20 all loaded" && shown[3].records.last == ">11  Record 11")
    #expect(shown[4].title == "Records: 20 offline" && shown[4].bottom.contains("404"))
    #expect(shown[4].records == rows(1...8, chosen: 1))
    #expect(shown[5].title == "Records: 20 all loaded")
    #expect(pages(server) == ["1", "1", "2", "2", "1", "1", "2"])
  }

  @Test(
    "18-Reader, IN-27: a reader that begins in the midst loads what comes before, and nothing jumps"
  )
  func bothEnds() async throws {
    let server = try listing(pages: 9)
    defer { server.stop() }
    let shown = try await play(
      "wait show home wait show pageUp pageUp pageUp pageUp wait pageUp pageUp wait pageUp wait home wait show",
      at: server.url("/list?page=5"))
    try #require(shown.count == 3)
    #expect(shown[0].records.contains(">41  Record 41"))
    #expect(shown[2].records == rows(1...8, chosen: 1))
  }

  @Test("18-Reader, 18-Edit: a record is deleted, stays deleted over loads, and comes back")
  func deletes() async throws {
    let server = try listing(pages: 9)
    defer { server.stop() }
    let shown = try await play(
      """
      wait down d show d show
      pageDown pageDown wait home wait show
      u show u show u show
      """, at: server.url("/list?page=1"))
    try #require(shown.count == 6)
    #expect(shown[0].records == ["1  Record 1"] + rows(3...9, chosen: 3))
    #expect(shown[0].bottom == "Record 2 is deleted; u takes it back")
    #expect(shown[1].records == ["1  Record 1"] + rows(4...10, chosen: 4))
    #expect(shown[2].records == [">1  Record 1"] + rows(4...10))
    #expect(shown[3].records == [">1  Record 1"] + rows(3...9))
    #expect(shown[4].records == rows(1...8, chosen: 1) && shown[4].bottom == "Record 2 is back")
    #expect(shown[5].bottom == "nothing to take back")
  }

  @Test(
    "18-Reader, 18-View: a filter acts while it is typed, loads what it needs, and goes with escape"
  )
  func filters() async throws {
    let server = try listing(pages: 4)
    defer { server.stop() }
    let shown = try await play(
      "wait / 2 show 9 wait show x show backspace enter show escape show",
      at: server.url("/list?page=1"))
    try #require(shown.count == 5)
    #expect(shown[0].bottom == "filter: 2_")
    #expect(shown[0].records.first == ">2  Record 2")
    // More may have come already while the first matches are shown.
    let found = ["3 found in 20 ", "12 found in 30 ", "13 found in 40 "]
    #expect(found.contains { shown[0].title.contains($0) }, "\(shown[0].title)")
    #expect(shown[1].records.first == ">29  Record 29")
    #expect(shown[1].title == "Records: 1 found in 40 all loaded")
    #expect(shown[2].rows[4] == "no record is like that")
    #expect(shown[3].records.first == ">29  Record 29" && shown[3].bottom.contains("Esc: show all"))
    // The record that was found stays chosen, with what lies around it.
    #expect(shown[4].title == "Records: 40 all loaded")
    #expect(shown[4].records == rows(25...32, chosen: 29))
  }

  @Test(
    "18-Reader, 18-Window: any of 10,000 records is gone to in one request, and few pages are held")
  func jumps() async throws {
    let server = try FaultServer { request in
      let parts = request.target.split { "?&=".contains($0) }.map(String.init)
      let offset = parts.firstIndex(of: "offset").flatMap { Int(parts[$0 + 1]) } ?? 0
      let records = (offset + 1...offset + 100).map {
        "{\"id\": \($0), \"name\": \"Record \($0)\"}"
      }
      return [
        .respond("{\"total\": 10000, \"items\": [\(records.joined(separator: ","))]}")
      ]
    }
    defer { server.stop() }
    let shown = try await play(
      "wait show g 7 7 7 7 enter wait show pageUp pageUp wait show g 1 enter wait show",
      at: server.url("/list"), "--offset")
    try #require(shown.count == 4)
    #expect(shown[0].title.contains("of 10000"))
    #expect(shown[1].records.contains(">7777  Record 7777"), "\(shown[1])")
    #expect(shown[2].records.contains(">7761  Record 7761"))
    #expect(shown[3].records == rows(1...8, chosen: 1))
    // The first page, the one with the record, and the first one again, which the jump has left behind.
    #expect(
      server.requests.map(\.target) == [
        "/list?limit=100", "/list?limit=100&offset=7700", "/list?limit=100",
      ])
  }

  @Test("18-Reader: the screen is as large as it is told, and keeps the chosen record in view")
  func resizes() async throws {
    let server = try listing(pages: 3)
    defer { server.stop() }
    let lines = try await print(
      "wait pageDown show size:7x24 show", at: server.url("/list?page=1"))
    #expect(lines.count == 12 + 7)
    #expect(lines.dropFirst(12).allSatisfy { $0.count <= 24 })
    #expect(
      lines.suffix(7) == [
        " Records: 20 more to com", "── 2026-03-01 ──────────", " 7  Record 7", " 8  Record 8",
        ">9  Record 9 2026-02-28 ",
        "────────────────────────", " d  u  /  g  q: quit",
      ])
  }

  @Test(
    "18-Reader, 18-Store: without its server it shows what it has kept, and says that it is offline"
  )
  func offline() async throws {
    let server = try listing(pages: 3)
    let url = server.url("/list?page=1")
    let file = TemporaryFile()
    let online = try await play("wait end wait show", at: url, "--store", file.path)
    #expect(online.first?.title == "Records: 30 all loaded")
    #expect(try file.lines().count == 3)
    server.stop()
    let offline = try await play("wait show pageDown wait show", at: url, "--store", file.path)
    try #require(offline.count == 2)
    #expect(offline[0].title == "Records: 30 offline, stale")
    #expect(offline[0].records == rows(1...8, chosen: 1))
    #expect(offline[1].records.contains(">9  Record 9"))
  }

  @Test("18-Reader: it reads the demo API")
  func demo() async throws {
    let shown = try await DemoServer.whileServing(port: 0) { origin in
      try await play("wait pageDown wait end wait show", at: origin + "/link-header")
    }
    #expect(shown.count == 1)
    #expect(shown[0].rows.prefix(7).allSatisfy { $0.contains("Record ") })
  }

  @Test(
    "18-Reader: in a terminal keys are read, what loads is seen, and Ctrl-C leaves all as it was")
  func terminal() async throws {
    let gates = [1: StallGate(), 2: StallGate(), 3: StallGate()]
    let server = try listing(pages: 2, gates: gates)
    defer { server.stop() }
    let terminal = try PseudoTerminal(rows: 12, columns: 60)
    let modes = terminal.modes
    let command = try Command(
      [server.url("/list?page=1")], of: "TerminalReader", terminal: terminal)

    #expect(await terminal.screen { $0.contains { $0.contains("░░░░") } } != nil)
    #expect(terminal.modes != modes)
    gates[1]?.open()
    let first = try #require(await terminal.screen { $0.contains(">1  Record 1") })
    #expect(first.count == 12)
    terminal.type("\u{1B}[F")
    // The title says so before the key is read; the last row is there only after it.
    #expect(
      await terminal.screen { $0.dropFirst().contains { $0.contains("loading more …") } } != nil)
    gates[2]?.open()
    #expect(await terminal.screen { $0.contains(">11  Record 11") } != nil)

    terminal.type("\u{1B}[H")
    #expect(await terminal.screen { $0.contains(">1  Record 1") } != nil)
    terminal.type("\u{1B}[A\u{1B}[A")
    #expect(await terminal.screen { $0.contains { $0.contains("pull to refresh: 66 %") } } != nil)
    terminal.type("\u{1B}[A")
    let refreshing = await terminal.screen { $0.contains { $0.contains("refreshing …") } }
    #expect(refreshing?.contains(">1  Record 1") == true)
    gates[3]?.open()
    let again = await terminal.screen {
      !$0.contains { $0.contains("refreshing …") } && $0[2] == ">1  Record 1"
    }
    #expect(again != nil)

    terminal.type("\u{3}")
    let ending = try await command.end()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(terminal.modes == modes)
    #expect(await terminal.output(endingWith: "\u{1B}[?25h\u{1B}[?1049l"))
  }

  @Test(
    "18-Reader: a signal that ends it leaves the terminal as it was, too",
    arguments: [SIGTERM, SIGINT])
  func signals(signal: Int32) async throws {
    let server = try listing(pages: 1)
    defer { server.stop() }
    let terminal = try PseudoTerminal(rows: 12, columns: 60)
    let modes = terminal.modes
    let command = try Command(
      [server.url("/list?page=1")], of: "TerminalReader", terminal: terminal)
    #expect(await terminal.screen { $0.contains(">1  Record 1") } != nil)
    command.send(signal: signal)
    let ending = try await command.end()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(terminal.modes == modes)
    #expect(await terminal.output(endingWith: "\u{1B}[?25h\u{1B}[?1049l"))
  }
}
