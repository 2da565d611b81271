/// Where a page keeps its items.
///
/// An explicit null is an empty list everywhere: that is how Go and many others write one. A list
/// that is missing is an error unless the selector is `optional`, and anything that is no list is an
/// error always; a page never ends a walk by being misread. Encodes as a path, `{"firstOf":
/// [paths]}`, `{"all": [paths]}` or `{"optional": selector}`.
public indirect enum ItemSelector: Hashable, Sendable {
  /// The array at one path.
  case path(PagePath)
  /// The array at the first of these paths that has something.
  case firstOf([PagePath])
  /// The arrays at all of these paths, one after the other; absent ones are empty, but not all of
  /// them.
  case all([PagePath])
  /// The same, where the server leaves an empty list out (AIP-158, protocol buffers). Only for
  /// servers that do: a misspelt path looks like an empty page.
  case optional(ItemSelector)

  /// The page is the array.
  public static let root = ItemSelector.path("")

  /// Whether a page without the list is an empty page.
  package var absentMeansEmpty: Bool {
    if case .optional = self { true } else { false }
  }

  /// Whether only the first of `paths` that has something counts.
  package var takesFirst: Bool {
    switch self {
    case .firstOf: true
    case .path, .all: false
    case .optional(let selector): selector.takesFirst
    }
  }

  /// Every path the items may be at, in order.
  package var paths: [PagePath] {
    switch self {
    case .path(let path): [path]
    case .firstOf(let paths), .all(let paths): paths
    case .optional(let selector): selector.paths
    }
  }
}

extension ItemSelector: ExpressibleByStringLiteral {
  /// The array at a path known to be right. Traps on a malformed one.
  public init(stringLiteral value: String) { self = .path(PagePath(stringLiteral: value)) }
}

extension ItemSelector: Codable {
  private enum CodingKeys: String, CodingKey { case firstOf, all, optional }

  /// Reads a path or an object with one of the names above.
  public init(from decoder: any Decoder) throws {
    guard let keyed = try? decoder.container(keyedBy: CodingKeys.self) else {
      self = .path(try PagePath(from: decoder))
      return
    }
    if let paths = try keyed.decodeIfPresent([PagePath].self, forKey: .firstOf) {
      self = .firstOf(paths)
    } else if let selector = try keyed.decodeIfPresent(ItemSelector.self, forKey: .optional) {
      self = .optional(selector)
    } else {
      self = .all(try keyed.decode([PagePath].self, forKey: .all))
    }
  }

  /// Writes a path or an object with one of the names above.
  public func encode(to encoder: any Encoder) throws {
    if case .path(let path) = self { return try path.encode(to: encoder) }
    var keyed = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .path: break
    case .firstOf(let paths): try keyed.encode(paths, forKey: .firstOf)
    case .all(let paths): try keyed.encode(paths, forKey: .all)
    case .optional(let selector): try keyed.encode(selector, forKey: .optional)
    }
  }
}
