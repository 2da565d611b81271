import HTTPTypes
package import QuireCore

/// An editor of a request, which changes single values and leaves every other byte alone.
package struct RequestEditor {
  package var base: PageRequest
  var url: Result<URLReference, PageError>
  package var query: QueryString

  package init(_ request: PageRequest) {
    base = request
    url = Result { () throws(PageError) in try URLReference(request.url) }
    query = QueryString(try? url.get().query)
  }

  /// Returns the edited request; throws `invalidURL` if the original URL is invalid.
  package func request() throws(PageError) -> PageRequest {
    var reference = try url.get()
    reference.query = query.raw
    reference.fragment = nil
    var request = base
    request.url = reference.text
    return request
  }

  /// Returns the request's value at a placement; nil if there is none.
  package func value(at placement: Pagination.Placement) -> JSONValue? {
    switch placement {
    case .query(let name, _): query[name].map(JSONValue.string)
    case .header(let name):
      HTTPField.Name(name).flatMap { base.headerFields[$0] }.map(JSONValue.string)
    case .jsonBody(let path):
      if case .json(let body) = base.body { body.value(at: path) } else { nil }
    case .form(let name): form[name].map(JSONValue.string)
    case .xmlBody(let path): xmlValue(at: path).map(JSONValue.string)
    case .itemRange: rangeStart.map { .number(String($0)) }
    case .firstOf: value(at: placement.fitted(to: base))
    case .url, .request, .path, .placeholder, .queryMerge, .bodyMerge: nil
    }
  }

  /// Returns the request's page size at a placement; nil if there is none.
  func pageSize(at placement: Pagination.Placement) -> Int? {
    let size = if placement == .itemRange { range?.count } else { value(at: placement)?.count }
    return size.flatMap { $0 > 0 ? $0 : nil }
  }

  private var range: ClosedRange<Int>? {
    base.headerFields[.range].flatMap(ItemRange.init)?.range
  }

  /// The start of the request's range, which may have no end: `Range: 40-` (RFC 9110, §14.1.2).
  private var rangeStart: Int? {
    if let range { return range.lowerBound }
    let span = base.headerFields[.range]?.split(separator: "=").last ?? ""
    return span.hasSuffix("-") ? JSONValue.string(String(span.dropLast())).count : nil
  }
}

extension PageRequest {
  /// Returns whether the request itself has a page size where the description places it.
  package func hasPageSize(of pagination: Pagination) -> Bool {
    pagination.size?.send.flatMap { RequestEditor(self).pageSize(at: $0) } != nil
  }
}

// MARK: - The first request

extension RequestEditor {
  /// Adds the constants that the request does not set itself, or all of them if `replacing`.
  mutating func addConstants(
    _ constants: Pagination.RequestConstants, replacing: Bool = false
  ) throws(PageError) {
    for (name, value) in constants.query.sorted(by: { $0.key < $1.key })
    where replacing || query[name] == nil {
      query.set(name, encoded: PercentEncoding.encode(value))
    }
    for (name, value) in constants.header.sorted(by: { $0.key < $1.key }) {
      let field = try Self.field(name)
      if replacing || base.headerFields[field] == nil { base.headerFields[field] = value }
    }
    for (path, value) in constants.body.sorted(by: { $0.key.text < $1.key.text })
    where replacing || self.value(at: .jsonBody(path)) == nil {
      try setBody(value, at: path)
    }
  }

  /// Sets the page size. A range begins at `first` if the request has none.
  mutating func setPageSize(
    _ count: Int, by size: Pagination.PageSize, rangeStart first: Int = 0
  ) throws(PageError) {
    let text = size.format.split(separator: "{n}", omittingEmptySubsequences: false)
      .joined(separator: String(count))
    guard let place = size.send else { return }
    switch place {
    case .jsonBody: try set(.number(String(count)), at: place, pageSize: nil)
    case .itemRange: try setRange(from: rangeStart ?? first, pageSize: count)
    case .query, .header, .form, .xmlBody, .placeholder:
      try set(.string(text), at: place, pageSize: nil)
    case .url, .request, .path, .queryMerge, .bodyMerge, .firstOf:
      throw PageError(
        .invalidArgument, "A page size goes into the query, a header field, the body or a range.")
    }
  }

  /// Sends the first value if the request does not say where it begins.
  mutating func setFirstValue(for route: Pagination.Route, value: JSONValue?, pageSize: Int?)
    throws(PageError)
  {
    let count = route.next.firstCount.map { JSONValue.number(String($0)) }
    switch route.send {
    case .itemRange:
      guard range == nil, pageSize != nil else { return }
      try setRange(from: rangeStart ?? route.next.firstCount ?? 0, pageSize: pageSize)
    case .path, .placeholder:
      guard let start = value ?? count else { return }
      try set(try route.value(of: start, pageSize: pageSize), at: route.send, pageSize: pageSize)
    case .query, .header, .jsonBody, .form, .xmlBody:
      // A template applies to the first number, too.
      let needsFirst = !route.next.transforms.isEmpty
      guard let start = value ?? (needsFirst ? count : nil), self.value(at: route.send) == nil
      else { return }
      try set(try route.value(of: start, pageSize: pageSize), at: route.send, pageSize: pageSize)
    case .url, .request, .queryMerge, .bodyMerge, .firstOf: break
    }
  }
}

// MARK: - The following requests

extension RequestEditor {
  /// Removes the parameters and body members that later requests do not repeat.
  mutating func keep(_ rule: Pagination.KeepRule) {
    query.keep(where: rule.keeps)
    switch base.body {
    case .json(.object(let members)):
      base.body = .json(.object(members.filter { rule.keeps($0.name) }))
    case .form: form.keep(where: rule.keeps)
    case .none, .json, .xml, .bytes: break
    }
  }

  /// Removes parameters from the query.
  mutating func drop(_ names: some Sequence<String>) {
    let names = Set(names)
    query.keep { !names.contains($0) }
  }

  /// Changes the URL, within its origin, and replaces parameters, fields and body members.
  mutating func change(_ change: Pagination.RequestChange) throws(PageError) {
    if let text = change.url {
      let here = try url.get()
      var target: URLReference
      do { target = try URLReference(text).resolved(against: here) } catch {
        throw PageError(
          .invalidArgument, "The address \"\(text)\" cannot be used: \(error.message)")
      }
      guard target.scheme == here.scheme, target.authority == here.authority else {
        throw PageError(
          .invalidArgument,
          "The address \"\(text)\" leads away from the listing's own origin. Write a path.")
      }
      for (name, value) in QueryString(try URLReference(text).query).pairs {
        query.set(name, encoded: value)
      }
      target.query = nil
      url = .success(target)
    }
    try addConstants(change.set, replacing: true)
  }

  /// Changes the URL to a link that the policy allows.
  mutating func follow(
    _ link: JSONValue, policy: LinkPolicy, home: Origin
  ) throws(PageError) {
    let reference = try URLReference(link.plainText)
    let target = try policy.target(of: reference, home: home)
    query = QueryString(target.query)
    url = .success(target)
  }

  /// Removes the body and its Content-Type.
  mutating func dropBody() {
    base.body = .none
    base.headerFields[.contentType] = nil
  }

  /// Turns the request into a GET without a body.
  mutating func becomeGet() {
    base.method = .get
    dropBody()
  }

  /// Sets a value at a placement.
  mutating func set(
    _ value: JSONValue, at placement: Pagination.Placement, pageSize: Int?
  ) throws(PageError) {
    switch placement {
    case .query(let name, let encoding):
      query.set(name, encoded: encoding.encode(value.plainText))
    case .header(let name): base.headerFields[try Self.field(name)] = value.plainText
    case .jsonBody(let path): try setBody(value, at: path)
    case .form(let name): try setForm(value.plainText, for: name)
    case .xmlBody(let path): try setXML(value.plainText, at: path)
    case .path(let text, let encoding):
      var reference = try url.get()
      reference.path = reference.path.replacing(text, by: encoding.encode(value.plainText))
      url = .success(reference)
    case .placeholder(let text, let encoding):
      fill(text, with: value.plainText, encoding: encoding)
    case .queryMerge: merge(value)
    case .bodyMerge: try mergeBody(value)
    case .itemRange: try setRange(from: value.integer ?? 0, pageSize: pageSize)
    case .firstOf: try set(value, at: placement.fitted(to: base), pageSize: pageSize)
    case .url, .request: break
    }
  }

  /// Removes the value at a placement, if that is a parameter, a header field or a member.
  mutating func remove(_ placement: Pagination.Placement) {
    switch placement {
    case .query(let name, _): query.keep { $0 != name }
    case .header(let name): if let field = HTTPField.Name(name) { base.headerFields[field] = nil }
    case .jsonBody(let path):
      if case .json(let body) = base.body { base.body = .json(body.removing(path)) }
    case .form(let name): if case .form = base.body { form.keep { $0 != name } }
    default: break
    }
  }

  private mutating func merge(_ value: JSONValue) {
    if case .object(let members) = value {
      for member in members {
        query.set(member.name, encoded: PercentEncoding.encode(member.value.plainText))
      }
      return
    }
    let text = value.plainText
    let raw = text.firstIndex(of: "?").map { text[text.index(after: $0)...] } ?? text[...]
    for (name, encoded) in QueryString(String(raw)).pairs { query.set(name, encoded: encoded) }
  }

  private mutating func setRange(from offset: Int, pageSize: Int?) throws(PageError) {
    guard let pageSize else {
      throw PageError(
        .invalidArgument, "A range of items needs a page size: give the walk one.")
    }
    // The unit is the caller's: `items=0-9`.
    let own = base.headerFields[.range] ?? ""
    let unit = own.firstIndex(of: "=").map { own[...$0] } ?? ""
    base.headerFields[.range] = "\(unit)\(offset)-\(offset.plus(pageSize - 1))"
  }

  /// Returns a header field's name; throws `invalidArgument` for a text that is none.
  static func field(_ name: String) throws(PageError) -> HTTPField.Name {
    guard let field = HTTPField.Name(name) else {
      throw PageError(.invalidArgument, "\"\(name)\" is not the name of a header field.")
    }
    return field
  }
}

/// Values in bodies of every kind, and placeholders anywhere.
extension RequestEditor {
  /// The parameters of a form body.
  package internal(set) var form: QueryString {
    get { if case .form(let text) = base.body { QueryString(text) } else { QueryString(nil) } }
    set { base.body = .form(newValue.raw ?? "") }
  }

  /// Returns the value at a path in an XML body; nil if it is missing or blank.
  func xmlValue(at path: PagePath) -> String? {
    guard case .xml(let text) = base.body else { return nil }
    let value = try? XMLTemplate(text).value(at: path)
    return value.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
  }

  package mutating func setBody(_ value: JSONValue, at path: PagePath) throws(PageError) {
    switch base.body {
    case .none: base.body = .json(try JSONValue.object([]).setting(value, at: path))
    case .json(let body): base.body = .json(try body.setting(value, at: path))
    case .form, .xml, .bytes: throw foreignBody("at \"\(path)\"", "JSON")
    }
  }

  mutating func setForm(_ value: String, for name: String) throws(PageError) {
    switch base.body {
    case .none, .form: break
    case .json, .xml, .bytes: throw foreignBody("as \"\(name)\"", "a form")
    }
    form.set(name, encoded: PercentEncoding.encode(value))
  }

  mutating func setXML(_ value: String, at path: PagePath) throws(PageError) {
    guard case .xml(let text) = base.body else { throw foreignBody("at \"\(path)\"", "XML") }
    base.body = .xml(try XMLTemplate(text).setting(value, at: path))
  }

  /// Sets members whose names are pointers into the body.
  mutating func mergeBody(_ value: JSONValue) throws(PageError) {
    guard case .object(let members) = value else { return }
    guard members.count <= Self.mostMerged else {
      throw PageError(
        .invalidCursor,
        "The cursor has \(members.count) members, and at most \(Self.mostMerged) go into a body.")
    }
    for member in members {
      let path: PagePath
      do { path = try PagePath(member.name) } catch {
        throw PageError(
          .invalidArgument,
          "\"\(ServerText(member.name))\" is no pointer into the request body; it looks like \"/cursor\"."
        )
      }
      try setBody(member.value, at: path)
    }
  }

  /// The most members that are set in a body. They may be a server's, and each takes a pass over it.
  private static let mostMerged = 1_000

  private func foreignBody(_ place: String, _ kind: String) -> PageError {
    PageError(
      .invalidArgument,
      "The description puts a value into the body \(place), and the body is not \(kind).")
  }

  // MARK: Placeholders

  /// Returns whether the text occurs in the URL, plain or encoded, or in the body.
  package func has(placeholder text: String) -> Bool {
    var filled = self
    filled.fill(text, with: "", encoding: .strict)
    return filled.query != query || filled.base.body != base.body
      || (try? filled.url.get()) != (try? url.get())
  }

  /// Replaces the text wherever it occurs in the URL and the body.
  package mutating func fill(
    _ text: String, with value: String, encoding: Pagination.ValueEncoding
  ) {
    for spelling in Self.spellings(of: text) {
      let encoded = encoding.encode(value)
      url = url.map { reference in
        var filled = reference
        filled.path = reference.path.replacing(spelling, by: encoded)
        return filled
      }
      query = QueryString(query.raw?.replacing(spelling, by: encoded))
    }
    switch base.body {
    case .none: break
    case .json(let body):
      base.body = .json(
        body.mapped { part in
          part.string.map { JSONValue.string($0.replacing(text, by: value)) } ?? part
        })
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

  /// Returns a placeholder as people write it into a URL, and as programs encode it.
  private static func spellings(of text: String) -> [String] {
    let encoded = PercentEncoding.encode(text)
    return encoded == text ? [text] : [text, encoded]
  }
}
