public import QuireCore

/// How a listing is paged: eight answers that together describe a protocol, and two for servers that
/// also page backwards or give out changes.
///
/// ```swift
/// let pagination = Pagination(
///   next: .body("/next_cursor"), send: .query("cursor"), end: [.flag("/has_more")],
///   items: "/data")
/// ```
/// A value: it can live in a file, be printed and be compared; see `json` and `init(json:)`. The
/// presets, such as `.github`, are compositions of the same parts, and can be changed like any
/// other value.
public struct Pagination: Hashable, Sendable {
  /// Where the continuation of the next page comes from.
  public var next: Pagination.Next

  /// Where it goes. Default: it is a link. Not asked when `next` is `firstOf`, whose routes say it
  /// themselves.
  public var send: Pagination.Placement

  /// What else changes between the first request and the following ones.
  public var request: Pagination.RequestRule

  /// What ends the walk, besides a source that finds nothing.
  public var end: [Pagination.End]

  /// Where a page keeps its items. Default: the page is the list.
  public var items: Pagination.Items

  /// Where a page size is asked for; nil when the server takes none.
  public var size: Pagination.PageSize?

  /// Where the server says how much there is; nil when it does not.
  public var total: Pagination.TotalSource?

  /// Failures, links and handles.
  public var policy: Pagination.Policy

  /// How to get to the page before; nil when the server pages in one direction.
  public var previous: Pagination.PreviousRule?

  /// What a later walk for changes starts with, read from the last page: a sync token, a delta link.
  /// That walk sends it with every page. Default nil: nothing.
  public var resume: Pagination.Route?

  /// The formats that the server answers in; a page in another one is `unexpectedMediaType`. Default:
  /// empty, which is any, and the first page's binds the later ones.
  public var formats: [PageFormat]

  /// A description. Whether its parts fit together is checked when a walk is made of it.
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

  /// The same description for items that are elsewhere in the page.
  ///
  /// What the description says about a list that is left out or a lone item still holds, unless the
  /// selector is more than a path. Where the items are `unspecified` below a container, the path is that
  /// of the container, or of a list in it, and every path of the description that begins with it moves.
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

  /// The same description with the continuation sent elsewhere.
  public func sending(as placement: Pagination.Placement) -> Pagination {
    var changed = self
    changed.send = placement
    return changed
  }

  /// The same description with the page size sent elsewhere.
  public func size(as placement: Pagination.Placement) -> Pagination {
    var changed = self
    changed.size = changed.size ?? Pagination.PageSize()
    changed.size?.send = placement
    return changed
  }

  /// The same description with a total, which ends the walk where pages or items are counted.
  public func total(at source: Pagination.TotalSource) -> Pagination {
    var changed = self
    changed.total = source
    switch next.root {
    case .offset, .pageNumber, .contentRange:
      changed.end.removeAll { if case .total = $0 { true } else { false } }
      changed.end.insert(.total(source), at: 0)
    default: break
    }
    return changed
  }

  /// The same description with another number for the first page or item; a description that does not
  /// count is unchanged.
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

  /// The same description with another URL for the request before the first page, such as
  /// `books/_pit?keep_alive=1m`; one that opens nothing is unchanged.
  public func opening(at url: String) -> Pagination {
    var changed = self
    changed.policy.open?.url = url
    return changed
  }

  /// The same description for a server that answers in these formats.
  public func formats(_ formats: [PageFormat]) -> Pagination {
    var changed = self
    changed.formats = formats
    return changed
  }

  /// The same description with another policy for next links.
  public func links(_ policy: LinkPolicy) -> Pagination {
    var changed = self
    changed.policy.links = policy
    return changed
  }
}

extension Pagination {
  /// The description with the path of its example for one that only the caller knows.
  package var example: Pagination {
    guard case .unspecified(let selector, _) = items else { return self }
    var changed = self
    changed.items = selector
    return changed
  }

  /// The description with its container at `path`; where that ends like a list of the example, it may
  /// be the list's path as well, and both are read.
  private func moved(
    _ example: Pagination.Items, from container: PagePath, to path: PagePath
  ) -> Pagination {
    let base = container.text
    let lists = example.paths.map { $0.text.dropFirst(base.count) }
    let list = lists.first { !$0.isEmpty && path.text.hasSuffix($0) }
    // Still unspecified, so that a walk throws.
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

  /// The description with `path` where a path begins with `base`; nil where no path can begin so.
  private func moved(from base: String, to path: String) -> Pagination? {
    func moved(_ value: JSONValue) -> JSONValue {
      switch value {
      case .string(let text) where text.hasPrefix("/") && text.hasPrefix(base):
        .string(path + text.dropFirst(base.count))
      case .array(let elements): .array(elements.map(moved))
      case .object(let members): .object(members.map { .init($0.name, moved($0.value)) })
      default: value
      }
    }
    guard let value = try? JSONValue(parsing: json) else { return nil }
    return try? Pagination(json: moved(value).description)
  }

  /// The description that finds what either finds.
  private func or(_ other: Pagination) -> Pagination {
    func routes(_ first: Pagination.Next, _ second: Pagination.Next, _ send: Pagination.Placement)
      -> Pagination.Next
    {
      .firstOf([Pagination.Route(first, send: send), Pagination.Route(second, send: send)])
    }
    func rules(_ first: [Pagination.End], _ second: [Pagination.End]) -> [Pagination.End] {
      zip(first, second).map { rule, other in
        guard case .flag(var flag) = rule, case .flag(let second) = other else { return rule }
        flag.source = .firstOf([flag.source, second.source])
        return .flag(flag)
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
      .required("next", \.next, "where the continuation comes from"),
      .optional(
        "send", \.send, "where it goes; default `\"url\"`",
        isWritten: { if case .firstOf = $0.next { false } else { true } }),
      .optional("request", \.request, "what else changes from request to request"),
      .optional("end", \.end, "what ends the listing"),
      .optional("items", \.items, "where the items are", isWritten: { _ in true }),
      .optional("size", \.size, "where a page size goes"),
      .optional("total", \.total, "where the server says how much there is"),
      .optional("policy", \.policy, "failures, links and sessions"),
      .optional("previous", \.previous, "what leads to the page before"),
      .optional(
        "resume", \.resume, "what a later walk for changes starts with, from the last page"),
      .optional(
        "formats", \.formats, example: "[\"json\"]", "the formats that the server answers in"),
    ])
}

extension PageFormat: FormWord {}

extension Pagination: Codable {
  /// Reads an object with the names of the answers, of which only `next` is required.
  ///
  /// A name that is unknown, missing or holds something else is an error that says what was
  /// expected.
  public init(from decoder: any Decoder) throws {
    do {
      self = try Self.grammar.read(JSONValue(from: decoder))
    } catch let failure as FormFailure {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: failure.description))
    }
  }

  /// Writes the answers, without those that are the default.
  public func encode(to encoder: any Encoder) throws {
    try Self.grammar.write(self).encode(to: encoder)
  }
}

extension Pagination {
  /// Reads a description from the JSON text of a file.
  ///
  /// Throws `invalidArgument` that names the key, says what is wrong with it and what was expected.
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

  /// Reads a description from JSON text, as `json` writes it; throws as for the bytes of a file.
  public init(json: String) throws(PageError) {
    try self.init(json: json.utf8)
  }

  /// The description as JSON text for a file: what fits on a line stays on one, and the answers
  /// come in their order.
  public var json: String { DescriptionText().text(Self.grammar.write(self)) }

  /// The JSON Schema of a description in a file, for editors and validators.
  ///
  /// Says where a name or a kind of value is wrong; whether the parts fit together, only a walk can
  /// say. Source: JSON Schema, draft 2020-12.
  public static var schema: String { DescriptionText().text(DescriptionReference.schema) }
}

extension Pagination {
  /// How the page before another one is found, where a server pages in both directions.
  public struct PreviousRule: Hashable, Sendable {
    /// Where a page says what leads to the one before it.
    public var from: Next
    /// Where that goes. Default: it is a link.
    public var send: Placement
    /// What says, of a page that was reached backwards, that it is the first of all: flags and empty
    /// pages. Default: nothing but a source that finds nothing.
    public var end: [End]
    /// Where the page size goes instead, such as `last` for `first`. Default nil: to the same place.
    public var size: Placement?

    /// A way to the page before.
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

extension Pagination.PreviousRule {
  /// The page before by a web link, under either of its relations (RFC 8288).
  static let linkHeader = Pagination.PreviousRule(
    .firstOf([
      Pagination.Route(.linkHeader(rel: "prev"), send: .url),
      Pagination.Route(.linkHeader(rel: "previous"), send: .url),
    ]))
}

extension Pagination.PreviousRule: Block {
  package static let name = "previous"

  package static let grammar = Form<Pagination.PreviousRule>.object(
    "The rule previous", Pagination.PreviousRule(.linkHeader),
    [
      .required("from", \.from, "what leads to the page before"),
      .optional(
        "send", \.send, "where that goes; default `\"url\"`",
        isWritten: { if case .firstOf = $0.from { false } else { true } }),
      .optional("end", \.end, "what says that a page is the first of all"),
      .optional("size", \.size, "where the page size goes instead"),
    ])
}
