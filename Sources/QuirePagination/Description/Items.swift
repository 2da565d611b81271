extension Pagination {
  /// Where a page keeps its items.
  ///
  /// A list that is missing, or null, is an error unless the selector is `optional`, and anything that
  /// is no list is an error always; a page never ends a walk by being misread. Where a path of JSON has
  /// the step `*`, the items are all that is found there, lists among them taken apart and null left
  /// out: `/groups/*/members`.
  public indirect enum Items: Hashable, Sendable {
    /// The array at one path.
    case path(PagePath)
    /// The array at the first of these paths that has something.
    case firstOf([PagePath])
    /// The arrays at all of these paths, one after the other; absent ones are empty, but not all of
    /// them.
    case all([PagePath])
    /// The same, where the server leaves an empty list out (AIP-158, protocol buffers) or writes null for
    /// it (Go). Only for servers that do: a misspelt path looks like an empty page.
    case optional(Items)
    /// The same, where a list of one item is written as that item alone, as JSON-LD does and whatever
    /// makes JSON of XML: a value that is no list is one item. In XML, one element is a list anyway.
    case oneOrMany(Items)
    /// The members of an object instead of the elements of an array, each as `{"name": …, "value":
    /// …}`, in the order of the page. JSON only.
    case members(Items)
    /// The rows of a table that is written by columns, an object of lists of one length: each row as
    /// an object. JSON only.
    case columns(Items)
    /// The items of an example, where only the caller knows the path: `Pagination.items(at:)` says it, and
    /// a walk without it throws `invalidArgument`; the root needs no saying. Where other paths of the
    /// description begin with the same container, `below` is its path, and `items(at:)` moves them all.
    case unspecified(Items, below: PagePath? = nil)

    /// The page is the array.
    public static let root = Items.path("")

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
    func moved(to lists: Items) -> Items {
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
}

extension Pagination.Items: ExpressibleByStringLiteral {
  /// The array at a path known to be right. Traps on a malformed one.
  public init(stringLiteral value: String) { self = .path(PagePath(stringLiteral: value)) }
}

extension Pagination.Items: Block {
  package static let name = "selector"

  package static let grammar = Form<Pagination.Items>.oneOf(
    "An item selector",
    [
      .bare(
        Pagination.Items.path, { if case .path(let path) = $0 { path } else { nil } },
        "the list at a path"),
      .key(
        "firstOf", Pagination.Items.firstOf,
        { if case .firstOf(let paths) = $0 { paths } else { nil } }, "the first that has something"),
      .key(
        "all", Pagination.Items.all, { if case .all(let paths) = $0 { paths } else { nil } },
        "all of these lists, one after the other"),
      .key(
        "optional", Pagination.Items.optional,
        { if case .optional(let selector) = $0 { selector } else { nil } },
        "an empty list is left out or null"),
      .key(
        "oneOrMany", Pagination.Items.oneOrMany,
        { if case .oneOrMany(let selector) = $0 { selector } else { nil } },
        "one item may stand without a list, as in JSON-LD"),
      .key(
        "members", Pagination.Items.members,
        { if case .members(let selector) = $0 { selector } else { nil } },
        "the members of an object, each with `name` and `value`"),
      .key(
        "columns", Pagination.Items.columns,
        { if case .columns(let selector) = $0 { selector } else { nil } },
        "the rows of a table by columns"),
      .keys(
        (selector: Pagination.Items.root, container: PagePath?.none),
        [
          .required("unspecified", \.selector, example: "selector"),
          .optional("below", \.container, example: "path"),
        ],
        { .unspecified($0.selector, below: $0.container) },
        {
          if case .unspecified(let selector, let container) = $0 {
            (selector, container)
          } else {
            nil
          }
        },
        "only the caller knows the path: the selector is an example, and `items(at:)` or `--items` replaces it, with every path that begins with `below`"
      ),
    ])
}

extension Pagination {
  /// Which query parameters and members of the body the next requests repeat.
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
}

extension Pagination.KeepRule: Block {
  package static let name = "keep"

  package static let grammar = Form<Pagination.KeepRule>.oneOf(
    "A keep rule",
    [
      .word("all", .all, "all of them; the default"), .word("none", .none, "none"),
      .key(
        "only", Pagination.KeepRule.only, { if case .only(let names) = $0 { names } else { nil } },
        "only these"),
      .key(
        "except", Pagination.KeepRule.except,
        { if case .except(let names) = $0 { names } else { nil } },
        "all but these"),
    ])
}
