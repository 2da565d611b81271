import ArgumentParser
import Quire
import QuireCore
import QuireFeeds
import QuirePagination

/// The library's remedies in the words of the command line.
struct RemedyWords {
  /// Whether a preset or a file describes the listing, so that --next, --send and --end cannot be given:
  /// then the member of the description is named.
  var isDescribed = false
  /// Whether --total says where the total is, and not --end or the description.
  var namesTotal = true
  /// What a command's file has in the place of options.
  var fileMembers: [Remedy.Setting: String] = [:]
  /// The options of the command: no other one is advised. nil for those of all commands.
  private var options: Set<String>?

  /// Words for options of any command.
  init(isDescribed: Bool = false, namesTotal: Bool = true) {
    (self.isDescribed, self.namesTotal) = (isDescribed, namesTotal)
  }

  /// Words for the options of a command, as its help has them.
  init(for command: any ParsableCommand.Type, isDescribed: Bool = false) {
    self.isDescribed = isDescribed
    // A line for each, however long: `  -H, --header <name: value>  A header field. …`.
    let lines = command.helpMessage(columns: 10_000).split(separator: "\n")
    options = Set(
      lines.compactMap { line in
        line.prefixMatch(of: #/\s+(?:-\w, )?(--[a-z][a-z-]*)/#).map { String($0.1) }
      })
  }

  /// An error as a line, with what to do about it.
  func line(_ error: PageError) -> String {
    // Replays count as attempts, and are none of Quire's own.
    error.described(by: text, attempts: "requests")
  }

  /// An error's message, with what to do about it.
  func message(_ error: PageError) -> String { error.advised(by: text) }

  /// A warning, with what to do about it.
  func message(_ warning: WalkReport.Warning) -> String {
    [warning.message, warning.remedy.flatMap(text)].compactMap(\.self).joined(separator: " ")
  }

  /// What to do, in a sentence; nil for what no option and no description can change.
  func text(_ remedy: Remedy) -> String? {
    guard remedy.setting != .acceptsUnprovenEnd, let advice = imperative(remedy) else { return nil }
    // Another command is named with its options.
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
    case .position: return values.map { Self.starts[$0] ?? $0 }.joined(separator: " or ")
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

  /// A value as a shell takes it, whatever names a server chose.
  private static func word(_ value: String) -> String {
    let word = words[value] ?? value
    if !word.isEmpty, word.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) {
      return word
    }
    let isHost = word.hasPrefix("allow:") || word.hasPrefix("status:")
    return PagePath.isQuotable(word) && !isHost ? "'\(word)'" : CommandLineText.quoted([word])
  }

  /// An end rule as a description has it.
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

  /// Settings that are not raised where no value is known.
  private static let corrected: Set<Remedy.Setting> = [.items, .next, .send, .end, .total, .links]

  /// The members of a description that no option takes the place of.
  private static let members: [Remedy.Setting: String] = [
    .next: "next", .send: "send", .end: "end",
  ]

  private static let starts = [
    "start": "begin anew by --restart",
    "page": "begin at the page: its position without the itemOffset, by --unchecked",
    "unchecked": "add --unchecked",
  ]

  /// Words of the library that the command line has others for.
  private static let words = [
    "upgradeScheme": "upgrade-scheme", "JSON": "json", "JSON Lines": "jsonl", "XML": "xml",
    "CSV": "csv",
  ]
}
