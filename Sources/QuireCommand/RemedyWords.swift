import ArgumentParser
import Quire
import QuireCore
import QuireFeeds
import QuirePagination

/// Translates the library's remedies into the options of the command line.
struct RemedyWords {
  /// Whether a preset or a file describes the listing. Then `--next`, `--send` and `--end` do not
  /// apply, and members of the description are named instead.
  var isDescribed = false
  /// Whether `--total` says where the total is, and not `--end` or the description.
  var namesTotal = true
  /// The members of a command's file that take the place of options.
  var fileMembers: [Remedy.Setting: String] = [:]
  /// The command's options, the only ones to name; nil for the options of all commands.
  private var options: Set<String>?

  /// Creates words for the options of any command.
  init(isDescribed: Bool = false, namesTotal: Bool = true) {
    (self.isDescribed, self.namesTotal) = (isDescribed, namesTotal)
  }

  /// Creates words for the options of one command, taken from its help.
  init(for command: any ParsableCommand.Type, isDescribed: Bool = false) {
    self.isDescribed = isDescribed
    // Each option is on one line at this width: `  -H, --header <name: value>  A header field. …`.
    let lines = command.helpMessage(columns: 10_000).split(separator: "\n")
    options = Set(
      lines.compactMap { line in
        line.prefixMatch(of: #/\s+(?:-\w, )?(--[a-z][a-z-]*)/#).map { String($0.1) }
      })
  }

  /// Returns an error with its remedy on one line.
  func line(_ error: PageError) -> String {
    // Attempts include replays, which libcurl makes, so they are called requests.
    error.described(by: text, attempts: "requests")
  }

  /// Returns an error's message with its remedy.
  func message(_ error: PageError) -> String { error.advised(by: text) }

  /// Returns a warning with its remedy.
  func message(_ warning: WalkReport.Warning) -> String {
    [warning.message, warning.remedy.flatMap(text)].compactMap(\.self).joined(separator: " ")
  }

  /// Returns a remedy as a sentence; nil if no option and no description can apply it.
  func text(_ remedy: Remedy) -> String? {
    guard remedy.setting != .acceptsUnprovenEnd, let advice = imperative(remedy) else { return nil }
    // `feedAddress` names another command with its options; any other remedy needs options of this
    // one.
    let named = advice.split(separator: " ").filter { $0.hasPrefix("--") }.map(String.init)
    guard remedy.setting == .feedAddress || named.allSatisfy(has) else { return nil }
    return remedy.sentence(advice)
  }

  /// Whether the command has an option.
  private func has(_ option: String) -> Bool { options?.contains(option) ?? true }

  private func imperative(_ remedy: Remedy) -> String? {
    let (setting, values) = (remedy.setting, remedy.values)
    if isDescribed, let member = Self.members[setting] {
      return setting == .end && !values.isEmpty
        ? "add \(values.map(Self.rule).joined(separator: " or ")) to \"end\" in the description"
        : "correct \"\(member)\" in the description"
    }
    switch setting {
    case .total where values.isEmpty && !namesTotal:
      return isDescribed ? "correct \"total\" in the description" : "correct --end"
    case .position: return values.map { Self.positionRemedies[$0] ?? $0 }.joined(separator: " or ")
    case .allowsPlainHTTP: return "use --allow-plain-http"
    case .addresses: return "name their networks by --addresses allow:NETWORK"
    case .feedAddress: return "run quire feed --discover"
    case .init("FeedOptions.isStrict"): return "leave --strict out"
    case .pageSize where values.isEmpty: return "say it by --page-size"
    case .failure where has("--pagination"):
      return "add a failure rule of the kind \"empty\" for \(values.joined(separator: ", ")) to a "
        + "description file"
    default: break
    }
    let known = fileMembers[setting] ?? Self.names[setting]
    guard let option = known ?? LimitOption.option(for: setting) else {
      guard isDescribed || has("--pagination") else { return nil }
      let name = "\(setting)".replacing("pagination.", with: "")
      return "set \(name) in a description file"
    }
    if values.isEmpty {
      return "\(Self.corrected.contains(setting) ? "correct" : "raise") \(option)"
    }
    let separator = option.hasPrefix("--limit ") ? "=" : " "
    return "use "
      + values.prefix(2).map { option + separator + Self.word($0) }.joined(separator: " or ")
  }

  /// Returns a value quoted for a shell; a server may have chosen any characters.
  private static func word(_ value: String) -> String {
    let word = words[value] ?? value
    if !word.isEmpty, word.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) {
      return word
    }
    let isHost = word.hasPrefix("allow:") || word.hasPrefix("status:")
    return PagePath.isQuotable(word) && !isHost ? "'\(word)'" : CommandLineText.quoted([word])
  }

  /// Returns an end rule in the JSON of a description.
  private static func rule(_ value: String) -> String {
    let parts = value.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return value.debugDescription }
    return parts[0] == "status"
      ? "{\"status\": [\(parts[1])]}"
      : "{\"noNext\": {\"sentinels\": [\(parts[1].debugDescription)]}}"
  }

  private static let names: [Remedy.Setting: String] = [
    .items: "--items", .next: "--next", .send: "--send", .end: "--end", .total: "--total",
    .pageSize: "--page-size", .links: "--links", .method: "--method", .decoder: "--format",
    .badItems: "--bad-items",
    .init("RetryPolicy.patience"): "--patience",
    .init("RetryPolicy.maximumRetryAfter"): "--max-retry-after",
    .init("RetryPolicy.polls"): "--retries",
    .init("Limits.bytes"): "--max-bytes", .init("Limits.duration"): "--max-time",
    .init("Limits.requests"): "--max-requests",
  ]

  /// The settings to correct if no value is known; all others are limits to raise.
  private static let corrected: Set<Remedy.Setting> = [.items, .next, .send, .end, .total, .links]

  /// The members of a description that options cannot replace.
  private static let members: [Remedy.Setting: String] = [
    .next: "next", .send: "send", .end: "end",
  ]

  private static let positionRemedies = [
    "start": "begin anew by --restart",
    "page": "begin at the page: its position without the itemOffset, by --unchecked",
    "unchecked": "add --unchecked",
  ]

  /// The words of the command line for values of the library.
  private static let words = [
    "upgradeScheme": "upgrade-scheme", "JSON": "json", "JSON Lines": "jsonl", "XML": "xml",
    "CSV": "csv",
  ]
}
