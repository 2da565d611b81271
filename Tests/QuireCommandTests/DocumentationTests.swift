import QuireXML
import ArgumentParser
import Foundation
import Quire
import Testing

@testable import QuireCommand

@Suite("The documentation")
struct DocumentationTests {
  /// What a user may import.
  private static let libraries = [
    "Quire", "QuireAWS", "QuireCore", "QuireCurl", "QuireDetect", "QuireHTTP", "QuireJSON",
    "QuireListModel", "QuireLists", "QuirePagination", "QuireXML",
  ]
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: root.appendingPathComponent(path)), as: UTF8.self)
  }

  @Test("Every subcommand and every option of quire is in the guide to the command line")
  func commandLine() throws {
    let guide = try Self.text("Sources/Quire/Quire.docc/CommandLine.md")
    let commands = QuireCommand.configuration.subcommands
    #expect(commands.count == 7)
    for command in commands {
      let name = try #require(command.configuration.commandName)
      #expect(guide.contains("## quire \(name)\n"), "\(name)")
      let help = QuireCommand.helpMessage(for: command, columns: 200)
      let options = help.matches(of: #/^ +(?:(-[a-zA-Z]), )?(--[a-z-]+)/#.anchorsMatchLineEndings())
      #expect(!options.isEmpty)
      for option in options {
        #expect(guide.contains("`\(option.2)"), "\(name) \(option.2)")
        if let short = option.1 { #expect(guide.contains("`\(short)`"), "\(name) \(short)") }
      }
    }
  }

  @Test("The guide to the command line names no option that does not exist")
  func noInventedOptions() throws {
    let guide = try Self.text("Sources/Quire/Quire.docc/CommandLine.md")
    let help = QuireCommand.configuration.subcommands
      .map { QuireCommand.helpMessage(for: $0, columns: 200) }.joined()
    for option in guide.matches(of: #/`(--[a-z-]+)/#) {
      #expect(help.contains(String(option.1)), "\(option.1)")
    }
  }

  @Test("The guide to the command line names every limit of --limit")
  func limits() throws {
    let guide = try Self.text("Sources/Quire/Quire.docc/CommandLine.md")
    for name in LimitOption.names { #expect(guide.contains("`\(name)`"), "\(name)") }
  }

  @Test("Every limit of the library is one of --limit, by the name that messages give it")
  func limitNames() {
    let limits: [(String, any Sendable, String)] = [
      ("DecodingLimits", DecodingLimits.api, ""), ("TransferLimits", TransferLimits.api, ""),
      ("XMLLimits", XMLLimits.api, ""), ("Timeouts", Timeouts.api, "Timeout"),
    ]
    for (type, value, ending) in limits {
      for name in Mirror(reflecting: value).children.compactMap(\.label) {
        #expect(LimitOption.names.contains(name + ending), "\(type).\(name)")
        let remedy = Remedy(.init("\(type).\(name)"))
        #expect(RemedyWords().text(remedy) == "Raise --limit \(name)\(ending).")
      }
    }
  }

  @Test("The README's first example is the program in Examples, which is compiled with the tests")
  func firstExample() throws {
    let blocks = try Self.text("README.md").matches(of: #/```swift\n(.*?)```/#.dotMatchesNewlines())
    let first = try #require(blocks.first?.1)
    #expect(String(first) == (try Self.text("Examples/HelloQuire/HelloQuire.swift")))
  }

  @Test("The README's make commands are targets of the Makefile, and its quire commands parse")
  func readmeCommands() throws {
    let readme = try Self.text("README.md")
    let makefile = try Self.text("Makefile")
    let targets = readme.matches(of: #/make ([a-z]+)(?: |`|\n)/#).map { String($0.1) }
    #expect(Set(targets).isSuperset(of: ["demo", "test"]))
    for target in Set(targets) { #expect(makefile.contains("\n\(target):"), "make \(target)") }

    let script = try Self.text("README.md").replacing("\\\n", with: "")
    let commands = script.split(separator: "\n").filter { $0.hasPrefix("quire ") }
    #expect(commands.count >= 3)
    for command in commands {
      // The README quotes with apostrophes only.
      let arguments = command.split(separator: "'", omittingEmptySubsequences: false).enumerated()
        .flatMap { index, part in
          index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
      #expect(throws: Never.self, "\(command)") {
        _ = try QuireCommand.parseAsRoot(Array(arguments.dropFirst()))
      }
    }
  }

  @Test("Every file that the README links to is there")
  func readmeLinks() throws {
    let links = try Self.text("README.md").matches(of: #/\]\(([^)h][^)]*)\)/#).map { String($0.1) }
    #expect(links.count >= 7)
    for link in links {
      let path = Self.root.appendingPathComponent(link).path
      #expect(FileManager.default.fileExists(atPath: path), "\(link)")
    }
  }

  /// The paths of the README and of every guide.
  private static func guidePaths() throws -> [String] {
    let folder = "Sources/Quire/Quire.docc"
    let names = try FileManager.default
      .contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
    return names.filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" } + ["README.md"]
  }

  /// The README and every guide.
  private static func guides() throws -> String { try guidePaths().map(text).joined() }

  private static func sources(in folder: String) throws -> [String] {
    let files = try #require(
      FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path))
    return files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
      .map { "\(folder)/\($0)" }
  }

  @Test(
    "Every code of an error or a warning is in the guide to errors, and none that does not exist")
  func errorCodes() throws {
    let guide = try Self.text("Sources/Quire/Quire.docc/ErrorsAndResuming.md")
    let rows = guide.split(separator: "\n").filter { $0.hasPrefix("| `.") }.joined()
    let named = rows.matches(of: #/`\.(\w+)`/#).map { String($0.1) }
    var codes: [String] = []
    for module in Self.libraries {
      for file in try Self.sources(in: "Sources/\(module)") {
        let text = try Self.text(file)
        codes += text.matches(of: #/public static let (\w+) = Self\("\1"\)/#).map { String($0.1) }
      }
    }
    #expect(Set(named).sorted() == Set(codes).sorted())
  }

  @Test("Every public type is in a guide: what nobody is told of need not be public")
  func publicTypes() throws {
    let words = Set(try Self.guides().matches(of: #/\w+/#).map { String($0.0) })
    let type = #/^public (?:indirect |final )?(?:struct|enum|actor|class|protocol|typealias) (\w+)/#
      .anchorsMatchLineEndings()
    var count = 0
    for module in Self.libraries + ["QuireTesting"] {
      for file in try Self.sources(in: "Sources/\(module)") {
        for name in try Self.text(file).matches(of: type).map({ String($0.1) }) {
          count += 1
          #expect(words.contains(name), "Name \(name) (\(file)) in a guide, or make it package.")
        }
      }
    }
    #expect(count > 100)
  }

  @Test("Every type in a guide's code comes with Quire, or with a module that the code imports")
  func importedTypes() throws {
    let facade = try Self.text("Sources/Quire/Quire.swift")
    let brought = Set(
      facade.matches(of: #/@_exported public import \w+ \w+\.(\w+)/#).map { String($0.1) })
    let type = #/^public (?:indirect |final )?(?:struct|enum|actor|class|protocol) (\w+)/#
      .anchorsMatchLineEndings()
    var modules: [String: String] = [:]
    for module in Self.libraries where module != "QuireCore" {
      for file in try Self.sources(in: "Sources/\(module)") {
        for found in try Self.text(file).matches(of: type) { modules[String(found.1)] = module }
      }
    }
    for path in try Self.guidePaths() {
      let guide = try Self.text(path)
      let code = guide.matches(of: #/```swift\n(.*?)```/#.dotMatchesNewlines())
        .map { $0.1 }.joined()
      let imports = Set(guide.matches(of: #/import (\w+)/#).map { String($0.1) })
      for name in Set(code.matches(of: #/\b[A-Z]\w+/#).map { String($0.0) }) {
        guard let module = modules[name], !brought.contains(name) else { continue }
        #expect(imports.contains(module), "\(path) has \(name) without import \(module).")
      }
    }
  }

  @Test("Every block of a description is in the reference, whose example is one")
  func descriptionReference() throws {
    let reference = try Self.text("Sources/Quire/Quire.docc/DescriptionReference.md")
    let words = Set(reference.matches(of: #/\w+/#).map { String($0.0) })
    let block = #/^  case (\w+)/#.anchorsMatchLineEndings()
    let folder = "Sources/QuirePagination/Description"
    for file in try Self.sources(in: folder) where !file.dropFirst(folder.count + 1).contains("/") {
      for name in try Self.text(file).matches(of: block).map({ String($0.1) }) {
        #expect(words.contains(name), "The reference lacks \(name) (\(file)).")
      }
    }
    let example = try #require(
      reference.firstMatch(of: #/```json\n(.*?)```/#.dotMatchesNewlines())?.1)
    #expect(throws: Never.self) { try Pagination(json: Array(example.utf8)) }
  }

  @Test("The overview of the documentation lists every guide")
  func overview() throws {
    let folder = Self.root.appendingPathComponent("Sources/Quire/Quire.docc").path
    let overview = try Self.text("Sources/Quire/Quire.docc/Quire.md")
    let guides = try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".md") && $0 != "Quire.md" }
    #expect(guides.count >= 7)
    for guide in guides { #expect(overview.contains("<doc:\(guide.dropLast(3))>"), "\(guide)") }
  }
}
