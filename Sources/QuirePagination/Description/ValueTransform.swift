import QuireCore

extension Pagination {
  /// How a continuation is changed on its way from where it was found to where it goes.
  public enum ValueTransform: Hashable, Sendable {
    /// One query parameter out of a link, decoded.
    case queryItem(String)
    /// `%XX` decoded, and `+` as a space: for values that came form-encoded. With a condition, only
    /// where the answer is so: where it says that it is encoded. By default always.
    case formDecoded(when: Condition?)
    /// A whole number plus this one. Anything else is `invalidCursor`.
    case adding(Int)
    /// A text around the value: `{}` stands for it, or `{name}` for a member where it is an object or
    /// comes from `Pagination.Next.all`; `{size}` for the page size and `{to}` for the number of a
    /// counter's last item. Everything else stays as it is.
    case template(String)
    /// A text that holds JSON, read: a number in a header field becomes a number in a body.
    case json
    /// The value as JSON text: a text in quotes, an object on one line.
    case jsonText

    /// A value that comes form-encoded always.
    public static let formDecoded = ValueTransform.formDecoded(when: nil)

    /// Whether the transform needs to know the page size.
    var needsPageSize: Bool {
      guard case .template(let text) = self else { return false }
      return text.contains("{size}") || text.contains("{to}")
    }

    /// Whether the transform makes sense of a number that a walk counts.
    var fitsCounters: Bool {
      switch self {
      case .adding, .template, .jsonText: true
      case .queryItem, .formDecoded, .json: false
      }
    }

    /// `value` changed; nil when nothing is left of it.
    ///
    /// Throws `invalidCursor` for a value that cannot be changed so.
    func apply(to value: JSONValue, pageSize: Int?) throws(PageError) -> JSONValue? {
      switch self {
      case .queryItem(let name): return value.link.flatMap { PageAnswer.queryItem(name, of: $0) }
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

    /// The number of a counter that was changed to `value`; nil where that does not tell.
    func undo(_ value: JSONValue) -> JSONValue? {
      switch self {
      case .adding(let number):
        guard let sum = value.integer else { return nil }
        let (count, overflow) = sum.subtractingReportingOverflow(number)
        return overflow ? nil : .number(String(count))
      case .template(let text):
        guard text.contains("{}") else { return nil }
        if let number = Self.number(in: value.plainText, by: text) { return .number(number) }
        // The caller's own number, with no text around it.
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

    /// The digits that stand for `{}` in a text that was made by a template; nil in any other.
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
