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
  public var next: NextSource

  /// Where it goes. Default: it is a link. Not asked when `next` is `firstOf`, whose routes say it
  /// themselves.
  public var send: Placement

  /// What else changes between the first request and the following ones.
  public var request: RequestRule

  /// What ends the walk, besides a source that finds nothing.
  public var end: [EndRule]

  /// Where a page keeps its items. Default: the page is the list.
  public var items: ItemSelector

  /// Where a page size is asked for; nil when the server takes none.
  public var size: PageSize?

  /// Where the server says how much there is; nil when it does not.
  public var total: TotalSource?

  /// Failures, links and handles.
  public var policy: PagePolicy

  /// How to get to the page before; nil when the server pages in one direction.
  public var previous: PreviousRule?

  /// What a later walk for changes starts with, read from the last page: a sync token, a delta link.
  /// That walk sends it with every page. Default nil: nothing.
  public var resume: Route?

  /// The formats that the server answers in; a page in another one is `unexpectedMediaType`. Default:
  /// empty, which is any, and the first page's binds the later ones.
  public var formats: [PageFormat]

  /// A description. Whether its parts fit together is checked when a walk is made of it.
  public init(
    next: NextSource, send: Placement = .url, request: RequestRule = RequestRule(),
    end: [EndRule] = [], items: ItemSelector = .root, size: PageSize? = nil,
    total: TotalSource? = nil, policy: PagePolicy = PagePolicy(), previous: PreviousRule? = nil,
    resume: Route? = nil, formats: [PageFormat] = []
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
  public func items(at selector: ItemSelector) -> Pagination {
    var changed = self
    changed.items = selector
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
