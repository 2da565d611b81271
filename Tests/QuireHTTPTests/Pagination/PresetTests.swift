import Foundation
import QuireCore
import QuireHTTP
import QuireTesting
import Testing

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

  @Test("The guide to paginations names every preset, and none that does not exist")
  func guide() throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let guide = try String(
      contentsOf: root.appending(path: "Sources/Quire/Quire.docc/WhichPagination.md"),
      encoding: .utf8)
    let tables = guide.split(separator: "\n").filter { $0.hasPrefix("| ") }.joined()
    let named = Set(tables.matches(of: /`\.(\w+)`/).map { String($0.1) })
    let parts = ["emptyPage", "shortPage"]
    #expect(Set(Pagination.presets.map(\.name)).subtracting(named) == [])
    #expect(named.subtracting(Pagination.presets.map(\.name)).subtracting(parts) == [])
  }
}
