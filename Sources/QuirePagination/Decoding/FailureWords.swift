import QuireCore

/// The words of a page about a failure, for an answer of 200 that lacks the items.
///
/// APIs write the same in many ways: `{"error": {"message": "…"}}`, `{"errors": [{"detail": "…"}]}`,
/// `{"status": "error", "msg": "…"}`, `<Error><Message>…</Message></Error>`. None is a rule of a
/// description, so the words only explain an error that is thrown anyway.
package struct FailureWords: Hashable, Sendable {
  /// The server's text.
  package let text: String
  /// Whether the page calls it an error, and not only a message, and has no list in its place.
  package let isError: Bool

  /// The text in a sentence, cut for a message.
  package var sentence: String {
    let isSentence = text.last.map(".!?".contains) ?? false
    return "It says: \"\(ServerText(text, limit: 512))\"" + (isSentence ? "" : ".")
  }
}

extension PageOutline {
  /// What the page says of a failure; nil if nothing suggests one.
  ///
  /// Meant for a page without items: a listing may well have a description of itself.
  package var failureWords: FailureWords? {
    if let root = nodes.first, root.kind == .scalar, root.depth == 0, let text = root.text {
      return FailureWords(text: text, isError: true)
    }
    var best: (rank: Int, text: String)?
    var isError = false
    for node in nodes {
      guard let text = node.text, let (rank, isOfError) = rank(of: node) else { continue }
      isError = isError || isOfError
      if rank > best?.rank ?? 0 { best = (rank, text) }
    }
    // Beside an error there may be a list, which the items may be after all.
    let isAlone = !nodes.contains {
      $0.kind == .list && $0.count > 0 && !$0.isInList && !Self.namesErrors($0.path)
    }
    return best.map { FailureWords(text: $0.text, isError: isError && isAlone) }
  }

  /// How well a text explains a failure, and whether it is an error by its place: the message of an
  /// error is best, then its title, then one that stands alone, then any other text of an error, such
  /// as a code. Nil for everything else.
  private func rank(of node: Node) -> (rank: Int, isError: Bool)? {
    guard !Self.pleasantries.contains(Self.plain(node.text ?? "")) else { return nil }
    let names = node.path.split(separator: "/").map { Self.plain($0.prefix { $0 != "[" }) }
    let own = Self.plain(node.name)
    // OData has `"message": {"lang": "en", "value": "…"}`.
    let isValue =
      ["text", "value"].contains(own) && names.dropLast().last.map(Self.isMessage) == true
    let isMessage = Self.isMessage(own) || isValue
    // Of a list only the name itself tells: there are listings of problems, and of all that has an
    // error in its name.
    let isError =
      node.isInList
      ? Self.namesErrors(node.path)
      : names.contains { name in ["error", "fault", "exception"].contains(where: name.contains) }
    if isError { return (isMessage ? 5 : own == "title" ? 4 : 1, true) }
    let isAlone = node.depth <= 2 && !nodes.contains { $0.kind == .list && $0.count > 0 }
    guard isAlone, !node.isInList else { return nil }
    return isMessage ? (3, false) : own == "title" ? (2, false) : nil
  }

  private static func namesErrors(_ path: String) -> Bool {
    path.split(separator: "/").contains { ["error", "errors", "faults"].contains(plain($0)) }
  }

  private static func isMessage(_ name: String) -> Bool { messages.contains(where: name.hasSuffix) }

  /// The ends of names that messages have: `error_description`, `errorMessage`, `faultstring`.
  private static let messages = [
    "description", "detail", "details", "faultstring", "message", "messages", "msg", "reason",
    "summary",
  ]

  /// What servers write where there is no error, or into the message of a success; an empty text is
  /// a number, such as a code.
  private static let pleasantries: Set<String> = [
    "", "done", "false", "no", "none", "null", "ok", "okay", "success", "successful",
  ]

  /// The letters of an ASCII name, in lowercase.
  private static func plain(_ name: some StringProtocol) -> String {
    String(name.filter(\.isLetter)).lowercased()
  }
}

extension PageOutline.Node {
  /// A text that says something.
  fileprivate var text: String? {
    guard kind == .scalar, let text = value?.string, !text.allSatisfy(\.isWhitespace) else {
      return nil
    }
    return text
  }
}
