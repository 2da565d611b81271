import Quire
import QuireHTTP
import QuirePagination

/// The library's advice in the words of the command line: what a thing is called in Swift helps
/// nobody at a shell.
enum OptionWords {
  /// A warning of the library with what would mend it: an option, or where a file describes the
  /// listing (`isDescribed`) a member of it.
  static func text(_ warning: WalkReport.Warning, isDescribed: Bool) -> String {
    let message = applied(to: warning.message)
    guard let remedy = warning.remedy, let option = options[remedy.setting] else { return message }
    if isDescribed, let member = members[remedy.setting] {
      return "\(message) Correct \"\(member)\" in the description."
    }
    let choices = remedy.values.prefix(2).map { value in
      let word = words[value] ?? value
      let isPlain = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      return "\(option) \(isPlain ? word : path(word))"
    }
    return choices.isEmpty
      ? "\(message) Correct \(option)." : "\(message) Use \(choices.joined(separator: " or "))."
  }

  /// The option for each setting.
  private static let options: [Remedy.Setting: String] = [
    .items: "--items", .next: "--next", .send: "--send", .end: "--end", .total: "--total",
    .pageSize: "--page-size",
  ]

  /// The members of a description that no option takes the place of.
  private static let members: [Remedy.Setting: String] = [
    .next: "next", .send: "send", .end: "end",
  ]

  /// Words of a description that the command line has others for.
  private static let words = ["emptyPage": "empty", "shortPage": "short", "sameCursor": "same"]

  /// The message with options in place of the library's names.
  static func applied(to message: String) -> String {
    var text = message
    for (name, option) in phrases { text = text.replacing(name, with: option) }
    text = text.replacing(#/(?:Decoding|Transfer|XML)Limits\.(\w+)/#) { "--limit \($0.1)" }
    text = text.replacing(#/Timeouts\.(\w+)/#) { "--limit \($0.1)Timeout" }
    text = text.replacing(#/use \.items\(at: "([^"]*)"\)/#) { "use --items '\($0.1)'" }
    text = text.replacing(#/use \.items\(at: \.optional\("([^"]*)"\)\)/#) {
      "use --items 'optional:\($0.1)'"
    }
    text = text.replacing(#/Add one, such as "\w+"\./#) { _ in
      "Say it by --end, such as --end empty."
    }
    // Replays count as attempts, and are none of Quire's own.
    text = text.replacing(#/, (\d+) attempts\]$/#) { ", \($0.1) requests]" }
    return text.replacing(#/allow\(\["([^"]*)"\]\)/#) { "allow:\($0.1)" }
  }

  /// A path that a page has, as the value of an option: quoted so that a shell takes it for one word,
  /// whatever names a server chose.
  static func path(_ path: String) -> String {
    PagePath.isQuotable(path) ? "'\(path)'" : CommandLineText.quoted([path])
  }

  static let phrases = [
    (
      "Begin at the start, or, if you know that it fits",
      "Begin anew by --restart, or, if you know that it fits"
    ),
    ("or begin at the start.", "or begin anew by --restart."),
    ("Begin at the start.", "Begin anew by --restart."),
    ("Begin at the start, or,", "Begin anew by --restart, or,"),
    (
      "at the start of the page: position.page",
      "at the page: its position without the itemOffset, by --unchecked"
    ),
    ("go on from position.unchecked", "add --unchecked"),
    ("set configuration.badItems to .collect", "use --bad-items collect"),
    (
      "policy.handle in a description, repeatedPositions in a source",
      "policy.handle in a description file"
    ),
    ("add the end rule .sameCursor", "use --end same"),
    ("add the end rule .emptyPage", "use --end empty"),
    ("what else the continuation goes into", "what else --send names"),
    ("allow plain http in the client's configuration", "--allow-plain-http"),
    ("the link policy rebase or upgradeScheme", "--links rebase or --links upgrade-scheme"),
    ("choose a link policy:", "choose by --links:"),
    ("raise the limit on consecutive empty pages", "raise --limit emptyPages"),
    ("set Limits.comparedPages to 0", "use --limit comparedPages=0"),
    ("Give a page size.", "Say it by --page-size."),
    ("decode it as JSON", "use --format json"),
    ("decode it as XML", "use --format xml"),
    ("RetryPolicy.maximumRetryAfter", "--max-retry-after"),
    ("RetryPolicy.patience", "--patience"),
    ("RetryPolicy.maximumPolling", "--limit pollingTimeout"),
    ("as RetryPolicy.polls allows", "as --retries allows"),
    ("RetryPolicy allows one request", "--retries allows one request"),
    ("Make it a POST.", "Make it one by --method POST."),
  ]
}

/// The advice of the command line in the words of a description, which `--next`, `--send` and `--end`
/// do not change: there it is the member of the file that has to be edited.
enum DescriptionWords {
  /// The message with members of the description in place of options that cannot be given.
  static func applied(to message: String) -> String {
    var text = message
    text = text.replacing(#/[Uu]se --end (same|empty)\b/#) { match in
      "add \(rule(match.1)) to \"end\" in the description"
    }
    text = text.replacing(#/use --end (?:'sentinel:([^']*)'|sentinel:(\S*[^\s.]))/#) { match in
      let word = String(match.1 ?? match.2 ?? "")
      return
        "add {\"noNext\": {\"sentinels\": [\(word.debugDescription)]}} to \"end\" in the description"
    }
    text = text.replacing(#/or --end (empty) instead/#) { match in
      "or \(rule(match.1)) in \"end\" of the description instead"
    }
    for (option, member) in phrases { text = text.replacing(option, with: member) }
    return text
  }

  private static func rule(_ word: Substring) -> String {
    word == "same" ? "\"sameCursor\"" : "\"emptyPage\""
  }

  private static let phrases = [
    (
      "Say it by --end, such as --end empty.",
      "Say it by \"end\" in the description, such as [\"emptyPage\"]."
    ),
    ("what else --send names", "what else \"send\" in the description names"),
    ("only --end short says", "only \"shortPage\" in \"end\" of the description says"),
    ("Correct --end.", "Correct \"end\" in the description."),
    ("correct --next.", "correct \"next\" in the description."),
    ("did you mean --send url?", "did you mean \"send\": \"url\" in the description?"),
  ]
}
