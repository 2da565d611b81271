import Quire
import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination

/// A reference to a value of the parent's item, such as `name` or `owner/login`, or of an earlier
/// ancestor's: `listing:name`.
struct SyncPlaceholder: Hashable, Sendable {
  /// The ancestor's name; nil for the parent.
  let listing: String?
  let path: PagePath

  init(_ path: PagePath, of listing: String? = nil) {
    self.path = path
    self.listing = listing
  }

  /// Parses a placeholder without its braces. Throws `PageError` for an invalid path.
  init(_ text: String) throws {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    listing = parts.count == 2 ? String(parts[0]) : nil
    let path = String(parts.last ?? "")
    self.path = try PagePath(path.hasPrefix("/") ? path : "/\(path)")
  }

  /// Returns the member name of the value among the values of an item of `parent`: its path, with
  /// the ancestor's name in front if it is not the parent's own.
  func memberName(in parent: String?) -> String {
    guard let listing, listing != parent else { return path.text }
    return "\(listing):\(path.text)"
  }
}

extension [SyncPlaceholder] {
  /// Returns the names asked of an ancestor, such as `lower` in `{split:lower}`.
  func names(of ancestor: String) -> [String] {
    filter { $0.listing == ancestor }.map { String($0.path.text.dropFirst()) }
  }
}

/// The body of a listing's requests. In a JSON body, a text that is a placeholder as a whole, such
/// as `"{name}"`, is replaced by its value of any type. Braces within longer texts are the server's
/// own, as in GraphQL.
struct SyncBody: Sendable {
  let placeholders: [SyncPlaceholder]
  private let body: PageRequest.Body

  init(_ body: PageRequest.Body) {
    self.body = body
    placeholders = if case .json(let value) = body { Self.placeholders(in: value) } else { [] }
  }

  /// Returns the body with a parent's values; null where there is none.
  func filled(by value: (SyncPlaceholder) -> JSONValue?) -> PageRequest.Body {
    guard case .json(let json) = body else { return body }
    return .json(Self.filled(json, by: value))
  }

  private static func placeholder(_ text: String) -> SyncPlaceholder? {
    text.wholeMatch(of: #/\{([A-Za-z_][\w.\/:-]*)\}/#).flatMap {
      try? SyncPlaceholder(String($0.1))
    }
  }

  private static func placeholders(in value: JSONValue) -> [SyncPlaceholder] {
    switch value {
    case .string(let text): placeholder(text).map { [$0] } ?? []
    case .array(let elements): elements.flatMap(placeholders)
    case .object(let members): members.flatMap { placeholders(in: $0.value) }
    case .null, .bool, .number: []
    }
  }

  private static func filled(
    _ json: JSONValue, by value: (SyncPlaceholder) -> JSONValue?
  ) -> JSONValue {
    json.mapped { part in
      part.string.flatMap(placeholder).map { value($0) ?? .null } ?? part
    }
  }
}

/// A URL with placeholders (the first two levels of RFC 6570). The value of `{name}` is
/// percent-encoded; in the value of `{+name}`, only characters that no URL may contain.
struct SyncTemplate: Sendable {
  private enum Part: Sendable {
    case text(String)
    case value(SyncPlaceholder, isReserved: Bool)
  }

  let text: String
  private let parts: [Part]

  init(_ text: String, at place: String) throws {
    self.text = text
    var parts: [Part] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else {
        throw SyncFileError(place, "A placeholder is not closed: write {name}.")
      }
      parts.append(.text(String(rest[..<open])))
      let name = rest[rest.index(after: open)..<close]
      let isReserved = name.hasPrefix("+")
      do {
        parts.append(
          .value(
            try SyncPlaceholder(String(isReserved ? name.dropFirst() : name)),
            isReserved: isReserved))
      } catch {
        throw SyncFileError(place, "{\(ServerText(name))} is no placeholder: write {name}.")
      }
      rest = rest[rest.index(after: close)...]
    }
    self.parts = parts + [.text(String(rest))]
  }

  var placeholders: [SyncPlaceholder] {
    parts.compactMap { if case .value(let placeholder, _) = $0 { placeholder } else { nil } }
  }

  /// Returns the URL with a parent's values.
  ///
  /// Throws `PageError` if a value would change the template's path by a `.` or `..` (RFC 3986,
  /// §3.3), encoded or not.
  func filled(by value: (SyncPlaceholder) -> JSONValue?) throws -> String {
    let url = parts.map { part in
      switch part {
      case .text(let text): return text
      case .value(let placeholder, let isReserved):
        let value = value(placeholder)
        let text = value?.string ?? value?.description ?? ""
        return isReserved
          ? PercentEncoding.encode(text, allowing: ":/?#[]@!$&'()*+,;=%")
          : PercentEncoding.encode(text)
      }
    }.joined()
    let path = url.prefix { !"?#".contains($0) }
    let isStep = path.split(separator: "/").contains {
      [".", ".."].contains(PercentEncoding.decode($0))
    }
    guard !isStep || placeholders.isEmpty else {
      throw PageError(
        .invalidURL,
        "A parent's value would make \(ServerText(path)) of \(ServerText(text)), and lead to another path by . or "
          + "..: it is no name.")
    }
    return url
  }
}
