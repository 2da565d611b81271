extension Pagination {
  /// The place of the items in a page.
  ///
  /// A missing or null list is an error unless the selector is `optional`, and a value that is no
  /// list is always an error: a misread page never ends a walk. A JSON path with the step `*`
  /// selects everything found there; lists in it are flattened and nulls are skipped:
  /// `/groups/*/members`.
  public indirect enum Items: Hashable, Sendable {
    /// The list at a path.
    case path(PagePath)
    /// The list at the first of these paths that has a value.
    case firstOf([PagePath])
    /// The lists at all of these paths, in order. Missing ones are empty, but at least one has to
    /// exist.
    case all([PagePath])
    /// A list that the server omits (AIP-158, protocol buffers) or writes as null (Go) when it is
    /// empty. Only for such servers: a misspelled path looks like an empty page.
    case optional(Items)
    /// A list that the server writes as a lone item when it has one, as JSON-LD and converters from
    /// XML do: any other value counts as one item. In XML, one element is a list anyway.
    case oneOrMany(Items)
    /// The members of an object instead of the elements of a list, each as `{"name": …, "value":
    /// …}`, in the order of the page. JSON only.
    case members(Items)
    /// The rows of a table written by columns, an object of lists of equal length. Each row is an
    /// object. JSON only.
    case columns(Items)
    /// An example selector, for descriptions whose path only the caller knows.
    /// `Pagination.items(at:)` replaces it; a walk without that throws `invalidArgument`, unless
    /// the example is the root. If other paths of the description begin with the same container,
    /// `below` is its path, and `items(at:)` moves them all.
    case unspecified(Items, below: PagePath? = nil)

    /// The page itself is the list.
    public static let root = Items.path("")

    /// The arrangement of items in a JSON page.
    package enum Arrangement: Hashable, Sendable { case lists, matches, members, columns }

    /// The selector inside a modifier; nil for a plain selector of lists.
    private var inner: Items? {
      switch self {
      case .path, .firstOf, .all: nil
      case .optional(let selector), .oneOrMany(let selector), .members(let selector),
        .columns(let selector), .unspecified(let selector, _):
        selector
      }
    }

    /// The arrangement of the items in a JSON page.
    package var arrangement: Arrangement {
      switch self {
      case .members: .members
      case .columns: .columns
      default:
        inner?.arrangement ?? (paths.contains { $0.steps.contains(.each) } ? .matches : .lists)
      }
    }

    /// Whether a page without the list is empty.
    package var absentMeansEmpty: Bool {
      if case .optional = self { true } else { inner?.absentMeansEmpty ?? false }
    }

    /// Whether a value that is no list counts as a list of one.
    package var admitsOne: Bool {
      switch self {
      case .oneOrMany: true
      case .members, .columns: false
      default: inner?.admitsOne ?? false
      }
    }

    /// Whether only the first of `paths` that has a value counts.
    package var takesFirst: Bool {
      if case .firstOf = self { true } else { inner?.takesFirst ?? false }
    }

    /// All paths of the items, in order.
    package var paths: [PagePath] {
      switch self {
      case .path(let path): [path]
      case .firstOf(let paths), .all(let paths): paths
      default: inner?.paths ?? []
      }
    }

    /// Returns the same selector with other lists inside its modifiers.
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

    /// The path that `Pagination.items(at:)` replaces; nil if the items are specified.
    package var unspecifiedPath: PagePath? {
      guard case .unspecified(let selector, let container) = self else { return nil }
      return container ?? selector.paths.first
    }

    /// The path that the caller has to give; nil for the root, which needs none.
    package var missingPath: PagePath? { unspecifiedPath.flatMap { $0.text.isEmpty ? nil : $0 } }
  }
}

extension Pagination.Items: ExpressibleByStringLiteral {
  /// Creates a selector for the list at a path. Traps on a malformed path.
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
        { if case .firstOf(let paths) = $0 { paths } else { nil } },
        "the first of these lists that exists"),
      .key(
        "all", Pagination.Items.all, { if case .all(let paths) = $0 { paths } else { nil } },
        "all of these lists, in order"),
      .key(
        "optional", Pagination.Items.optional,
        { if case .optional(let selector) = $0 { selector } else { nil } },
        "an empty list may be missing or null"),
      .key(
        "oneOrMany", Pagination.Items.oneOrMany,
        { if case .oneOrMany(let selector) = $0 { selector } else { nil } },
        "a single item may be written without a list, as in JSON-LD"),
      .key(
        "members", Pagination.Items.members,
        { if case .members(let selector) = $0 { selector } else { nil } },
        "the members of an object, each with `name` and `value`"),
      .key(
        "columns", Pagination.Items.columns,
        { if case .columns(let selector) = $0 { selector } else { nil } },
        "the rows of a table written by columns"),
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
