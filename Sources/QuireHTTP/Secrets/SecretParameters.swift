import HTTPTypes
import QuireCore

/// Keeps the secrets that a walk starts with out of its positions (H-8).
///
/// Some servers repeat the caller's `access_token` in every next link, and positions are stored. So
/// where a parameter of a link repeats a secret of the first URL or of the fields, the position has
/// a mark instead, and the next request, in this process or another, has the secret again, spelled
/// as the server did. The mark, `<secret:id:spelling>`, holds `<` and `>`, which no URL does; whoever
/// sends one is refused, and it becomes a secret only on its way home.
struct SecretParameters: Sendable {
  private static let mark = "<secret:"
  /// Shorter values are taken for a secret only where the parameter's name says so, too.
  private static let telling = 6

  private let secrets: [Secret]

  /// The secrets of a walk that starts with this URL and these fields.
  init(of url: String, fields: HTTPFields) {
    secrets = Secret.all(in: url, fields)
  }

  /// Whether a position holds a mark.
  static func isMarked(_ position: Position) -> Bool {
    position.value.map(isMarked) ?? false
  }

  private static func isMarked(_ value: JSONValue) -> Bool {
    switch value {
    // Characters are slow to look at, and hardly any position has this byte.
    case .string(let text): text.utf8.contains(UInt8(ascii: "<")) && text.contains(mark)
    case .array(let elements): elements.contains(where: isMarked)
    case .object(let members): members.contains { isMarked($0.value) }
    case .null, .bool, .number: false
    }
  }

  /// The page, its positions without secrets. A server's own mark is no way on.
  func conceal<Item>(_ page: Page<Item>) -> Page<Item> {
    var page = page
    if let next = page.next {
      page.next = Self.isMarked(next) ? nil : conceal(next)
      if page.next == nil {
        page.nextFailure = PageError(
          .invalidCursor,
          "The server's next link or cursor holds \"\(Self.mark)\", which stands for secrets in "
            + "positions. It is not followed: the server may be after them.")
      }
    }
    page.previous = page.previous.flatMap { Self.isMarked($0) ? nil : conceal($0) }
    page.closing = page.closing.flatMap { Self.isMarked($0) ? nil : conceal($0) }
    if let resume = page.http?.resume {
      page.metadata[HTTPPageInfo.self]?.resume = Self.isMarked(resume) ? nil : conceal(resume)
    }
    return page
  }

  /// The position without secrets.
  func conceal(_ position: Position) -> Position {
    guard !secrets.isEmpty else { return position }
    return Self.rewrite(position) { name, value in
      for secret in secrets {
        guard let spelling = SecretSpelling.describe(value.utf8, asSpellingOf: secret.value),
          secret.value.count >= Self.telling
            || SecretName.matches(PercentEncoding.decode(name, plusIsSpace: true))
        else { continue }
        return Self.mark + secret.id + (spelling.isEmpty ? ">" : ":\(spelling)>")
      }
      return nil
    }
  }

  /// The position with its secrets again.
  ///
  /// Throws `invalidArgument` when the walk does not start with them.
  func reveal(_ position: Position) throws(PageError) -> Position {
    let revealed = Self.rewrite(position) { _, value in
      guard value.hasPrefix(Self.mark), value.last == ">" else { return nil }
      let parts = value.dropFirst(Self.mark.count).dropLast().split(separator: ":", maxSplits: 1)
      guard let secret = secrets.first(where: { $0.id == parts.first ?? "" }) else { return nil }
      return SecretSpelling.spell(secret.value, parts.dropFirst().first ?? "")
    }
    guard !Self.isMarked(revealed) else {
      throw PageError(
        .invalidArgument,
        "A position was made by a walk that had a secret which this one lacks. Start with the same "
          + "parameters and header fields.")
    }
    return revealed
  }

  /// `change` returns the new encoded value of a parameter, or nil to leave it alone.
  private static func rewrite(
    _ position: Position, _ change: (_ name: Substring, _ value: Substring) -> String?
  ) -> Position {
    guard let value = position.value else { return position }
    var position = position
    position.value = rewrite(value, change)
    return position
  }

  private static func rewrite(
    _ value: JSONValue, _ change: (_ name: Substring, _ value: Substring) -> String?
  ) -> JSONValue {
    switch value {
    case .string(let text): .string(rewrite(text, change))
    case .array(let elements): .array(elements.map { rewrite($0, change) })
    case .object(let members): .object(members.map { .init($0.name, rewrite($0.value, change)) })
    case .null, .bool, .number: value
    }
  }

  /// Parameters are what ampersands part: behind the question mark of a link, or in a text of
  /// parameters alone. Bytes count, and those of all other parameters stay.
  private static func rewrite(
    _ text: String, _ change: (_ name: Substring, _ value: Substring) -> String?
  ) -> String {
    let bytes = text.utf8
    let start =
      bytes.firstIndex(of: UInt8(ascii: "?")).map { bytes.index(after: $0) } ?? bytes.startIndex
    var result = String(text[..<start])
    var isFirst = true
    for parameter in bytes[start...].split(
      separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    {
      if !isFirst { result += "&" }
      isFirst = false
      if let equals = parameter.firstIndex(of: UInt8(ascii: "=")) {
        let name = parameter[..<equals]
        let value = parameter[parameter.index(after: equals)...]
        if let changed = change(Substring(name), Substring(value)) {
          result += Substring(name) + "=" + changed
          continue
        }
      }
      result += Substring(parameter)
    }
    return result
  }
}
