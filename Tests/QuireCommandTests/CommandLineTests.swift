import Foundation
import Quire
import Testing

@testable import QuireCommand

@Suite("The command line", .timeLimit(.minutes(15)))
struct CommandLineTests {
  @Test(
    "What cannot be right exits with 2 and says so on stderr",
    arguments: [
      ["nonsense"], ["export"], ["export", "https://h.test/", "--preset", "githb"],
      ["export", "https://h.test/", "--preset", "github", "--format", "yaml"],
      ["export", "https://h.test/", "--preset", "github", "--max-items", "many"],
      ["export", "https://h.test/"], ["export", "not a url", "--preset", "github"],
      ["presets", "nothing"], ["demo", "--port", "70000"], ["--nonsense"],
    ])
  func usage(arguments: [String]) async throws {
    let ending = try await Command.quire(arguments)
    #expect(ending.status == 2)
    #expect(ending.output.isEmpty)
    #expect(ending.errors.contains("Error: "))
  }

  @Test("What cannot be right names the help of its own command")
  func ownHelp() async throws {
    for arguments in [["export", "https://h.test/"], ["presets", "nothing"]] {
      let ending = try await Command.quire(arguments)
      #expect(ending.errors.contains("See 'quire \(arguments[0]) --help'"))
    }
  }

  @Test("--version says which one this is")
  func version() async throws {
    let ending = try await Command.quire(["--version"])
    #expect(ending.status == 0)
    #expect(ending.output.wholeMatch(of: #/\d+\.\d+\.\d+(-\w+)?\n/#) != nil)
  }

  @Test("An unknown preset suggests the nearest name")
  func suggestion() async throws {
    let ending = try await Command.quire(["presets", "gitlb"])
    #expect(ending.errors.contains("There is no preset \"gitlb\". Did you mean \"gitlab\"?"))
    for (name, meant) in [
      ("offset", "\"offsetLimit\""), ("link", "\"linkedIn\" or \"linkHeader\""),
      ("page", "\"pages\""),
      ("django", "\"drf\""),
    ] {
      let ending = try await Command.quire(["presets", name])
      #expect(ending.errors.contains("Did you mean \(meant)"), "\(ending.errors)")
    }
  }

  @Test("A word that is nearly one of the tool's is met with that, and another with what there is")
  func misspelt() async throws {
    for (arguments, words) in [
      (["exprot", "https://h.test/"], "no subcommand \"exprot\". Did you mean \"export\"?"),
      (["help", "exprot"], "no subcommand \"exprot\". Did you mean \"export\"?"),
      (["frobnicate"], "There are export, sync, feed, detect, presets, demo, manual."),
      (["presets", "dfr"], "Did you mean \"drf\"?"),
      (["export", "https://h.test/", "--max-itmes", "1"], "Did you mean '--max-items'?"),
      (["export", "https://h.test/", "--csv"], "Unknown option '--csv'.\n"),
    ] {
      let ending = try await Command.quire(arguments)
      #expect(ending.status == 2)
      #expect(ending.errors.hasPrefix("Error: "))
      #expect(ending.errors.contains(words), "\(ending.errors)")
    }
  }

  @Test("quire presets tells names that mean the same from those with other parameters")
  func aliases() async throws {
    let list = try await Command.quire(["presets"])
    let discord = try #require(list.lines.first { $0.hasPrefix("discord ") })
    #expect(discord.contains("; with other parameters: discordMembers"), "\(discord)")
    for line in list.lines {
      for part in line.components(separatedBy: "; also: ").dropFirst() {
        let names = part.prefix { $0 != ";" }.components(separatedBy: ", ")
        let preset = try PaginationOption.preset(String(line.prefix { $0 != " " }))
        for name in names { #expect(try PaginationOption.preset(name) == preset, "\(name)") }
      }
    }
  }

  @Test("Help that was asked for goes to stdout and is a success")
  func help() async throws {
    for (arguments, usage) in [
      (["--help"], "quire <subcommand>"), (["export", "--help"], "quire export [<options>] <url>"),
      (["export", "https://h.test/", "-h"], "quire export [<options>] <url>"),
      (["help", "demo"], "quire demo"),
    ] {
      let ending = try await Command.quire(arguments)
      #expect(ending.status == 0)
      #expect(ending.output.contains("USAGE: \(usage)"), "\(ending.output)")
      #expect(ending.errors.isEmpty)
    }
  }

  @Test("quire presets lists every preset, and what it prints of each reads back the same")
  func presets() async throws {
    let list = try await Command.quire(["presets"])
    #expect(list.status == 0)
    #expect(list.lines.map { $0.prefix { $0 != " " } } == Pagination.presets.map { $0.name[...] })
    for preset in Pagination.presets {
      let printed = try PaginationOption.preset(preset.name).json
      #expect(try Pagination(json: Array(printed.utf8)) == preset.pagination, "\(preset.name)")
    }
  }

  @Test(
    "Options of quire presets that exclude each other are refused, and none is left out silently")
  func presetsOptions() async throws {
    for arguments in [["drf", "--markdown"], ["--notes", "--markdown"]] {
      let ending = try await Command.quire(["presets"] + arguments)
      #expect(ending.status == 2 && ending.output.isEmpty, "\(arguments): \(ending.errors)")
      #expect(ending.errors.contains("--markdown prints all tables"), "\(ending.errors)")
    }
  }

  @Test("The guide's tables of presets are those that quire presets --markdown prints")
  func tables() async throws {
    let root = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent()
    }
    let guide = try String(
      contentsOf: root.appending(path: "Sources/Quire/Quire.docc/WhichPagination.md"),
      encoding: .utf8)
    let printed = try await Command.quire(["presets", "--markdown"])
    let tables = printed.output.components(separatedBy: "\n\n### ")
    #expect(tables.count == 10)
    for table in tables.flatMap({ $0.components(separatedBy: "\n\n") }) {
      let text = table.trimmingCharacters(in: .newlines)
      #expect(guide.contains(text + "\n"), "\(text.prefix(80))")
    }
  }

  @Test("quire presets --notes says what a preset is for and what to know of it")
  func notes() async throws {
    let slack = try await Command.quire(["presets", "--notes", "slack"])
    #expect(slack.lines.first == "slack")
    #expect(slack.output.contains("1000 at most"))
    let all = try await Command.quire(["presets", "--notes"])
    #expect(Pagination.presets.allSatisfy { all.lines.contains($0.name) })
  }

  @Test("quire demo prints its URL first, serves, and ends cleanly with Ctrl-C")
  func demo() async throws {
    let command = try Command(["demo", "--port", "0"])
    let origin = await command.firstLine()
    let ending = try await Command.quire([
      "export", "\(origin)/pages", "--preset", "pages", "--max-items", "1",
    ])
    #expect(ending.lines == [DemoRecords.line(1)])
    command.send(signal: SIGINT)
    let end = try await command.end()
    #expect(end.status == 0)
    for style in DemoStyle.all { #expect(end.output.contains("  \(origin)\(style.path)\n")) }
  }

  @Test("16-Tool: quire manual has every command and option, and man reads it without a complaint")
  func manual() async throws {
    let ending = try await Command.quire(["manual"])
    #expect(ending.status == 0 && ending.output.hasPrefix(".TH \"QUIRE\" \"1\""))
    for word in [
      "quire export", "quire sync", "\\-\\-commit\\-every", "\\-\\-schema", "\\-\\-tour",
    ] {
      #expect(ending.output.contains(word), "\(word)")
    }
    let lines = ending.output.split(separator: "\n")
    let macros: Set = ["TH", "SH", "SS", "PP", "TP", "EX", "EE", "br"]
    for line in lines where line.hasPrefix(".") {
      #expect(macros.contains(String(line.dropFirst().prefix { $0 != " " })), "\(line)")
    }
    // What is to be typed can be copied: an apostrophe by itself becomes a quotation mark.
    #expect(ending.output.contains("\\(aqName: env:VARIABLE\\(aq"))
    #expect(!ending.output.contains { "'`^~".contains($0) })
  }

  @Test("16-Tool: the shells complete presets and files", arguments: ["bash", "zsh", "fish"])
  func completions(shell: String) async throws {
    let ending = try await Command.quire(["--generate-completion-script", shell])
    #expect(ending.status == 0)
    for word in ["--preset", "commit-every", "sync"] { #expect(ending.output.contains(word)) }
    // What the scripts ask the tool when a preset is to be completed.
    let asked = [
      "---completion", "export", "--", "--preset", "2", "0", "quire", "export", "--preset",
    ]
    #expect(try await Command.quire(asked).lines.contains("github"))
  }

  @Test("quire demo says when its port is taken, and fails")
  func takenPort() async throws {
    try await DemoServer.whileServing(port: 0) { origin in
      let port = try #require(origin.split(separator: ":").last)
      let ending = try await Command.quire(["demo", "--port", String(port)])
      #expect(ending.status == 1)
      let words = "could not listen on 127.0.0.1:\(port): Address already in use. "
      #expect(ending.errors.hasPrefix("quire: "))
      #expect(ending.errors.contains(words), "\(ending.errors)")
    }
  }

  @Test(
    "quire demo --tour exports every style whole, and ends with a query over a database it filled")
  func tour() async throws {
    let ending = try await Command.quire(["demo", "--tour"])
    #expect(ending.status == 0, "\(ending.errors)")
    let rows = ending.lines.map { $0.split(separator: " ").map(String.init) }
    #expect(rows.first == ["style", "pages", "items", "time", "end"])
    let styles = rows.dropFirst().prefix(DemoStyle.all.count)
    #expect(styles.map { $0[0] } == DemoStyle.all.map(\.name))
    for row in styles { #expect(row[2] == "10000" && row.last == "exhausted", "\(row)") }
    let answer = rows.dropFirst(1 + DemoStyle.all.count)
    #expect(answer.first?.prefix(2) == ["$", "sqlite3"])
    #expect(answer.dropFirst().first == ["colour", "records", "price"])
    let colours = answer.dropFirst(2)
    #expect(colours.count == 5 && colours.allSatisfy { $0[1] == "2000" }, "\(colours)")
  }
}
