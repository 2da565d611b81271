import QuireCore

/// A server's explanation of a failure, found in a page that answered 200 without the items.
///
/// APIs write it in many ways: `{"error": {"message": "…"}}`, `{"errors": [{"detail": "…"}]}`,
/// `{"status": "error", "msg": "…"}`, `<Error><Message>…</Message></Error>`. No description has a
/// rule for these, so the explanation is only added to an error that is thrown anyway.
package struct FailureWords: Hashable, Sendable {
  /// The server's text.
  package let text: String
  /// Whether the page marks the text as an error, and has no list that could be the items.
  package let isError: Bool

  /// A sentence that quotes the text, shortened for an error message.
  package var sentence: String {
    let isSentence = text.last.map(".!?".contains) ?? false
    return "It says: \"\(ServerText(text, limit: 512))\"" + (isSentence ? "" : ".")
  }
}

extension PageOutline {
  /// The page's explanation of a failure; nil if the page seems to have none.
  ///
  /// Use it only for a page without items: any listing may have a `description` of its own.
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
    // A list beside the error may be the items after all.
    let isAlone = !nodes.contains {
      $0.kind == .list && $0.count > 0 && !$0.isInList && !Self.namesErrors($0.path)
    }
    return best.map { FailureWords(text: $0.text, isError: isError && isAlone) }
  }

  /// The path of a member that marks the page as a failure, such as `"success": false`,
  /// `"error": "…"` or `"errors": […]`; nil if there is none.
  ///
  /// Use it only for a page without items, as `failureWords`.
  var failureMark: String? {
    nodes.first { !$0.isInList && $0.depth <= 2 && marksFailure($0) }?.path
  }

  private func marksFailure(_ node: Node) -> Bool {
    let text = node.value?.string
    switch Self.plain(node.name) {
    case "success", "succeeded", "ok":
      return node.value == .bool(false) || text?.lowercased() == "false"
    case "status": return ["error", "fail", "failed", "failure"].contains(Self.plain(text ?? ""))
    case "error", "errors", "fault", "faults", "exception":
      switch node.kind {
      case .scalar: return saysFailure(node)
      case .list: return node.count > 0
      // Some APIs have an object with the code 0 in each answer.
      case .object:
        return nodes.contains {
          $0.kind == .scalar && $0.path.hasPrefix(node.path + "/") && saysFailure($0)
        }
      }
    default: return false
    }
  }

  /// Whether the value of an error's member is more than what stands there without an error.
  private func saysFailure(_ node: Node) -> Bool {
    switch node.value {
    case .bool(let isError)?: isError
    case .number?: node.value?.integer != 0
    case .string(let text)?:
      Int(text).map { $0 != 0 } ?? !Self.uninformativeTexts.contains(Self.plain(text))
    default: false
    }
  }

  /// Returns how well a text explains a failure, and whether its path marks it as an error; nil for
  /// any other text. The ranks are 5 for an error's message, 4 for its title, 3 for a message
  /// outside of an error, 2 for a title there, and 1 for any other text of an error, such as a
  /// code.
  private func rank(of node: Node) -> (rank: Int, isError: Bool)? {
    guard !Self.uninformativeTexts.contains(Self.plain(node.text ?? "")) else { return nil }
    let names = node.path.split(separator: "/").map { Self.plain($0.prefix { $0 != "[" }) }
    let own = Self.plain(node.name)
    // OData has `"message": {"lang": "en", "value": "…"}`.
    let isValue =
      ["text", "value"].contains(own) && names.dropLast().last.map(Self.isMessage) == true
    let isMessage = Self.isMessage(own) || isValue
    // In a list only the exact name counts: there are listings of problems, and listings of things
    // that have "error" in their names.
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

  /// The endings of the names of messages: `error_description`, `errorMessage`, `faultstring`.
  private static let messages = [
    "description", "detail", "details", "faultstring", "message", "messages", "msg", "reason",
    "summary",
  ]

  /// Texts that explain no failure: what servers write in place of an error, or as the message of a
  /// success. The empty one is a text without letters, such as a numeric code.
  private static let uninformativeTexts: Set<String> = [
    "", "done", "false", "no", "none", "null", "ok", "okay", "success", "successful",
  ]

  /// Returns the letters of a name, in lowercase, so that `error_code` equals `errorCode`.
  private static func plain(_ name: some StringProtocol) -> String {
    String(name.filter(\.isLetter)).lowercased()
  }
}

extension PageOutline.Node {
  /// The text of a scalar; nil if it is blank or the value is no text.
  fileprivate var text: String? {
    guard kind == .scalar, let text = value?.string, !text.allSatisfy(\.isWhitespace) else {
      return nil
    }
    return text
  }
}
