import QuireCore

/// Values in bodies of every kind, and placeholders anywhere.
extension RequestEditor {
  /// The parameters of a body that is a form.
  var form: QueryString {
    if case .form(let text) = base.body { QueryString(text) } else { QueryString(nil) }
  }

  /// What a body of XML says at a path.
  func xmlValue(at path: PagePath) -> String? {
    guard case .xml(let text) = base.body else { return nil }
    let value = try? XMLTemplate(text).value(at: path)
    return value.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
  }

  mutating func setBody(_ value: JSONValue, at path: PagePath) throws(PageError) {
    switch base.body {
    case .none: base.body = .json(try JSONValue.object([]).setting(value, at: path))
    case .json(let body): base.body = .json(try body.setting(value, at: path))
    case .form, .xml, .bytes: throw foreignBody("at \"\(path)\"", "JSON")
    }
  }

  mutating func setForm(_ value: String, for name: String) throws(PageError) {
    var form = form
    switch base.body {
    case .none, .form: break
    case .json, .xml, .bytes: throw foreignBody("as \"\(name)\"", "a form")
    }
    form.set(name, encoded: PercentEncoding.encode(value))
    base.body = .form(form.raw ?? "")
  }

  mutating func setXML(_ value: String, at path: PagePath) throws(PageError) {
    guard case .xml(let text) = base.body else { throw foreignBody("at \"\(path)\"", "XML") }
    base.body = .xml(try XMLTemplate(text).setting(value, at: path))
  }

  /// Members whose names are pointers.
  mutating func mergeBody(_ value: JSONValue) throws(PageError) {
    guard case .object(let members) = value else { return }
    for member in members {
      let path: PagePath
      do { path = try PagePath(member.name) } catch {
        throw PageError(
          .invalidArgument,
          "\"\(member.name)\" is no pointer into the request body; it looks like \"/cursor\".")
      }
      try setBody(member.value, at: path)
    }
  }

  private func foreignBody(_ place: String, _ kind: String) -> PageError {
    PageError(
      .invalidArgument,
      "The description puts a value into the body \(place), and the body is not \(kind).")
  }

  // MARK: Placeholders

  /// Whether the text stands anywhere in the URL, as it is or encoded, or in the body.
  func has(placeholder text: String) -> Bool {
    let url = (try? self.url.get())?.path ?? ""
    let inURL = Self.spellings(of: text).contains { spelling in
      url.contains(spelling) || query.raw?.contains(spelling) == true
    }
    if inURL { return true }
    return switch base.body {
    case .none: false
    case .json(let body): body.contains(placeholder: text)
    case .form(let body): Self.spellings(of: text).contains { body.contains($0) }
    case .xml(let body): body.contains(text)
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self).contains(text)
    }
  }

  mutating func fill(
    _ text: String, with value: String, encoding: ValueEncoding
  ) throws(PageError) {
    var reference = try url.get()
    for spelling in Self.spellings(of: text) {
      reference.path = reference.path.replacing(spelling, by: encoding.encode(value))
      query = QueryString(query.raw?.replacing(spelling, by: encoding.encode(value)))
    }
    url = .success(reference)
    switch base.body {
    case .none: break
    case .json(let body): base.body = .json(body.replacing(placeholder: text, by: value))
    case .form(let body):
      base.body = .form(
        Self.spellings(of: text).reduce(body) {
          $0.replacing($1, by: PercentEncoding.encode(value))
        })
    case .xml(let body): base.body = .xml(body.replacing(text, by: XMLTemplate.escape(value)))
    case .bytes(let bytes):
      let body = String(decoding: bytes, as: UTF8.self)
      if body.contains(text) { base.body = .bytes(Array(body.replacing(text, by: value).utf8)) }
    }
  }

  /// A placeholder as people write it into a URL, and as programs encode it.
  private static func spellings(of text: String) -> [String] {
    let encoded = PercentEncoding.encode(text)
    return encoded == text ? [text] : [text, encoded]
  }
}

extension JSONValue {
  fileprivate func contains(placeholder text: String) -> Bool {
    switch self {
    case .string(let string): string.contains(text)
    case .array(let elements): elements.contains { $0.contains(placeholder: text) }
    case .object(let members): members.contains { $0.value.contains(placeholder: text) }
    case .null, .bool, .number: false
    }
  }

  fileprivate func replacing(placeholder text: String, by value: String) -> JSONValue {
    switch self {
    case .string(let string): .string(string.replacing(text, by: value))
    case .array(let elements):
      .array(elements.map { $0.replacing(placeholder: text, by: value) })
    case .object(let members):
      .object(members.map { .init($0.name, $0.value.replacing(placeholder: text, by: value)) })
    case .null, .bool, .number: self
    }
  }
}
