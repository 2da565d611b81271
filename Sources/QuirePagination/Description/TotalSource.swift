public import QuireCore

extension Pagination {
  /// The source of the total, and how exact the total is.
  ///
  /// A value that is not a number (`*`, `"unknown"`, null) or is negative counts as missing.
  public struct TotalSource: Hashable, Sendable {
    /// The pages that declare the total.
    public enum Scope: String, Hashable, Sendable, CaseIterable {
      /// Every page. The default.
      case everyPage
      /// Only the first page: the walk remembers it.
      case firstPage
    }

    /// The source of the number.
    public var source: ValueSource
    /// What the number counts, and how exact it is.
    public var kind: Total.Kind
    /// The pages that declare the total.
    public var scope: Scope

    /// Creates a total. Default: the exact number of items, declared by every page.
    public init(
      _ source: ValueSource, _ kind: Total.Kind = .items, scope: Scope = .everyPage
    ) {
      self.source = source
      self.kind = kind
      self.scope = scope
    }
  }
}

extension Pagination {
  /// The totals of the end rules.
  package var endTotals: [TotalSource] {
    end.compactMap { rule in
      if case .total(let total) = rule { total } else { nil }
    }
  }

  /// All totals, those of the end rules first.
  package var totals: [TotalSource] {
    let inEnd = endTotals
    guard let total, !inEnd.contains(total) else { return inEnd }
    return inEnd + [total]
  }
}

extension Pagination.TotalSource: ExpressibleByStringLiteral {
  /// Creates a total of items at a path of the page. Traps on a malformed path.
  public init(stringLiteral value: String) {
    self.init(Pagination.ValueSource(stringLiteral: value))
  }
}

extension Pagination.TotalSource: Block {
  package static let name = "total"

  package static let grammar = Form<Pagination.TotalSource>.oneOf(
    "A total",
    [
      .bare(
        onlyText: false, { Pagination.TotalSource($0) },
        { $0 == Pagination.TotalSource($0.source) ? $0.source : nil },
        "exactly this many items"),
      .keys(
        Pagination.TotalSource(""),
        [
          .required("source", \.source), .optional("kind", \.kind, example: "\"pages\""),
          .optional("scope", \.scope, example: "\"firstPage\""),
        ], { $0 }, { $0 },
        "the `Total.Kind` is `\"items\"`, `\"estimate\"`, `\"lowerBound\"`, `\"remaining\"` or `\"pages\"`; "
          + "`Pagination.TotalSource.Scope` is `\"everyPage\"` or `\"firstPage\"`"),
    ])
}

extension Pagination.TotalSource.Scope: FormWord {}
extension Total.Kind: FormWord {}

/// The value that an answer has in place of a total.
enum DeclaredTotal: Hashable {
  /// No value, or a word or negative number that means an unknown total.
  case none
  /// A whole number in any notation; a lower bound if the server says so.
  case number(Int, isLowerBound: Bool)
  /// Another value, in words that do not quote it.
  case other(String)

  init(_ value: JSONValue?) {
    switch value {
    case nil, .null: self = .none
    case .bool: self = .other("true or false")
    case .array: self = .other("a list")
    case .number(let text): self = Self.read(text, isText: false)
    case .string(let text):
      self = Self.isUnknown(text) ? .none : Self.read(text, isText: true)
    case .object: self = Self.object(value)
    }
  }

  /// Reads a total as Elasticsearch and OpenSearch write it: `{"value": 10000, "relation": "gte"}`.
  private static func object(_ value: JSONValue?) -> DeclaredTotal {
    let isLowerBound: Bool
    switch value?["relation"] {
    case nil, .null, "eq": isLowerBound = false
    case "gte": isLowerBound = true
    default: return .other("an object")
    }
    switch value?["value"] {
    case .some(let inner) where inner["value"] == nil:
      guard case .number(let number, _) = DeclaredTotal(inner) else { return DeclaredTotal(inner) }
      return .number(number, isLowerBound: isLowerBound)
    default: return .other("an object")
    }
  }

  private static func read(_ text: String, isText: Bool) -> DeclaredTotal {
    guard let number = WholeNumber.read(text, isText: isText) else {
      return .other(isText ? "a text" : "a number that is not whole")
    }
    return number >= 0 ? .number(number, isLowerBound: false) : .none
  }

  /// Whether the text means an unknown number: `*` in Content-Range (RFC 9110, §14.4), or a word.
  private static func isUnknown(_ text: String) -> Bool {
    let words: Set = ["", "*", "?", "-", "unknown", "null", "none", "n/a", "nan"]
    return words.contains(text.trimmingBlanks.lowercased())
  }
}
