import HTTPTypes
import QuireCore
import QuirePagination
import Synchronization

/// Keeps the secrets that a walk starts with out of its positions.
///
/// Some servers repeat the caller's `access_token` in every next link, and positions are stored. So
/// where a position repeats a secret of the first request, anywhere, however it is percent-encoded, and
/// within base 64, it has a mark instead, and the next request, in this process or another, has the
/// secret again, spelled as the server did. The mark, `<secret:id:spelling>`, holds `<` and `>`, which
/// no URL does; a server that sends one is refused, and it becomes a secret only on its way home. What
/// was a number has a mark of its own in front.
struct SecretParameters: Sendable {
  private static let mark = "<secret:"
  private static let numberMark = "<secret:#>"

  /// In the order in which they were found: of several with one id the first is the present one.
  private let all: [Secret]
  /// The long ones, the longest first: one may hold another.
  private let secrets: [Secret]
  /// What texts are searched for: the long ones, and then what base 64 shows of them.
  private let searched: [Secret]
  /// Those that only the name of a parameter tells from other values.
  private let short: [Secret]
  /// Which bytes any of the long ones may begin with.
  private let firstBytes: [Bool]

  init(_ secrets: [Secret]) {
    all = secrets
    self.secrets = secrets.filter(\.isTelling).sorted { $1.value.count < $0.value.count }
    searched = self.secrets + self.secrets.flatMap(\.encoded)
    short = secrets.filter { !$0.isTelling }
    var firstBytes = [Bool](repeating: false, count: 256)
    for byte in searched.compactMap(\.value.first) {
      for spelled in [byte, byte ^ 0x20, UInt8(ascii: "%"), UInt8(ascii: "+")] {
        firstBytes[Int(spelled)] = true
      }
    }
    self.firstBytes = firstBytes
  }

  var isEmpty: Bool { all.isEmpty }

  /// Hashes the secrets themselves.
  func hash(into hasher: inout Hasher) {
    for secret in all { hasher.combine(secret.value) }
  }

  /// Whether a value is one of the secrets.
  func holds(_ value: [UInt8]) -> Bool { all.contains { $0.value == value } }

  /// The long ones as they are cut out of texts.
  var values: [[UInt8]] { secrets.map(\.value) }

  /// These secrets and `others`.
  func adding(_ others: [Secret]) -> SecretParameters {
    others.isEmpty ? self : SecretParameters(all + others)
  }

  /// Whether a position holds a mark.
  static func isMarked(_ position: Position) -> Bool {
    position.value.map(isMarked) ?? false
  }

  private static func isMarked(_ value: JSONValue) -> Bool {
    switch value {
    // Characters are slow to look at, and hardly any position has this byte.
    case .string(let text):
      text.utf8.withContiguousStorageIfAvailable { $0.contains(UInt8(ascii: "<")) } ?? true
        && text.contains(mark)
    case .array(let elements): elements.contains(where: isMarked)
    case .object(let members):
      members.contains { isMarked(.string($0.name)) || isMarked($0.value) }
    case .null, .bool, .number: false
    }
  }

  /// The head of a page, its positions without secrets. A server's own mark is no way on; where an unchanged page
  /// leads is what was kept of it, and has our marks.
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
    // Only a last page has one, and looking it up takes time.
    if head.next == nil, let resume = head.metadata[HTTPPageInfo.self]?.resume {
      head.metadata[HTTPPageInfo.self]?.resume = Self.isMarked(resume) ? nil : redact(resume)
    }
  }

  /// The position without secrets.
  func redact(_ position: Position) -> Position {
    guard !secrets.isEmpty || !short.isEmpty else { return position }
    return Self.rewrite(position) { text in
      let text = redactAnywhere(text)
      return short.isEmpty ? text : redactParameters(text)
    }
  }

  /// The position with its secrets again.
  ///
  /// Throws `invalidArgument` when the walk does not start with them.
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

  /// A URL in which a secret that another of the same id has replaced is that one now.
  func renewing(_ url: String) -> String {
    let redacted = redact(Position(.string(url)))
    guard Self.isMarked(redacted), case .string(let text)? = (try? restore(redacted))?.value else {
      return url
    }
    return text
  }

  /// What follows the beginning of a mark, with the secret in its place; the mark again where that is
  /// not known.
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

  /// The ids of secrets whose marks a position holds.
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

  /// The text without the secrets in it, wherever they stand.
  private func redactAnywhere(_ text: String) -> String {
    guard !secrets.isEmpty, text.utf8.count >= Secret.telling else { return text }
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

  /// Parameters are what ampersands part: behind the question mark of a link, or in a text of
  /// parameters alone. Bytes count, and those of all other parameters stay.
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
      // Those of the position itself count items and pages.
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

  /// A text that stands for a number; another secret may be none.
  private static func number(_ text: String) -> JSONValue {
    if case .number(let number)? = try? JSONValue(parsing: text) {
      .number(number)
    } else {
      .string(text)
    }
  }
}

/// What a signer has put into a walk's requests: as secret as what the caller puts there.
///
/// A signature changes with each request, so that those of the last ones are kept.
final class SignedSecrets: Sendable {
  /// The newest first.
  private let secrets = Mutex<[Secret]>([])
  private static let most = 32

  /// The secrets of the last requests; those of one id from the newest to the oldest.
  var all: [Secret] { secrets.withLock { $0 } }

  /// Takes in what a signer made of a request.
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
      for (name, value) in BodySecrets.all(in: signed.body) {
        list.add("signer.body", name, value.utf8)
      }
    }
    let new = list.secrets.filter(\.isTelling)
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

  /// Whether a position stands for what a signer puts into requests, and no request was signed yet.
  func isNeeded(for position: Position) -> Bool {
    guard SecretParameters.isMarked(position) else { return false }
    let known = Set(all.map(\.id))
    return SecretParameters.marks(in: position).contains {
      $0.hasPrefix("signer.") && !known.contains($0)
    }
  }
}
