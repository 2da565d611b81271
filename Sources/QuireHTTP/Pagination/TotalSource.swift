public import QuireCore

/// Where the server says how much there is, and what kind of promise that is.
///
/// A number that is no number (`*`, `"unknown"`, null) or negative is no total. Encodes as its
/// source where everything else is the default, else as `{"source": …, "kind": "pages", "scope":
/// "firstPage"}`.
public struct TotalSource: Hashable, Sendable {
  /// Which pages say it.
  public enum Scope: String, Hashable, Codable, Sendable {
    /// All of them. The default.
    case everyPage
    /// Only the first: the walk remembers it, and does not ask the others.
    case firstPage
  }

  /// Where the number is.
  public var source: ValueSource
  /// What it counts, and how far to trust it.
  public var kind: Total.Kind
  /// Which pages say it.
  public var scope: Scope

  /// A total read from `source`. Default: exactly this many items, said by every page.
  public init(
    _ source: ValueSource, _ kind: Total.Kind = .items, scope: Scope = .everyPage
  ) {
    self.source = source
    self.kind = kind
    self.scope = scope
  }
}

extension TotalSource: ExpressibleByStringLiteral {
  /// A number of items at a path of the page known to be right. Traps on a malformed one.
  public init(stringLiteral value: String) { self.init(ValueSource(stringLiteral: value)) }
}

extension TotalSource: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    let names = ["source", "kind", "scope"]
    if let object = try? DescriptionObject(decoder, "A total", names: names), object.has("source") {
      let kind = try object.optional("kind", as: String.self)
      guard let known = Total.Kind(rawValue: kind ?? "items") else {
        throw DescriptionObject.error(
          decoder.codingPath,
          "\"\(kind ?? "")\" is no kind of total; expected \"items\", \"estimate\", "
            + "\"lowerBound\", \"remaining\" or \"pages\".")
      }
      let scope = try object.optional("scope", as: String.self)
      guard let knownScope = Scope(rawValue: scope ?? "everyPage") else {
        throw DescriptionObject.error(
          decoder.codingPath,
          "A total's \"scope\" is \"everyPage\" or \"firstPage\", not \"\(scope ?? "")\".")
      }
      self.init(try object("source"), known, scope: knownScope)
    } else {
      self.init(try ValueSource(from: decoder))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    if self == TotalSource(source) { return try source.encode(to: encoder) }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(source, forKey: "source")
    if kind != .items { try fields.encode(kind, forKey: "kind") }
    if scope != .everyPage { try fields.encode(scope, forKey: "scope") }
  }
}
