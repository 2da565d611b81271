public import QuireCore

/// A description of how a listing is paged.
///
/// ```swift
/// let pagination = Pagination(
///   next: .body("/next_cursor"), send: .query("cursor"), end: [.flag("/has_more")],
///   items: "/data")
/// ```
/// A description is a value: it can be stored in a file, printed and compared; see `json` and
/// `init(json:)`. The presets, such as `.github`, are made of the same parts and can be changed
/// like any other value.
public struct Pagination: Hashable, Sendable {
  /// The source of the continuation.
  public var next: Pagination.Next

  /// The placement of the continuation. Default: it is a link. Ignored if `next` is `firstOf`,
  /// whose routes have their own placements.
  public var send: Pagination.Placement

  /// Further differences between the first request and the later ones.
  public var request: Pagination.RequestRule

  /// The rules that end the walk, besides a missing continuation.
  public var end: [Pagination.End]

  /// The place of the items. Default: the page itself is the list.
  public var items: Pagination.Items

  /// How a page size is requested; nil if the server accepts none.
  public var size: Pagination.PageSize?

  /// The source of the total; nil if the server declares none.
  public var total: Pagination.TotalSource?

  /// Failures, links and sessions.
  public var policy: Pagination.Policy

  /// How to find the previous page; nil if the server pages in one direction only.
  public var previous: Pagination.PreviousRule?

  /// The continuation for a later walk that reads only changes, taken from the last page: a sync
  /// token or a delta link. That walk sends it with every page. Default nil: none.
  public var resume: Pagination.Route?

  /// The formats of the pages; another one throws `unexpectedMediaType`. Default: empty, which
  /// allows any format for the first page and then only that one.
  public var formats: [PageFormat]

  /// Creates a description. Whether its parts fit together is checked when a walk starts.
  public init(
    next: Pagination.Next, send: Pagination.Placement = .url,
    request: Pagination.RequestRule = Pagination.RequestRule(),
    end: [Pagination.End] = [], items: Pagination.Items = .root, size: Pagination.PageSize? = nil,
    total: Pagination.TotalSource? = nil, policy: Pagination.Policy = Pagination.Policy(),
    previous: Pagination.PreviousRule? = nil,
    resume: Pagination.Route? = nil, formats: [PageFormat] = []
  ) {
    self.next = next
    self.send = send
    self.request = request
    self.end = end
    self.items = items
    self.size = size
    self.total = total
    self.policy = policy
    self.previous = previous
    self.resume = resume
    self.formats = formats
  }

  /// Returns the same description with the items at another place.
  ///
  /// If the selector is a plain path, modifiers of the description such as `optional` stay. If the
  /// items are `unspecified` below a container, the path is that of the container or of a list in
  /// it, and every path of the description that begins with the container moves along.
  public func items(at selector: Pagination.Items) -> Pagination {
    var changed = self
    switch (items, selector) {
    case (.unspecified(let example, let container?), _):
      guard let path = selector.paths.first else { return self }
      changed = moved(example, from: container, to: path)
      if selector.admitsOne, !changed.items.admitsOne {
        changed.items = .oneOrMany(changed.items)
      }
      if selector.absentMeansEmpty, !changed.items.absentMeansEmpty {
        changed.items = .optional(changed.items)
      }
    case (_, .path), (_, .firstOf), (_, .all): changed.items = items.moved(to: selector)
    default: changed.items = selector
    }
    return changed
  }

  /// Returns the same description with another placement of the continuation.
  public func sending(as placement: Pagination.Placement) -> Pagination {
    var changed = self
    changed.send = placement
    return changed
  }

  /// Returns the same description with another placement of the page size.
  public func size(as placement: Pagination.Placement) -> Pagination {
    var changed = self
    changed.size = changed.size ?? Pagination.PageSize()
    changed.size?.send = placement
    return changed
  }

  /// Returns the same description with a total. If pages or items are counted, it also ends the
  /// walk.
  public func total(at source: Pagination.TotalSource) -> Pagination {
    var changed = self
    changed.total = source
    switch next.untransformed {
    case .offset, .pageNumber, .contentRange:
      changed.end.removeAll { if case .total = $0 { true } else { false } }
      changed.end.insert(.total(source), at: 0)
    default: break
    }
    return changed
  }

  /// Returns the same description with another number for the first page or item. No effect unless
  /// pages or items are counted.
  public func counting(from first: Int) -> Pagination {
    func counted(_ source: Pagination.Next) -> Pagination.Next {
      switch source {
      case .offset(_, let step): .offset(first: first, step: step)
      case .pageNumber(_, let path): .pageNumber(first: first, from: path)
      case .contentRange: .contentRange(first: first)
      case .transformed(let source, let transform): .transformed(counted(source), transform)
      case .firstOf(let routes):
        .firstOf(routes.map { Pagination.Route(counted($0.next), send: $0.send) })
      default: source
      }
    }
    var changed = self
    changed.next = counted(next)
    return changed
  }

  /// Returns the same description with another URL for the request before the first page, such as
  /// `books/_pit?keep_alive=1m`. No effect without a request before the first page.
  public func opening(at url: String) -> Pagination {
    var changed = self
    changed.policy.open?.url = url
    return changed
  }

  /// Returns the same description for pages in these formats.
  public func formats(_ formats: [PageFormat]) -> Pagination {
    var changed = self
    changed.formats = formats
    return changed
  }

  /// Returns the same description with another link policy.
  public func links(_ policy: LinkPolicy) -> Pagination {
    var changed = self
    changed.policy.links = policy
    return changed
  }
}

extension Pagination {
  /// The description with its example selector in place of an unspecified one.
  package var example: Pagination {
    guard case .unspecified(let selector, _) = items else { return self }
    var changed = self
    changed.items = selector
    return changed
  }

  /// Returns the description with its container at `path`. If `path` ends like a list of the
  /// example, it may be the list's path instead, so the result tries both.
  private func moved(
    _ example: Pagination.Items, from container: PagePath, to path: PagePath
  ) -> Pagination {
    let base = container.text
    let lists = example.paths.map { $0.text.dropFirst(base.count) }
    let list = lists.first { !$0.isEmpty && path.text.hasSuffix($0) }
    // A path that makes no valid description stays unspecified, so that a walk throws.
    var unplaced = self
    unplaced.items = .unspecified(.path(path), below: path.text.isEmpty ? container : path)
    guard let inside = self.example.moved(from: base, to: path.text) else { return unplaced }
    guard let list else { return inside }
    guard let around = self.example.moved(from: base, to: String(path.text.dropLast(list.count)))
    else { return inside }
    var both = inside.or(around)
    both.items = .firstOf([path] + inside.items.paths)
    return both
  }

  /// Returns the description with `path` in place of `base` at the start of its paths; nil if that
  /// makes no valid path.
  private func moved(from base: String, to path: String) -> Pagination? {
    let moved = Self.grammar.write(self).mapped { value in
      guard let text = value.string, text.hasPrefix("/"), text.hasPrefix(base) else { return value }
      return .string(path + text.dropFirst(base.count))
    }
    return try? Pagination(moved)
  }

  /// Returns the description with the other's sources as alternatives to its own.
  private func or(_ other: Pagination) -> Pagination {
    func routes(_ first: Pagination.Next, _ second: Pagination.Next, _ send: Pagination.Placement)
      -> Pagination.Next
    {
      .firstOf([Pagination.Route(first, send: send), Pagination.Route(second, send: send)])
    }
    func rules(_ first: [Pagination.End], _ second: [Pagination.End]) -> [Pagination.End] {
      zip(first, second).map { rule, other in
        switch (rule, other) {
        case (.flag(var flag), .flag(let second)):
          flag.source = .firstOf([flag.source, second.source])
          return .flag(flag)
        case (.requires(let paths), .requires(let others)): return .requires(paths + others)
        default: return rule
        }
      }
    }
    var both = self
    both.next = routes(next, other.next, send)
    both.end = rules(end, other.end)
    if let source = other.total?.source {
      both.total?.source = total.map { .firstOf([$0.source, source]) } ?? source
    }
    if let previous, let second = other.previous {
      both.previous?.from = routes(previous.from, second.from, previous.send)
      both.previous?.end = rules(previous.end, second.end)
    }
    return both
  }
}

extension Pagination: Block {
  package static let name = "pagination"

  package static let grammar = Form<Pagination>.object(
    "A pagination description", Pagination(next: .linkHeader),
    [
      .required("next", \.next, "the source of the continuation"),
      .optional(
        "send", \.send, "its placement; default `\"url\"`",
        isWritten: { if case .firstOf = $0.next { false } else { true } }),
      .optional("request", \.request, "further differences between requests"),
      .optional("end", \.end, "the rules that end the listing"),
      .optional("items", \.items, "the place of the items", isWritten: { _ in true }),
      .optional("size", \.size, "how a page size is requested"),
      .optional("total", \.total, "the source of the total"),
      .optional("policy", \.policy, "failures, links and sessions"),
      .optional("previous", \.previous, "the source of the continuation to the previous page"),
      .optional(
        "resume", \.resume, "the continuation for a later walk that reads only changes"),
      .optional(
        "formats", \.formats, example: "[\"json\"]", "the formats of the pages"),
    ])
}

extension PageFormat: FormWord {}

extension Pagination: Codable {
  /// Reads a JSON object, of which only the member `next` is required.
  ///
  /// An unknown, missing or invalid member is an error that says what was expected.
  public init(from decoder: any Decoder) throws {
    do {
      self = try Self.grammar.read(JSONValue(from: decoder))
    } catch let failure as FormFailure {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: failure.description))
    }
  }

  /// Writes a JSON object without the members that are the default.
  public func encode(to encoder: any Encoder) throws {
    try Self.grammar.write(self).encode(to: encoder)
  }
}

extension Pagination {
  /// Reads a description from the JSON text of a file.
  ///
  /// Throws `invalidArgument` with the key, what is wrong with it and what was expected.
  public init(json: some Sequence<UInt8>) throws(PageError) {
    do {
      try self.init(try JSONValue(parsing: json))
    } catch {
      let reason = (error as? PageError)?.message ?? "\(error)"
      throw PageError(
        .invalidArgument, "The pagination description cannot be read. \(reason)", underlying: error)
    }
  }

  /// Reads a description from JSON.
  init(_ value: JSONValue) throws { self = try Self.grammar.read(value) }

  /// Reads a description from JSON text, such as `json`. Throws the same as for the bytes of a
  /// file.
  public init(json: String) throws(PageError) {
    try self.init(json: json.utf8)
  }

  /// The description as JSON text for a file.
  public var json: String { DescriptionText().text(Self.grammar.write(self)) }

  /// The JSON Schema of a description in a file, for editors and validators.
  ///
  /// The schema checks names and types of values. Whether the parts fit together is checked only by
  /// a walk. Source: JSON Schema, draft 2020-12.
  public static var schema: String { DescriptionText().text(DescriptionReference.schema) }
}

extension Pagination {
  /// How to find the previous page, for servers that page in both directions.
  public struct PreviousRule: Hashable, Sendable {
    /// The source of the continuation to the previous page.
    public var from: Next
    /// The placement of that continuation. Default: it is a link.
    public var send: Placement
    /// The rules that recognize the first page of the listing when walking backwards: flags and
    /// empty pages. Default: only a missing continuation.
    public var end: [End]
    /// Another placement of the page size, such as `last` for `first`. Default nil: the same one.
    public var size: Placement?

    /// Creates a rule.
    public init(
      _ from: Next, send: Placement = .url, end: [End] = [], size: Placement? = nil
    ) {
      self.from = from
      self.send = send
      self.end = end
      self.size = size
    }
  }
}

extension Pagination.PreviousRule: Block {
  package static let name = "previous"

  package static let grammar = Form<Pagination.PreviousRule>.object(
    "The rule previous", Pagination.PreviousRule(.linkHeader),
    [
      .required("from", \.from, "the source of the continuation to the previous page"),
      .optional(
        "send", \.send, "its placement; default `\"url\"`",
        isWritten: { if case .firstOf = $0.from { false } else { true } }),
      .optional("end", \.end, "the rules that recognize the first page"),
      .optional("size", \.size, "another placement of the page size"),
    ])
}
