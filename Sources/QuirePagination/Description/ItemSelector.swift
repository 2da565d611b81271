/// Where a page keeps its items.
///
/// A list that is missing, or null, is an error unless the selector is `optional`, and anything that
/// is no list is an error always; a page never ends a walk by being misread. Where a path of JSON has
/// the step `*`, the items are all that is found there, lists among them taken apart and null left
/// out: `/groups/*/members`.
///
/// Encodes as a path, `{"firstOf": [paths]}`, `{"all": [paths]}`, or one of `{"optional":
/// selector}`, `{"oneOrMany": selector}`, `{"members": selector}`, `{"columns": selector}` and
/// `{"unspecified": selector, "below": path}`.
public indirect enum ItemSelector: Hashable, Sendable {
  /// The array at one path.
  case path(PagePath)
  /// The array at the first of these paths that has something.
  case firstOf([PagePath])
  /// The arrays at all of these paths, one after the other; absent ones are empty, but not all of
  /// them.
  case all([PagePath])
  /// The same, where the server leaves an empty list out (AIP-158, protocol buffers) or writes null for
  /// it (Go). Only for servers that do: a misspelt path looks like an empty page.
  case optional(ItemSelector)
  /// The same, where a list of one item is written as that item alone, as JSON-LD does and whatever
  /// makes JSON of XML: a value that is no list is one item. In XML, one element is a list anyway.
  case oneOrMany(ItemSelector)
  /// The members of an object instead of the elements of an array, each as `{"name": …, "value":
  /// …}`, in the order of the page. JSON only.
  case members(ItemSelector)
  /// The rows of a table that is written by columns, an object of lists of one length: each row as
  /// an object. JSON only.
  case columns(ItemSelector)
  /// The items of an example, where only the caller knows the path: `Pagination.items(at:)` says it, and
  /// a walk without it throws `invalidArgument`; the root needs no saying. Where other paths of the
  /// description begin with the same container, `below` is its path, and `items(at:)` moves them all.
  case unspecified(ItemSelector, below: PagePath? = nil)

  /// The page is the array.
  public static let root = ItemSelector.path("")

  /// How items stand in a page of JSON.
  package enum Arrangement: Hashable, Sendable { case lists, matches, members, columns }

  /// How the items stand in a page of JSON.
  package var arrangement: Arrangement {
    switch self {
    case .path, .firstOf, .all: paths.contains { $0.steps.contains(.each) } ? .matches : .lists
    case .optional(let selector), .oneOrMany(let selector), .unspecified(let selector, _):
      selector.arrangement
    case .members: .members
    case .columns: .columns
    }
  }

  /// Whether a page without the list is an empty page.
  package var absentMeansEmpty: Bool {
    switch self {
    case .path, .firstOf, .all: false
    case .optional: true
    case .oneOrMany(let selector), .members(let selector), .columns(let selector),
      .unspecified(let selector, _):
      selector.absentMeansEmpty
    }
  }

  /// Whether a value that is no list is a list of one.
  package var admitsOne: Bool {
    switch self {
    case .path, .firstOf, .all, .members, .columns: false
    case .optional(let selector), .unspecified(let selector, _): selector.admitsOne
    case .oneOrMany: true
    }
  }

  /// Whether only the first of `paths` that has something counts.
  package var takesFirst: Bool {
    switch self {
    case .firstOf: true
    case .path, .all: false
    case .optional(let selector), .oneOrMany(let selector), .members(let selector),
      .columns(let selector), .unspecified(let selector, _):
      selector.takesFirst
    }
  }

  /// Every path the items may be at, in order.
  package var paths: [PagePath] {
    switch self {
    case .path(let path): [path]
    case .firstOf(let paths), .all(let paths): paths
    case .optional(let selector), .oneOrMany(let selector), .members(let selector),
      .columns(let selector), .unspecified(let selector, _):
      selector.paths
    }
  }

  /// Items of the same kind in other lists.
  func moved(to lists: ItemSelector) -> ItemSelector {
    switch self {
    case .path, .firstOf, .all: lists
    case .optional(let selector): .optional(selector.moved(to: lists))
    case .oneOrMany(let selector): .oneOrMany(selector.moved(to: lists))
    case .members(let selector): .members(selector.moved(to: lists))
    case .columns(let selector): .columns(selector.moved(to: lists))
    case .unspecified(let selector, _): selector.moved(to: lists)
    }
  }

  /// The path that `Pagination.items(at:)` replaces; nil where the items are specified.
  package var unspecifiedPath: PagePath? {
    guard case .unspecified(let selector, let container) = self else { return nil }
    return container ?? selector.paths.first
  }

  /// The same, where only the caller can say the path: the root needs no saying.
  package var missingPath: PagePath? { unspecifiedPath.flatMap { $0.text.isEmpty ? nil : $0 } }
}

extension ItemSelector: ExpressibleByStringLiteral {
  /// The array at a path known to be right. Traps on a malformed one.
  public init(stringLiteral value: String) { self = .path(PagePath(stringLiteral: value)) }
}

extension ItemSelector: Codable {
  private static let kinds = [
    "firstOf", "all", "optional", "oneOrMany", "members", "columns", "unspecified",
  ]

  /// Reads a path or an object with one of the names above.
  public init(from decoder: any Decoder) throws {
    if DescriptionObject.text(decoder) != nil {
      self = .path(try PagePath(from: decoder))
      return
    }
    let (kind, object) = try DescriptionObject.oneOf(
      decoder, "An item selector that is no path", kinds: Self.kinds, options: ["below"])
    if kind != "unspecified", object.has("below") {
      throw object.error("Only \"unspecified\" goes with \"below\".")
    }
    switch kind {
    case "firstOf": self = .firstOf(try object(kind))
    case "all": self = .all(try object(kind))
    case "optional": self = .optional(try object(kind))
    case "oneOrMany": self = .oneOrMany(try object(kind))
    case "members": self = .members(try object(kind))
    case "columns": self = .columns(try object(kind))
    default: self = .unspecified(try object(kind), below: try object.optional("below"))
    }
  }

  /// Writes a path or an object with one of the names above.
  public func encode(to encoder: any Encoder) throws {
    if case .path(let path) = self { return try path.encode(to: encoder) }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    switch self {
    case .path: break
    case .firstOf(let paths): try fields.encode(paths, forKey: "firstOf")
    case .all(let paths): try fields.encode(paths, forKey: "all")
    case .optional(let selector): try fields.encode(selector, forKey: "optional")
    case .oneOrMany(let selector): try fields.encode(selector, forKey: "oneOrMany")
    case .members(let selector): try fields.encode(selector, forKey: "members")
    case .columns(let selector): try fields.encode(selector, forKey: "columns")
    case .unspecified(let selector, let container):
      try fields.encode(selector, forKey: "unspecified")
      try fields.encodeIfPresent(container, forKey: "below")
    }
  }
}

/// Which query parameters and members of the body the next requests repeat.
///
/// Encodes as `"all"`, `"none"`, `{"only": [names]}` or `{"except": [names]}`.
public enum KeepRule: Hashable, Sendable {
  /// All of them. The default, and right for most cursors.
  case all
  /// Only these: for cursors that exclude other parameters.
  case only([String])
  /// All but these.
  case except([String])
  /// None.
  case none

  /// Whether the parameter or member of that name is repeated.
  func keeps(_ name: String) -> Bool {
    switch self {
    case .all: true
    case .only(let names): names.contains(name)
    case .except(let names): !names.contains(name)
    case .none: false
    }
  }
}

extension KeepRule: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    switch DescriptionObject.text(decoder) {
    case "all": self = .all
    case "none": self = .none
    case let text?:
      throw DescriptionObject.error(
        decoder.codingPath,
        "\"\(text)\" is no keep rule; expected \"all\", \"none\", {\"only\": [names]} or "
          + "{\"except\": [names]}.")
    case nil:
      let (kind, object) = try DescriptionObject.oneOf(
        decoder, "A keep rule", kinds: ["only", "except"])
      self = kind == "only" ? .only(try object(kind)) : .except(try object(kind))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .all, .none:
      var single = encoder.singleValueContainer()
      try single.encode(self == .all ? "all" : "none")
    case .only(let names), .except(let names):
      var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
      if case .only = self {
        try fields.encode(names, forKey: "only")
      } else {
        try fields.encode(names, forKey: "except")
      }
    }
  }
}
