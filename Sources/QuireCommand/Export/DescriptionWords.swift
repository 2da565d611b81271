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
