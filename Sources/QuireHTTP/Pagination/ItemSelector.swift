/// Where a page keeps its items.
///
/// Encodes as a path, `{"firstOf": [paths]}` or `{"all": [paths]}`.
public enum ItemSelector: Hashable, Sendable {
  /// The array at one path.
  case path(PagePath)
  /// The array at the first of these paths that has something.
  case firstOf([PagePath])
  /// The arrays at all of these paths, one after the other; absent ones are empty, but not all of
  /// them.
  case all([PagePath])

  /// The page is the array.
  public static let root = ItemSelector.path("")
}

extension ItemSelector: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self = .path(PagePath(stringLiteral: value)) }
}

extension ItemSelector: Codable {
  private enum CodingKeys: String, CodingKey { case firstOf, all }

  public init(from decoder: any Decoder) throws {
    if let keyed = try? decoder.container(keyedBy: CodingKeys.self) {
      if let paths = try keyed.decodeIfPresent([PagePath].self, forKey: .firstOf) {
        self = .firstOf(paths)
      } else {
        self = .all(try keyed.decode([PagePath].self, forKey: .all))
      }
    } else {
      self = .path(try PagePath(from: decoder))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .path(let path):
      try path.encode(to: encoder)
    case .firstOf(let paths):
      var keyed = encoder.container(keyedBy: CodingKeys.self)
      try keyed.encode(paths, forKey: .firstOf)
    case .all(let paths):
      var keyed = encoder.container(keyedBy: CodingKeys.self)
      try keyed.encode(paths, forKey: .all)
    }
  }
}
