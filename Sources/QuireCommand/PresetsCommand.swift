import ArgumentParser
import Quire
import QuirePagination

/// `quire presets`: prints the pagination descriptions that come with Quire.
struct PresetsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "presets",
    _superCommandName: "quire",
    abstract: "List the pagination presets, or print one as JSON.",
    discussion: "What it prints is what 'quire export --pagination' reads: change it as you like.")

  @Argument(help: "The preset to print.")
  var name: String?

  @Flag(help: "Print what each is for, and its page sizes, limits and peculiarities.")
  var notes = false

  @Flag(help: "Print the tables of the guide \"Which pagination?\".")
  var markdown = false

  func validate() throws {
    if markdown, notes || name != nil {
      throw ValidationError("--markdown prints all tables, and goes with no name and no --notes.")
    }
  }

  func run() throws {
    if let name {
      let pagination = try PaginationOption.preset(name)
      let preset = Pagination.presets.first { $0.name == name || $0.aliases.contains(name) }
      print(notes ? preset.map(Self.notes) ?? "" : pagination.json)
      if !notes, let opening = pagination.exampleOpening {
        Diagnostics.write("quire: \(opening) in \"open\" is an example: write your own address.")
      }
    } else if markdown {
      print(Self.tables)
    } else if notes {
      print(Pagination.presets.map(Self.notes).joined(separator: "\n\n"))
    } else {
      print(
        TextTable.text(
          Pagination.presets.map { [$0.name, "\($0.reply)\(Self.names(of: $0))"] }))
    }
  }

  private static func names(of preset: Pagination.Preset) -> String {
    [("also", preset.sameNames), ("with other parameters", preset.otherNames)]
      .filter { !$0.1.isEmpty }.map { "; \($0.0): \($0.1.joined(separator: ", "))" }.joined()
  }

  private static func notes(on preset: Pagination.Preset) -> String {
    let texts = [preset.summary, "Has: \(preset.reply)\(names(of: preset))", preset.notes]
    return "\(preset.name)\n"
      + texts.filter { !$0.isEmpty }.map { "  \($0)" }.joined(separator: "\n")
  }

  /// The presets by family, and their other names, in the form of the guide.
  static var tables: String {
    let families = Pagination.Preset.families.map { family in
      let rows = Pagination.presets.filter { $0.family == family }
        .map { "| `.\($0.name)` | \($0.reply) |" }
      return "### \(family)\n\n"
        + (["| preset | what the answer has |", "|---|---|"] + rows).joined(separator: "\n")
    }
    func names(_ title: String, _ names: (Pagination.Preset) -> [String]) -> String {
      let rows = Pagination.presets.filter { !names($0).isEmpty }
        .map { "| \(names($0).joined(separator: ", ")) | `.\($0.name)` |" }.sorted()
      return (["| name | \(title) |", "|---|---|"] + rows).joined(separator: "\n")
    }
    let others = [names("the same as", \.sameNames), names("made of", \.otherNames)]
    return (families + others).joined(separator: "\n\n")
  }
}

extension Pagination {
  /// The example, in quotes, of what a preset requests before the first page, to be replaced by the
  /// caller's own; nil if there is none.
  var exampleOpening: String? { policy.open?.url?.debugDescription }
}

extension Pagination.Preset {
  /// The aliases with the same description.
  fileprivate var sameNames: [String] {
    aliases.filter { pagination(named: $0) == pagination }
  }

  /// The aliases with a description that differs in its parameters.
  fileprivate var otherNames: [String] {
    aliases.filter { pagination(named: $0) != pagination }
  }
}
