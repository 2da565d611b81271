import ArgumentParser
import Quire

/// `quire presets`: the pagination descriptions that come with Quire.
struct PresetsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "presets",
    abstract: "List the pagination presets, or print one as JSON.",
    discussion: "What it prints is what 'quire export --pagination' reads: change it as you like.")

  @Argument(help: "The preset to print.")
  var name: String?

  func run() throws {
    if let name {
      print(try PaginationOption.preset(name).json)
      return
    }
    let width = Pagination.presets.map(\.name.count).max() ?? 0
    for preset in Pagination.presets {
      let gap = String(repeating: " ", count: width - preset.name.count + 2)
      let same = preset.aliases.filter { preset.pagination(named: $0) == preset.pagination }
      let others = preset.aliases.filter { !same.contains($0) }
      let names = [("also", same), ("with other parameters", others)].filter { !$0.1.isEmpty }
        .map { "; \($0.0): \($0.1.joined(separator: ", "))" }.joined()
      print("\(preset.name)\(gap)\(preset.summary)\(names)")
    }
  }
}
