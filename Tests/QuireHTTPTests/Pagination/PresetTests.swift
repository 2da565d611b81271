import TestSupport
import Foundation
import QuireCore
import QuireTesting
import QuireXML
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
    let listings = SyntheticListing.all(name, try Pagination.preset(named: name).example)
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
    for listing in SyntheticListing.all(name, pagination.example) { try await listing.drain() }
  }

  @Test(
    "A key of XML that begins or ends with a space is sent back whole, and layout is no part of it",
    arguments: [
      (" lead", "%20lead"), ("k ", "k%20"), ("\n  k\n", "k"), ("a b", "a%20b"), ("\t k ", "k%20"),
      (" 12 ", "12"),
    ])
  func keysWithSpaces(key: String, sent: String) async throws {
    func page(_ key: String, _ isTruncated: Bool) -> TransportResponse {
      .status(
        200, ["Content-Type": "application/xml"],
        """
        <ListBucketResult><IsTruncated>\(isTruncated)</IsTruncated>\
        <Contents><Key>\(key)</Key></Contents></ListBucketResult>
        """)
    }
    let server = CannedServer([page(key, true), page("z", false)])
    let cursor = PageClient(transport: server).cursor(
      at: "https://a.test/b", pagination: .s3v1, decoder: XMLRawPageDecoder())
    #expect(try await cursor.items.collect().count == 2)
    #expect(server.requests.last?.url.hasSuffix("marker=\(sent)") == true)
  }

  @Test("Names and aliases are each taken once, and a misspelt alias is suggested")
  func names() throws {
    let names = Pagination.presets.flatMap { [$0.name] + $0.aliases }
    #expect(Set(names).count == names.count)
    #expect(Pagination.presets.map(\.name) == Pagination.presets.map(\.name).sorted())
    #expect(try Pagination.preset(named: "supabase") == .postgrest)
    #expect(
      try Pagination.preset(named: "gcs").size?.send
        == .firstOf([.jsonBody("/maxResults"), .query("maxResults")]))
    let error = #expect(throws: PageError.self) { try Pagination.preset(named: "wooComerce") }
    #expect(error?.message.contains("\"wooCommerce\"") == true)
    // What JSON would escape is looked for in the presets' own texts, too.
    for name in ["git\"hub", "git\\hub", "git\u{1}hub", ""] {
      #expect(throws: PageError.self) { try Pagination.preset(named: name) }
    }
    for (name, hint) in [("django", "\"drf\""), ("Commerce", "bigCommerce")] {
      let error = #expect(throws: PageError.self) { try Pagination.preset(named: name) }
      #expect(error?.message.contains(hint) == true, "\(error?.message ?? "")")
    }
  }

  @Test(
    "Descriptions are found by their next source alone, those of aliases and below containers too")
  func byNext() throws {
    func isFound(_ pagination: Pagination) -> Bool {
      Pagination.Preset.hasDescription(leadingAs: pagination) { $0 == pagination }
    }
    for name in Pagination.presets.flatMap({ [$0.name] + $0.aliases }) {
      let pagination = try Pagination.preset(named: name).example
      #expect(isFound(pagination), "\(name)'s next source is not as its grammar writes it")
    }
    #expect(isFound(Pagination.relay.items(at: "/data/repository/issues")))
    let other = Pagination(next: .body("/no/preset's"), send: .query("t"))
    #expect(!Pagination.Preset.hasDescription(leadingAs: other) { _ in true })
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
    let named = Set(tables.matches(of: /`\.(\w+)`/).map { String($0.1) })
    let parts = ["emptyPage", "shortPage"]
    #expect(Set(Pagination.presets.map(\.name)).subtracting(named) == [])
    #expect(named.subtracting(Pagination.presets.map(\.name)).subtracting(parts) == [])
  }

  @Test("Every preset has a constant that is the preset of its name, and no other name has one")
  func constants() throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let source = try String(
      contentsOf: root.appending(path: "Sources/QuirePagination/Pagination+Presets.swift"),
      encoding: .utf8)
    let lines = source.matches(of: /public static let (\w+) = named\("(\w+)"\)\n/)
    #expect(lines.allSatisfy { $0.1 == $0.2 })
    #expect(lines.map { String($0.1) }.sorted() == Pagination.presets.map(\.name))
    #expect(source.components(separatedBy: "static let").count == lines.count + 1)
    #expect(Pagination.github == (try Pagination.preset(named: "github")))
  }

  @Test("Every preset stands in its file as it would be written, with a summary and a reply")
  func files() throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let folder = root.appending(path: "Sources/QuirePagination/Presets")
    var names: [String] = []
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path()) {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      guard case .array(let presets)? = try JSONValue(parsing: text)["presets"] else {
        Issue.record("\(file) has no presets")
        continue
      }
      for preset in presets {
        guard case .object(let members) = preset else { continue }
        let name = try #require(preset["name"]?.string)
        names.append(name)
        #expect(preset["summary"]?.string?.isEmpty == false, "\(name)")
        #expect(preset["reply"]?.string?.isEmpty == false, "\(name)")
        let known = ["name", "aliases", "summary", "reply", "notes", "description", "variants"]
        #expect(members.allSatisfy { known.contains($0.name) }, "\(name)")
        var descriptions = [preset["description"]]
        if case .object(let variants)? = preset["variants"] {
          descriptions += variants.map(\.value)
        }
        for description in descriptions {
          let value = try #require(description)
          let read = try Pagination(json: value.description)
          #expect(read.json == DescriptionText().text(value), "\(name)")
        }
      }
    }
    #expect(names.sorted() == Pagination.presets.map(\.name))
  }

  @Test("A preset whose items are where only the caller knows says so before the first request")
  func unspecified() async throws {
    let transport = ScriptedTransport([])
    let cursor = PageClient(transport: transport).cursor(
      of: JSONValue.self, at: "https://s.test/conversations.list", pagination: .slack)
    let error = await #expect(throws: PageError.self) { for try await _ in cursor {} }
    #expect(error?.code == .invalidArgument)
    #expect(error?.description.contains(#".items(at: "/members")"#) == true)
    #expect(
      Pagination.pages.items.missingPath == nil && Pagination.spotify.items.missingPath == nil)
    #expect(Pagination.square.items(at: "/orders").items == .optional("/orders"))
    #expect(Pagination.openStackLinks.items(at: "/x").next == .body("/x_links[rel=next]/href"))
    #expect(Pagination.openStackLinks.items(at: "").items.missingPath == "/servers")
    #expect(Pagination.spotify.items(at: "/tracks").next == .body("/tracks/next"))
  }

  @Test("A preset is changed by modifiers, each of which changes one thing")
  func modifiers() throws {
    #expect(Pagination.twitter.sending(as: .query("next_token")).send == .query("next_token"))
    #expect(Pagination.google.size(as: .query("maxResults")).size?.send == .query("maxResults"))
    #expect(Pagination.pages.counting(from: 0).next == .pageNumber(first: 0))
    #expect(Pagination.openSearch.counting(from: 0).next == .offset(first: 0))
    #expect(Pagination.postgrest.counting(from: 1).next == .contentRange(first: 1))
    #expect(Pagination.postgrest.total(at: "/n").end.first == .total("/n"))
    let sent = Pagination(next: .adding(1, to: .pageNumber), send: .query("p"), end: [.emptyPage])
    #expect(sent.counting(from: 0).next == .adding(1, to: .pageNumber(first: 0)))
    #expect(sent.total(at: "/n").end == [.total("/n"), .emptyPage])
    guard case .firstOf(let routes) = Pagination.sru.counting(from: 0).next else {
      Issue.record("sru has one route")
      return
    }
    #expect(routes.map(\.next.firstCount) == [nil, 0])
    #expect(Pagination.offsetLimit.total(at: "/total").end == [.total("/total"), .emptyPage])
    #expect(Pagination.openSearch.total(at: "/t").end.count == Pagination.openSearch.end.count)
    #expect(Pagination.elastic.opening(at: "a/_pit").policy.open?.url == "a/_pit")
    #expect(Pagination.stripe.counting(from: 0).total(at: "/n").end == Pagination.stripe.end)
  }
}
