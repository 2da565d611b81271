import HTTPTypes
import QuireCore
import QuirePagination
import Synchronization

/// The secrets of a walk, which it keeps out of its positions.
///
/// Some servers repeat the caller's `access_token` in every next link, and positions are stored. So
/// a secret of the first request is replaced by a mark wherever a position repeats it, in any
/// percent-encoding and in base 64. The next request, in this process or another, gets the secret
/// again, with the spelling of the server. The mark, `<secret:id:spelling>`, contains `<` and `>`,
/// which no URL does. A server that sends a mark is refused, and secrets are restored only for
/// requests to the listing's own origin. A number that contained a secret becomes a text with a
/// mark of its own in front.
struct SecretParameters: Sendable {
  private static let mark = "<secret:"
  private static let numberMark = "<secret:#>"

  /// All secrets, in the order in which they were found. The first of several with one identifier
  /// is the current one.
  private let all: [Secret]
  /// The long secrets, the longest first because it may contain another.
  private let secrets: [Secret]
  /// The texts to search for: the long secrets, then their parts that are visible in base 64.
  private let searched: [Secret]
  /// The short secrets, which are recognized only by the name of a parameter.
  private let short: [Secret]
  /// For each byte, whether a long secret may begin with it, in any spelling.
  private let firstBytes: [Bool]

  init(_ secrets: [Secret]) {
    all = secrets
    self.secrets = secrets.filter(\.isSearchable).sorted { $1.value.count < $0.value.count }
    searched = self.secrets + self.secrets.flatMap(\.encoded)
    short = secrets.filter { !$0.isSearchable }
    var firstBytes = [Bool](repeating: false, count: 256)
    for byte in searched.compactMap(\.value.first) {
      for spelled in [byte, byte ^ 0x20, UInt8(ascii: "%"), UInt8(ascii: "+")] {
        firstBytes[Int(spelled)] = true
      }
    }
    self.firstBytes = firstBytes
  }

  var isEmpty: Bool { all.isEmpty }

  /// Hashes the values of the secrets.
  func hash(into hasher: inout Hasher) {
    for secret in all { hasher.combine(secret.value) }
  }

  /// Returns whether a value is one of the secrets.
  func holds(_ value: [UInt8]) -> Bool { all.contains { $0.value == value } }

  /// The values of the long secrets, to be removed from texts.
  var values: [[UInt8]] { secrets.map(\.value) }

  /// Returns these secrets and `others`.
  func adding(_ others: [Secret]) -> SecretParameters {
    others.isEmpty ? self : SecretParameters(all + others)
  }

  /// Returns whether a position contains a mark.
  static func isMarked(_ position: Position) -> Bool {
    position.value.map(isMarked) ?? false
  }

  private static func isMarked(_ value: JSONValue) -> Bool {
    switch value {
    // Bytes are compared first, because characters are slow and hardly any position contains `<`.
    case .string(let text):
      text.utf8.withContiguousStorageIfAvailable { $0.contains(UInt8(ascii: "<")) } ?? true
        && text.contains(mark)
    case .array(let elements): elements.contains(where: isMarked)
    case .object(let members):
      members.contains { isMarked(.string($0.name)) || isMarked($0.value) }
    case .null, .bool, .number: false
    }
  }

  /// Redacts the positions in the head of a page. Positions with a mark of the server's own are
  /// removed. The positions of an unchanged page were stored by this client, and have its marks
  /// already.
  func redact(_ head: inout PageHead) {
    guard !head.isUnchanged else { return }
    if let next = head.next {
      head.next = Self.isMarked(next) ? nil : redact(next)
      if head.next == nil {
        head.nextFailure = PageError(
          .invalidCursor,
          "The server's next link or cursor holds \"\(Self.mark)\", which stands for secrets in "
            + "positions. It is not followed: the server may be after them.")
      }
    }
    head.previous = head.previous.flatMap { Self.isMarked($0) ? nil : redact($0) }
    head.closing = head.closing.flatMap { Self.isMarked($0) ? nil : redact($0) }
    // Only the last page has one, and the lookup takes time.
    if head.next == nil, let resume = head.metadata[HTTPPageInfo.self]?.resume {
      head.metadata[HTTPPageInfo.self]?.resume = Self.isMarked(resume) ? nil : redact(resume)
    }
  }

  /// Returns the position with marks instead of secrets.
  func redact(_ position: Position) -> Position {
    guard !secrets.isEmpty || !short.isEmpty else { return position }
    return Self.rewrite(position) { text in
      let text = redactAnywhere(text)
      return short.isEmpty ? text : redactParameters(text)
    }
  }

  /// Returns whether a URL contains a secret, in any spelling.
  func appear(in url: String) -> Bool { Self.isMarked(redact(Position(.string(url)))) }

  /// Returns the position with secrets instead of marks.
  ///
  /// Throws `invalidArgument` if the walk does not have these secrets.
  func restore(_ position: Position) throws(PageError) -> Position {
    let restored = Self.rewrite(position) { text in
      let pieces = text.split(separator: Self.mark, omittingEmptySubsequences: false)
      return pieces.dropFirst().reduce(String(pieces[0])) { $0 + restore($1) }
    }
    guard !Self.isMarked(restored) else {
      throw PageError(
        .invalidArgument,
        "A position was made by a walk that had a secret which this one lacks. Start with the same "
          + "parameters, header fields and body.")
    }
    return restored
  }

  /// Returns a URL with current secrets instead of older ones with the same identifiers.
  func renewing(_ url: String) -> String {
    let redacted = redact(Position(.string(url)))
    guard Self.isMarked(redacted), case .string(let text)? = (try? restore(redacted))?.value else {
      return url
    }
    return text
  }

  /// Returns a text that followed the beginning of a mark, with the secret restored, or with the
  /// mark if the secret is unknown.
  private func restore(_ piece: Substring) -> String {
    guard let end = piece.firstIndex(of: ">") else { return Self.mark + piece }
    let parts = piece[..<end].split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let secret = (all + searched).first(where: { $0.id == parts[0] }) else {
      return Self.mark + piece
    }
    return SecretSpelling.spell(secret.value, parts.dropFirst().first ?? "")
      + piece[piece.index(after: end)...]
  }

  /// Returns the identifiers in the marks of a position.
  static func marks(in position: Position) -> [String] {
    var ids: [String] = []
    _ = rewrite(position) { text in
      ids += text.split(separator: mark, omittingEmptySubsequences: false).dropFirst().map {
        String($0.prefix { !":>!".contains($0) })
      }
      return text
    }
    return ids
  }

  // MARK: Redacting

  /// Returns the text with marks instead of the long secrets in it.
  private func redactAnywhere(_ text: String) -> String {
    guard !secrets.isEmpty, text.utf8.count >= Secret.minimumSearchableLength else { return text }
    var text = text
    return text.withUTF8 { bytes -> String? in
      var result: [UInt8] = []
      var kept = 0
      var place = 0
      while place < bytes.count {
        guard firstBytes[Int(bytes[place])], let (end, mark) = secret(in: bytes, at: place) else {
          place += 1
          continue
        }
        result += bytes[kept..<place]
        result += mark.utf8
        (kept, place) = (end, end)
      }
      guard kept > 0 else { return nil }
      return String(decoding: result + bytes[kept...], as: UTF8.self)
    } ?? text
  }

  private func secret(
    in bytes: UnsafeBufferPointer<UInt8>, at place: Int
  ) -> (end: Int, mark: String)? {
    for secret in searched {
      if let (end, spelling) = SecretSpelling.describe(
        bytes, from: place, asSpellingOf: secret.value)
      {
        return (end, Self.mark(secret, spelling))
      }
    }
    return nil
  }

  private static func mark(_ secret: Secret, _ spelling: String) -> String {
    mark + secret.id + (spelling.isEmpty ? ">" : ":\(spelling)>")
  }

  /// Returns the text with marks instead of short secrets in its parameters, which are separated by
  /// ampersands: after the question mark of a link, or in a text of parameters alone. Works on
  /// bytes, so that all other parameters are unchanged.
  private func redactParameters(_ text: String) -> String {
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
        if let mark = shortSecret(Substring(name), value) {
          result += Substring(name) + "=" + mark
          continue
        }
      }
      result += Substring(parameter)
    }
    return result
  }

  private func shortSecret(_ name: Substring, _ value: Substring.UTF8View) -> String? {
    guard SecretName.matches(PercentEncoding.decode(name, plusIsSpace: true)) else { return nil }
    for secret in short {
      if let spelling = SecretSpelling.describe(value, asSpellingOf: secret.value) {
        return Self.mark(secret, spelling)
      }
    }
    return nil
  }

  // MARK: Texts of a position

  private static func rewrite(_ position: Position, _ change: (String) -> String) -> Position {
    guard let value = position.value else { return position }
    var position = position
    position.value = rewrite(value, change)
    return position
  }

  private static func rewrite(
    _ value: JSONValue, depth: Int = 0, _ change: (String) -> String
  ) -> JSONValue {
    switch value {
    case .string(let text) where text.utf8.starts(with: numberMark.utf8):
      return number(change(String(text.dropFirst(numberMark.count))))
    case .string(let text):
      return .string(change(text))
    case .number(let text):
      // Numbers of the position itself are counts of items and pages.
      let changed = depth > 1 ? change(text) : text
      return changed == text ? value : .string(numberMark + changed)
    case .array(let elements):
      return .array(elements.map { rewrite($0, depth: depth + 1, change) })
    case .object(let members):
      return .object(
        members.map { .init(change($0.name), rewrite($0.value, depth: depth + 1, change)) })
    case .null, .bool:
      return value
    }
  }

  /// Returns the number in a text, or the text if a different secret has made it something else.
  private static func number(_ text: String) -> JSONValue {
    if case .number(let number)? = try? JSONValue(parsing: text) {
      .number(number)
    } else {
      .string(text)
    }
  }
}

/// The secrets that a signer has put into a walk's requests.
///
/// Signatures change with each request, so those of the last requests are kept.
final class SignedSecrets: Sendable {
  /// The secrets, the newest first.
  private let secrets = Mutex<[Secret]>([])
  private static let most = 32

  /// The secrets of the last requests; of those with one identifier, the newest first.
  var all: [Secret] { secrets.withLock { $0 } }

  /// Notes the secrets that a signer has added to a request.
  func note(_ signed: TransportRequest, of plain: TransportRequest) {
    var list = SecretList()
    let before = plain.head.headerFields
    for field in signed.head.headerFields
    where !Redactor.harmlessFields.contains(field.name)
      && !before[fields: field.name].contains(field)
    {
      for part in Secret.parts(of: field) {
        list.add("signer.field", field.name.canonicalName, part.utf8)
      }
    }
    if signed.head.path != plain.head.path { noteURL(signed, of: plain, in: &list) }
    if signed.body != plain.body {
      for (name, value) in BodySecrets.all(in: .bytes(signed.body)) {
        list.add("signer.body", name, value.utf8)
      }
    }
    let new = list.secrets.filter(\.isSearchable)
    guard !new.isEmpty else { return }
    secrets.withLock { secrets in
      guard !new.allSatisfy(secrets.contains) else { return }
      secrets = Array((new + secrets.filter { !new.contains($0) }).prefix(Self.most))
    }
  }

  private func noteURL(
    _ signed: TransportRequest, of plain: TransportRequest, in list: inout SecretList
  ) {
    guard let new = try? URLReference(signed.url), let old = try? URLReference(plain.url) else {
      return
    }
    let known = QueryString(old.query).pairs.map(\.encoded)
    for (name, value) in QueryString(new.query).pairs where !known.contains(value) {
      list.add("signer.query", name, PercentEncoding.decodedBytes(value))
    }
    let segments = old.path.split(separator: "/")
    for segment in new.path.split(separator: "/") where !segments.contains(segment) {
      list.add("signer.path", "segment", PercentEncoding.decodedBytes(segment))
    }
  }

  /// Returns whether a position contains marks of a signer's secrets of which no request has been
  /// signed yet.
  func isNeeded(for position: Position) -> Bool {
    guard SecretParameters.isMarked(position) else { return false }
    let known = Set(all.map(\.id))
    return SecretParameters.marks(in: position).contains {
      $0.hasPrefix("signer.") && !known.contains($0)
    }
  }
}
