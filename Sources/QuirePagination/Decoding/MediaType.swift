/// The media type of a Content-Type field, without its parameters and in lower case.
///
/// Source: RFC 9110, section 8.3.1.
package struct MediaType {
  /// `application/json`; empty where the field is missing.
  package let name: String
  private let parameters: [Substring]

  package init(_ contentType: String?) {
    let parts = (contentType ?? "").split(separator: ";", omittingEmptySubsequences: false)
    name = (parts.first ?? "").filter { $0 != " " }.lowercased()
    parameters = Array(parts.dropFirst())
  }

  /// The format that the type names (RFC 8259, section 11; RFC 7303, section 9; RFC 4180,
  /// section 3; the names in use for JSON Lines, which has none of its own); nil for any other.
  package var format: PageFormat? {
    if name.hasSuffix("/json") || name.hasSuffix("+json") { return .json }
    if name.hasSuffix("/xml") || name.hasSuffix("+xml") { return .xml }
    switch name {
    case "text/csv", "application/csv", "text/tab-separated-values": return .csv
    case "application/x-ndjson", "application/ndjson", "application/jsonl",
      "application/x-jsonlines",
      "application/jsonlines", "application/json-lines", "application/json-seq":
      return .jsonLines
    default: return nil
    }
  }

  /// The format that a Content-Type names, told at once where it is the one that most pages have.
  package static func format(of contentType: String?) -> PageFormat? {
    let usual = "application/json".utf8
    if let type = contentType?.utf8, type.starts(with: usual) {
      let rest = type.dropFirst(usual.count).first
      if rest == nil || rest == UInt8(ascii: ";") { return .json }
    }
    return MediaType(contentType).format
  }

  /// The `charset` parameter, without quotes (RFC 9110, section 8.3.2); nil for none.
  package var charset: String? { parameter("charset") }

  /// The value of a parameter, without quotes; nil for none.
  package func parameter(_ name: String) -> String? {
    for parameter in parameters {
      let sides = parameter.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, sides[0].filter({ $0 != " " }).lowercased() == name else {
        continue
      }
      let value = sides[1].filter { !" \"'".contains($0) }
      return value.isEmpty ? nil : value
    }
    return nil
  }
}
