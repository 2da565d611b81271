import ArgumentParser
import Quire
import TestSupport
import Testing

@testable import QuireCommand

@Suite("Remedies in the words of Swift and of the command line", .timeLimit(.minutes(15)))
struct RemedyWordsTests {
  /// A remedy, and what the library, the command line, and the command line with a described listing
  /// make of it; nil where nothing can be done.
  private static let table: [(Remedy, String, String?, String?)] = [
    (
      Remedy(.end, ["sameCursor"], condition: "if that is how the server ends a listing"),
      "If that is how the server ends a listing, add the end rule .sameCursor.",
      "If that is how the server ends a listing, use --end sameCursor.",
      "If that is how the server ends a listing, add \"sameCursor\" to \"end\" in the description."
    ),
    (
      Remedy(.end, ["status:204"]), "Add the end rule .status([204]).", "Use --end status:204.",
      "Add {\"status\": [204]} to \"end\" in the description."
    ),
    (
      Remedy(.end, ["sentinel:no more"]), "Add the end rule .sentinel:no more.",
      "Use --end 'sentinel:no more'.",
      "Add {\"noNext\": {\"sentinels\": [\"no more\"]}} to \"end\" in the description."
    ),
    (
      Remedy(.items, ["/a b"]), "Use .items(at: \"/a b\").", "Use --items '/a b'.",
      "Use --items '/a b'."
    ),
    (
      Remedy(.items, ["optional:/a"], condition: "for a server that leaves an empty list out"),
      "For a server that leaves an empty list out, use .items(at: .optional(\"/a\")).",
      "For a server that leaves an empty list out, use --items 'optional:/a'.",
      "For a server that leaves an empty list out, use --items 'optional:/a'."
    ),
    (
      Remedy(.links, ["rebase", "allow:b.test:8443"]),
      "Use the link policy rebase or allow([\"b.test:8443\"]).",
      "Use --links rebase or --links allow:b.test:8443.",
      "Use --links rebase or --links allow:b.test:8443."
    ),
    (
      Remedy(.links, ["upgradeScheme"]), "Use the link policy upgradeScheme.",
      "Use --links upgrade-scheme.", "Use --links upgrade-scheme."
    ),
    (
      Remedy(.send), "Correct pagination.send.", "Correct --send.",
      "Correct \"send\" in the description."
    ),
    (
      .raise(.init("Limits.consecutiveEmptyPages")),
      "If that is right for this API, raise Limits.consecutiveEmptyPages.",
      "If that is right for this API, raise --limit emptyPages.",
      "If that is right for this API, raise --limit emptyPages."
    ),
    (
      Remedy(.init("Limits.comparedPages"), ["0"]), "Set Limits.comparedPages to 0.",
      "Use --limit comparedPages=0.", "Use --limit comparedPages=0."
    ),
    (
      Remedy(.init("RetryPolicy.maximumPolling")), "Raise RetryPolicy.maximumPolling.",
      "Raise --limit pollingTimeout.", "Raise --limit pollingTimeout."
    ),
    (
      Remedy(.badItems, ["collect"]), "Set configuration.badItems to .collect.",
      "Use --bad-items collect.", "Use --bad-items collect."
    ),
    (
      Remedy(.position, ["start"]), "Begin at the start.", "Begin anew by --restart.",
      "Begin anew by --restart."
    ),
    (
      Remedy(.position, ["unchecked"]), "Go on from position.unchecked.", "Add --unchecked.",
      "Add --unchecked."
    ),
    (
      Remedy(.handle, ["true"]), "Set pagination.policy.handle to true.",
      "Set policy.handle in a description file.", "Set policy.handle in a description file."
    ),
    (
      Remedy(.pageSize), "Give a page size.", "Say it by --page-size.", "Say it by --page-size."
    ),
    (Remedy(.method, ["POST"]), "Make it a POST.", "Use --method POST.", "Use --method POST."),
    (Remedy(.decoder, ["XML"]), "Decode it as XML.", "Use --format xml.", "Use --format xml."),
    (
      Remedy(.allowsPlainHTTP, ["true"]), "Allow plain http by configuration.allowsPlainHTTP.",
      "Use --allow-plain-http.", "Use --allow-plain-http."
    ),
    (
      Remedy(.acceptsUnprovenEnd, ["true"]), "Set configuration.acceptsUnprovenEnd to true.", nil,
      nil
    ),
  ]

  @Test(
    "A remedy is one value, and a sentence in the words of Swift, of options and of a description")
  func sentences() {
    for (remedy, swift, option, described) in Self.table {
      #expect(remedy.description == swift)
      #expect(RemedyWords().text(remedy) == option)
      #expect(RemedyWords(isDescribed: true).text(remedy) == described)
    }
  }

  @Test("No command advises an option that it has not, and quire feed has none of other listings")
  func ownOptions() {
    let commands: [any ParsableCommand.Type] = [
      FeedCommand.self, DetectCommand.self, ExportCommand.self, SyncCommand.self,
    ]
    for command in commands {
      let help = command.helpMessage(columns: 10_000)
      let words = RemedyWords(for: command)
      for (remedy, _, _, _) in Self.table + [(Remedy(.failure), "", nil, nil)] {
        let advice = words.text(remedy) ?? ""
        for option in advice.matches(of: #/ (--[a-z-]+)/#).map(\.1) {
          #expect(help.contains("\n  \(option)"), "\(command): \(advice)")
        }
        #expect(help.contains("--pagination") || !advice.contains("description"), "\(advice)")
      }
    }
    let feed = RemedyWords(for: FeedCommand.self)
    #expect(feed.text(Remedy(.decoder, ["JSON"])) == nil)
    #expect(feed.text(Remedy(.links, ["rebase"])) == "Use --links rebase.")
    #expect(feed.text(Remedy(.init("feed.address"))) == "Run quire feed --discover.")
    #expect(
      RemedyWords(for: ExportCommand.self).text(Remedy(.decoder, ["XML"])) == "Use --format xml.")
    let help = FeedCommand.helpMessage()
    for option in ["--format", "--method", "--data"] { #expect(!help.contains(option)) }
  }

  @Test("An error's code matches in a catch clause, and its remedies follow its message")
  func catching() throws {
    let error = PageError(.throttled, "Too fast.", remedies: [Remedy(.pageSize)])
    do {
      throw error
    } catch PageError.Code.timedOut {
      Issue.record("another code")
    } catch PageError.Code.throttled {
      #expect("\(error)" == "Too fast. Give a page size. [throttled]")
    }
    #expect(RemedyWords().line(error) == "Too fast. Say it by --page-size. [throttled]")
  }

  @Test("Where a counted page is not found, the error says how to take that for the end")
  func behindLastPage() async throws {
    let server = try FaultServer { request in
      request.target.contains("page=2")
        ? [.respond("{}", status: "404 Not Found")] : [.respond("[1, 2]")]
    }
    defer { server.stop() }
    let pages = ["--next", "page", "--send", "query:page", "--end", "empty"]
    let advice = "If that is how the listing ends, use --end status:404."
    let failed = try await Command.quire(["export", server.url("/list")] + pages)
    #expect(failed.status == 1 && failed.errors.contains(advice), "\(failed.errors)")
    let first = try await Command.quire(["export", server.url("/list?page=2")] + pages)
    #expect(first.status == 1 && !first.errors.contains("--end"), "\(first.errors)")
    let ended = try await Command.quire(
      ["export", server.url("/list")] + pages + ["--end", "status:404"])
    #expect(ended.status == 0 && ended.lines == ["1", "2"], "\(ended.errors)")
  }

  @Test(
    "12-Documents: a repeated cursor names the description's member, or the option where one is")
  func repeatedCursor() async throws {
    let server = try FaultServer { _ in [.respond(#"{"items": [1], "next": "done"}"#)] }
    defer { server.stop() }
    let description = TemporaryFile(
      #"{"items": "/items", "next": {"body": "/next"}, "send": {"query": "c"}}"#)
    let file = try await Command.quire([
      "export", server.url("/"), "--pagination", description.path,
    ])
    #expect(file.status == 1)
    #expect(file.errors.contains("in the description"), "\(file.errors)")
    #expect(!file.errors.contains("--end"), "\(file.errors)")
    let options = try await Command.quire([
      "export", server.url("/"), "--items", "/items", "--next", "body:/next", "--send", "query:c",
    ])
    #expect(options.errors.contains("--end "), "\(options.errors)")
  }
}
