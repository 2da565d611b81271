/// How far an offset moves with each page.
///
/// Encodes as `"itemsReturned"`, `"pageSize"` or `{"body": path}`.
public enum OffsetStep: Hashable, Sendable {
  /// By the items the page had. The default, right also where a server gives fewer than was asked for.
  case itemsReturned
  /// By the page size, for servers that filter after they counted.
  case pageSize
  /// By the number at a path of the page.
  case body(PagePath)
}

extension OffsetStep: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    switch DescriptionObject.text(decoder) {
    case "itemsReturned": self = .itemsReturned
    case "pageSize": self = .pageSize
    case let text?:
      throw DescriptionObject.error(
        decoder.codingPath,
        "\"\(text)\" is no step; expected \"itemsReturned\", \"pageSize\" or {\"body\": path}.")
    case nil:
      self = .body(try DescriptionObject(decoder, "A step", names: ["body"])("body"))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .itemsReturned, .pageSize:
      var single = encoder.singleValueContainer()
      try single.encode(self == .pageSize ? "pageSize" : "itemsReturned")
    case .body(let path):
      var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
      try fields.encode(path, forKey: "body")
    }
  }
}
