/// The media type of a Content-Type field, with its parameters.
///
/// Source: RFC 9110, section 8.3.1.
package struct MediaType {
  /// The type in lower case, such as `application/json`; empty if the field is missing.
  package let name: String
  private let parameters: [Substring]

  package init(_ contentType: String?) {
    let parts = (contentType ?? "").split(separator: ";", omittingEmptySubsequences: false)
    name = (parts.first ?? "").filter { $0 != " " }.lowercased()
    parameters = Array(parts.dropFirst())
  }

  /// The format that the type names; nil for any other type.
  ///
  /// Sources: RFC 8259, section 11; RFC 7303, section 9; RFC 4180, section 3; RFC 8091, section 2.
  /// JSON Lines has no registered type, so the names in use are accepted.
  package var format: PageFormat? {
    if name.hasSuffix("/json") || name.hasSuffix("+json") { return .json }
    if name.hasSuffix("/xml") || name.hasSuffix("+xml") { return .xml }
    if name.hasSuffix("/json-seq") || name.hasSuffix("+json-seq") { return .jsonLines }
    switch name {
    case "text/csv", "application/csv", "text/tab-separated-values": return .csv
    case "application/x-ndjson", "application/ndjson", "application/jsonl",
      "application/x-jsonlines",
      "application/jsonlines", "application/json-lines":
      return .jsonLines
    default: return nil
    }
  }

  /// Returns the format that a Content-Type names, on a fast path for the usual `application/json`.
  package static func format(of contentType: String?) -> PageFormat? {
    let usual = "application/json".utf8
    if let type = contentType?.utf8, type.starts(with: usual) {
      let rest = type.dropFirst(usual.count).first
      if rest == nil || rest == UInt8(ascii: ";") { return .json }
    }
    return MediaType(contentType).format
  }

  /// Whether the type is that of HTML. Servers send other things as HTML too.
  package var isHTML: Bool { name == "text/html" || name == "application/xhtml+xml" }

  /// Whether a page that begins with a tag is HTML, by its first KiB. Later tags do not count: a
  /// cell or a text may hold some.
  package static func startsAsHTML(_ page: some Collection<UInt8>) -> Bool {
    let start = String(decoding: page.prefix(1024), as: UTF8.self).lowercased()
    return start.contains("<html") || start.contains("<!doctype html")
  }

  /// The `charset` parameter, without quotes (RFC 9110, section 8.3.2); nil for none.
  package var charset: String? { parameter("charset") }

  /// Returns a parameter's value, without quotes; nil if missing or empty. `name` is in lower case.
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

extension PageFormat {
  /// Returns the value of an Accept field (RFC 9110, section 12.5.1) for pages in one of the
  /// formats, the first preferred; for pages in any format if there are none. Other types are
  /// accepted too, because servers call their pages many things.
  package static func accept(_ formats: [PageFormat]) -> String {
    guard let first = formats.first else {
      return "application/json, application/xml;q=0.9, */*;q=0.5"
    }
    let others = formats.dropFirst().flatMap(\.mediaTypes).map { $0 + ";q=0.9" }
    return (first.mediaTypes + others + ["*/*;q=0.5"]).joined(separator: ", ")
  }

  /// The types that pages of the format have, the usual one first.
  private var mediaTypes: [String] {
    switch self {
    case .json: ["application/json"]
    case .xml: ["application/xml", "text/xml", "application/atom+xml"]
    case .csv: ["text/csv"]
    case .jsonLines: ["application/x-ndjson", "application/jsonl"]
    }
  }
}
