import QuireCore

extension Pagination {
  /// A transformation of a continuation between its source and its placement.
  public enum ValueTransform: Hashable, Sendable {
    /// A query parameter of a link, decoded.
    case queryItem(String)
    /// Decodes `%XX`, and `+` as a space, for form-encoded values. With a condition, only if the
    /// answer matches it; by default always.
    case formDecoded(when: Condition?)
    /// Adds a number to a whole number. Throws `invalidCursor` for any other value.
    case adding(Int)
    /// A template for the value: `{}` is the value, or `{name}` a member if it is an object or
    /// comes from `Pagination.Next.all`; `{size}` is the page size and `{to}` the number of a
    /// counter's last item. Other text stays as it is.
    case template(String)
    /// Parses a text as JSON, so that a number in a header field becomes a number in a body.
    case json
    /// Writes the value as JSON text: a text in quotes, an object on one line.
    case jsonText

    /// Decodes values that are always form-encoded.
    public static let formDecoded = ValueTransform.formDecoded(when: nil)

    /// Whether the transform needs the page size.
    var needsPageSize: Bool {
      guard case .template(let text) = self else { return false }
      return text.contains("{size}") || text.contains("{to}")
    }

    /// Whether the transform can be applied to a counter.
    var fitsCounters: Bool {
      switch self {
      case .adding, .template, .jsonText: true
      case .queryItem, .formDecoded, .json: false
      }
    }

    /// Returns the transformed value; nil if it is absent, such as a query parameter that a link
    /// lacks.
    ///
    /// Throws `invalidCursor` for a value that cannot be transformed.
    func apply(to value: JSONValue, pageSize: Int?) throws(PageError) -> JSONValue? {
      switch self {
      case .queryItem(let name):
        return value.link.flatMap { PageAnswer.queryItem(name, of: $0.trimmingBlanks) }
      case .formDecoded:
        return .string(PercentEncoding.decode(value.plainText, plusIsSpace: true))
      case .adding(let number): return try Self.sum(value, number)
      case .template(let text): return .string(Self.fill(text, with: value, pageSize: pageSize))
      case .json:
        guard let text = value.string else { return value }
        do {
          return try JSONValue(parsing: text)
        } catch {
          throw PageError(
            .invalidCursor, "The cursor should be JSON and is not: \(error)", underlying: error)
        }
      case .jsonText: return .string(value.description)
      }
    }

    /// Returns the counter that was transformed into `value`; nil if it cannot be recovered.
    func undo(_ value: JSONValue) -> JSONValue? {
      switch self {
      case .adding(let number):
        guard let sum = value.integer else { return nil }
        let (count, overflow) = sum.subtractingReportingOverflow(number)
        return overflow ? nil : .number(String(count))
      case .template(let text):
        guard text.contains("{}") else { return nil }
        if let number = Self.number(in: value.plainText, by: text) { return .number(number) }
        // The caller sent a plain number without the template.
        return value.integer == nil ? nil : value
      case .jsonText: return value
      case .queryItem, .formDecoded, .json: return nil
      }
    }

    private static func sum(_ value: JSONValue, _ number: Int) throws(PageError) -> JSONValue {
      guard let integer = Int128(value.plainText) else {
        throw PageError(
          .invalidCursor,
          "The cursor of \(value.plainText.utf8.count) bytes is no whole number, and the description "
            + "adds \(number) to it.")
      }
      let (sum, overflow) = integer.addingReportingOverflow(Int128(number))
      guard !overflow else {
        throw PageError(.invalidCursor, "The cursor \(integer) is too large to be counted from.")
      }
      let text = String(sum)
      if case .string = value { return .string(text) }
      return .number(text)
    }

    private static func fill(_ template: String, with value: JSONValue, pageSize: Int?) -> String {
      var result = ""
      var rest = template[...]
      while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
        result += rest[..<open]
        let name = String(rest[rest.index(after: open)..<close])
        result += text(named: name, value, pageSize) ?? String(rest[open...close])
        rest = rest[rest.index(after: close)...]
      }
      return result + rest
    }

    /// Returns the digits in place of `{}` in a text made by the template; nil for any other text.
    private static func number(in text: String, by template: String) -> String? {
      var sent = text[...]
      var rest = template[...]
      while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
        let before = rest[..<open]
        guard sent.hasPrefix(before) else { return nil }
        sent = sent.dropFirst(before.count)
        let digits = sent.prefix { "0"..."9" ~= $0 }
        let name = rest[open...close]
        if name == "{}" { return digits.isEmpty ? nil : String(digits) }
        guard name == "{size}" || name == "{to}" else { return nil }
        sent = sent.dropFirst(digits.count)
        rest = rest[rest.index(after: close)...]
      }
      return nil
    }

    private static func text(named name: String, _ value: JSONValue, _ pageSize: Int?) -> String? {
      switch (name, value) {
      case ("", _): value.plainText
      case ("size", _): pageSize.map(String.init)
      case ("to", .number):
        pageSize.flatMap { size in value.integer.map { $0.plus(size - 1) } }
          .map(String.init)
      case (_, .object(let members)):
        members.first { $0.name == name }.map(\.value.plainText)
      default: nil
      }
    }
  }
}
