import QuireCore

extension DescriptionTrait {
  /// The keys of the signs that it accounts for.
  var names: Set<String> {
    switch probe {
    case .value(let source): source.signKeys
    case .link(let relation, _): relation == "next" ? ["link:next"] : []
    case .items, .sent, .constant: []
    }
  }

  /// Where it is looked for, in words.
  var place: String {
    switch probe {
    case .items(let items): items.paths.map(\.place).joined(separator: " or ")
    case .value(let source): source.place
    case .link(let relation, _): "the link with rel=\"\(relation)\" in the header"
    case .sent(let placement), .constant(let placement, _): placement.place
    }
  }

  /// What its being there says, in words; nil where it says too little. Values are not quoted, but for
  /// numbers and flags: they may be secrets.
  func words(for value: JSONValue?, count: Int) -> String? {
    switch role {
    case .items:
      let items = count.counted("item")
      let isRoot = probe == .items(.root)
      return isRoot ? "the page is a list of \(items)" : "\(place) has \(items)"
    case .next: return "\(place) leads on: \(Self.kind(of: value))"
    case .flag: return "\(place) is \(value?.boolean == true ? "true" : "false")"
    case .total: return value?.count.map { "\(place) says \($0)" }
    case .pages: return value?.count.map { "\(place) says \($0) pages" }
    case .echo, .mark: return "\(place) is there"
    case .parameter, .constant, .size: return "the request has \(place)"
    }
  }

  private static func kind(of value: JSONValue?) -> String {
    switch value {
    case .string(let text)?:
      DetectorSign.isLink(text) ? "a link" : "a text of \(text.utf8.count) bytes"
    case .number?: "a number"
    case .array?: "a list"
    case .object?: "an object"
    case .bool?, .null?, nil: "a value"
    }
  }
}

extension ValueSource {
  /// The keys of the signs in an answer that the source reads.
  fileprivate var signKeys: Set<String> {
    switch self {
    case .header(let name): ["field:" + PaginationVocabulary.normal(name)]
    case .linkParameter(_, let relation), .linkQueryItem(_, let relation):
      relation == "next" ? ["link:next"] : []
    case .firstOf(let sources): sources.reduce(into: []) { $0.formUnion($1.signKeys) }
    case .body, .lastItem, .count, .contentRangeTotal: Set(names)
    }
  }

  /// Where it is, in words.
  fileprivate var place: String {
    switch self {
    case .body(let path): path.place
    case .header(let name): "the header field \(name)"
    case .lastItem(let path): path.text.isEmpty ? "the last item" : "\(path.place) of the last item"
    case .count(let path): "the length of \(path.place)"
    case .linkParameter(let name, let rel): "\"\(name)\" of the link with rel=\"\(rel)\""
    case .linkQueryItem(let name, let rel): "\"\(name)\" in the link with rel=\"\(rel)\""
    case .contentRangeTotal: "Content-Range"
    case .firstOf(let sources): sources.map(\.place).joined(separator: " or ")
    }
  }
}

extension Placement {
  /// What it is called in a request, in words.
  var place: String {
    switch self {
    case .query(let name, _): "the parameter \"\(name)\""
    case .header(let name): "the header field \(name)"
    case .jsonBody(let path): "\"\(path.text)\" in its body"
    case .form(let name): "\"\(name)\" in its form"
    case .xmlBody(let path): "\"\(path.text)\" in its body"
    case .path(let text, _), .placeholder(let text, _): "the placeholder \(text)"
    case .itemRange: "a range of items"
    case .firstOf(let placements): placements.last?.place ?? "a link"
    case .url, .request, .queryMerge, .bodyMerge: "a link"
    }
  }
}
