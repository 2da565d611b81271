import QuirePagination
import QuireCore

/// A placeholder in a request for the start of a page, such as `{page}` or `{{offset}}`.
struct RequestPlaceholder: Hashable {
  /// The kind of value that replaces a placeholder.
  enum Kind { case page, offset, token }

  /// The placeholder as written in the request, decoded.
  let text: String
  let kind: Kind
  /// The value for the first page.
  let first: JSONValue

  /// Returns the placeholders of a request.
  ///
  /// Braces have no meaning in a URL, so each pair there is a placeholder. Encoded braces in a
  /// parameter's value, and braces in a body, may belong to a query language: there only known
  /// names of pages, offsets and tokens count, in a value without other braces. Throws
  /// `invalidArgument` for a placeholder whose name has no known meaning, because it must not be
  /// sent.
  static func all(
    in request: PageRequest, vocabulary: PaginationVocabulary = .shared
  ) throws(PageError) -> [RequestPlaceholder] {
    var found: [RequestPlaceholder] = []
    let path = PercentEncoding.decode(request.url.prefix { $0 != "?" })
    let values = request.url.split { "?&=#".contains($0) }.map { PercentEncoding.decode($0) }
    for text in texts(in: PercentEncoding.decode(request.url)) {
      let placeholder = RequestPlaceholder(text, vocabulary)
      let isOne =
        (path + request.url).contains(text) || text.hasPrefix("{{")
        || values.contains { value in
          let isAlone = value.count(where: { $0 == "{" }) == 1
          return value == text || placeholder != nil && isAlone && value.contains(text)
        }
      guard isOne else { continue }
      guard let placeholder else {
        throw PageError(
          .invalidArgument,
          "The URL has the placeholder \"\(text.prefix(80))\", and its name does not say what goes "
            + "there. Write a value in its place.")
      }
      found.append(placeholder)
    }
    found += bodyTexts(in: request.body).compactMap { RequestPlaceholder($0, vocabulary) }
    var seen: Set<String> = []
    return found.filter { seen.insert($0.text).inserted }
  }

  private init?(_ text: String, _ vocabulary: PaginationVocabulary) {
    let name = PaginationVocabulary.normalized(text)
    self.text = text
    if vocabulary.pageNames.contains(name) {
      (kind, first) = (.page, 1)
    } else if let start = vocabulary.start(ofPlaceholder: text) {
      (kind, first) = (.offset, .number(String(start)))
    } else if vocabulary.offsetNames.contains(name) {
      (kind, first) = (.offset, 0)
    } else if vocabulary.tokenParameters.contains(name) {
      (kind, first) = (.token, "")
    } else {
      return nil
    }
  }

  private static func texts(in text: String) -> [String] {
    text.matches(of: #/\{\{?[A-Za-z_][A-Za-z0-9_.-]*\}\}?/#).prefix(20).map { String($0.0) }
  }

  private static func bodyTexts(in body: PageRequest.Body) -> [String] {
    switch body {
    case .none: []
    case .json(let value): jsonTexts(in: value)
    case .form(let text): texts(in: PercentEncoding.decode(text))
    case .xml(let text): texts(in: text)
    case .bytes(let bytes): texts(in: String(decoding: bytes, as: UTF8.self))
    }
  }

  /// Returns the placeholders that are a whole string or in double braces. Skips members named
  /// `query`, whose language may use braces.
  private static func jsonTexts(in value: JSONValue) -> [String] {
    switch value {
    case .string(let text):
      texts(in: text).filter { $0 == text || $0.hasPrefix("{{") }
    case .array(let elements): elements.flatMap(jsonTexts)
    case .object(let members):
      members.flatMap { $0.name == "query" ? [] : jsonTexts(in: $0.value) }
    case .null, .bool, .number: []
    }
  }
}

extension PageRequest {
  /// Returns the request with placeholders replaced by the values of the first page.
  func filling(_ placeholders: [RequestPlaceholder]) throws(PageError) -> PageRequest {
    guard !placeholders.isEmpty else { return self }
    var editor = RequestEditor(self)
    for placeholder in placeholders {
      editor.fill(placeholder.text, with: placeholder.first.plainText, encoding: .strict)
    }
    return try editor.request()
  }
}

extension PaginationVocabulary {
  /// Returns the first count of the preset that uses the placeholder; nil if none does.
  fileprivate func start(ofPlaceholder text: String) -> Int? {
    for case .placeholder(text, _) in offsets.places.keys {
      let routes = presets.lazy.flatMap(\.preset.pagination.routes)
      return routes.first { $0.send == .placeholder(text) }?.next.firstCount
    }
    return nil
  }
}
