import TestSupport
import Foundation
import QuireCore
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Presets")
struct PresetTests {
  @Test(
    "Every preset drains a server of its own shape: all items, in order, by the fewest requests",
    arguments: Pagination.presets.map(\.name))
  func drains(_ name: String) async throws {
    let listings = SyntheticListing.all(name, try Pagination.preset(named: name))
    #expect(!listings.isEmpty)
    for listing in listings {
      do {
        try await listing.drain()
      } catch {
        let cause = (error as? PageError)?.underlying.map { "\($0)" } ?? ""
        Issue.record("\(listing.testDescription): \(error) \(cause)")
      }
    }
  }

  @Test(
    "Every alias is a preset by name, drains a server of its shape, and is no preset's own name",
    arguments: Pagination.presets.flatMap(\.aliases))
  func aliases(_ name: String) async throws {
    let pagination = try Pagination.preset(named: name)
    #expect(try Pagination(json: pagination.json.utf8) == pagination)
    for listing in SyntheticListing.all(name, pagination) { try await listing.drain() }
  }

  @Test("Names and aliases are each taken once, and a misspelt alias is suggested")
  func names() throws {
    let names = Pagination.presets.flatMap { [$0.name] + $0.aliases }
    #expect(Set(names).count == names.count)
    #expect(Pagination.presets.map(\.name) == Pagination.presets.map(\.name).sorted())
    #expect(try Pagination.preset(named: "supabase") == .postgrest)
    #expect(
      try Pagination.preset(named: "gcs").size?.send == .member("/maxResults", or: "maxResults"))
    let error = #expect(throws: PageError.self) { try Pagination.preset(named: "wooComerce") }
    #expect(error?.message.contains("\"wooCommerce\"") == true)
    for (name, hint) in [("django", "\"drf\""), ("Commerce", "wooCommerce")] {
      let error = #expect(throws: PageError.self) { try Pagination.preset(named: name) }
      #expect(error?.message.contains(hint) == true, "\(error?.message ?? "")")
    }
  }

  @Test("T35: a page that its request acknowledges is asked for when the one before was handled")
  func acknowledges() async throws {
    let transport = ScriptedTransport([
      ScriptedExchange(
        "https://t.test/getUpdates", answerBody: #"{"ok":true,"result":[{"update_id":7}]}"#),
      ScriptedExchange(
        "https://t.test/getUpdates?offset=8", answerBody: #"{"ok":true,"result":[]}"#),
    ])
    let cursor = PageClient(transport: transport).cursor(
      of: [String: Int].self, at: "https://t.test/getUpdates", pagination: .telegram)
    var asked: [Int] = []
    for try await page in cursor {
      #expect(page.items.count == 1 || asked.count == 1)
      asked.append(2 - transport.unplayed.count)
    }
    #expect(asked == [1, 2])
  }

  @Test("The guide to paginations names every preset and alias, and none that does not exist")
  func guide() throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let guide = try String(
      contentsOf: root.appending(path: "Sources/Quire/Quire.docc/WhichPagination.md"),
      encoding: .utf8)
    let tables = guide.split(separator: "\n").filter { $0.hasPrefix("| ") }.joined()
    let named = Set(tables.matches(of: /`\.(\w+)(?:\([\w:]*\))?`/).map { String($0.1) })
    let parts = ["emptyPage", "shortPage"]
    #expect(Set(Pagination.presets.map(\.name)).subtracting(named) == [])
    #expect(named.subtracting(Pagination.presets.map(\.name)).subtracting(parts) == [])
    let presets = root.appending(path: "Sources/QuirePagination/Presets")
    let sources = try FileManager.default.contentsOfDirectory(atPath: presets.path)
      .map { try String(contentsOf: presets.appending(path: $0), encoding: .utf8) }.joined()
    for name in tables.matches(of: /`\.(\w+)(\()?[\w:]*\)?`/) where !parts.contains("\(name.1)") {
      let isThere =
        name.2 == nil
        ? sources.contains("static let \(name.1) =") || sources.contains("static var \(name.1):")
        : sources.contains("static func \(name.1)(")
      #expect(isThere, "\(name.0)")
    }
    for preset in Pagination.presets {
      let rows = guide.matches(of: /\n\| ([\w, ]+) \| `\.(\w+)(?:\([\w:]*\))?` \|/).filter {
        $0.2 == preset.name
      }
      let aliases = rows.flatMap { $0.1.split(separator: ", ").map(String.init) }
      #expect(aliases.sorted() == preset.aliases, "\(preset.name)")
    }
  }
}
