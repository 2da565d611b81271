public import QuireCore

/// Where the server says how much there is, and what kind of promise that is.
///
/// A number that is no number (`*`, `"unknown"`, null) or negative is no total. Encodes as its
/// source where the kind is `items`, else as `{"source": …, "kind": "pages"}`.
public struct TotalSource: Hashable, Sendable {
  /// Where the number is.
  public var source: ValueSource
  /// What it counts, and how far to trust it.
  public var kind: Total.Kind

  /// A total read from `source`. Default kind: exactly this many items.
  public init(_ source: ValueSource, _ kind: Total.Kind = .items) {
    self.source = source
    self.kind = kind
  }
}

extension TotalSource: ExpressibleByStringLiteral {
  /// A number of items at a path of the page known to be right. Traps on a malformed one.
  public init(stringLiteral value: String) { self.init(ValueSource(stringLiteral: value)) }
}

extension TotalSource: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    let names = ["source", "kind"]
    if let object = try? DescriptionObject(decoder, "A total", names: names), object.has("source") {
      let kind = try object.optional("kind", as: String.self)
      guard let known = Total.Kind(rawValue: kind ?? "items") else {
        throw DescriptionObject.error(
          decoder.codingPath,
          "\"\(kind ?? "")\" is no kind of total; expected \"items\", \"estimate\", "
            + "\"lowerBound\", \"remaining\" or \"pages\".")
      }
      self.init(try object("source"), known)
    } else {
      self.init(try ValueSource(from: decoder))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    if kind == .items { return try source.encode(to: encoder) }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(source, forKey: "source")
    try fields.encode(kind, forKey: "kind")
  }
}
