/// Something that happened to a paginator, for whoever watches it.
public enum PaginatorEvent<Item: Sendable>: Sendable {
  /// The state changed; `from` is what the last change led to.
  case changed(from: PaginatorState, to: PaginatorState)
  /// A first page took the place of everything before it.
  case reloaded(Page<Item>)
  /// A page came after the last one.
  case appended(Page<Item>)
  /// A page came before the first one: every item moves by `shift`.
  case prepended(Page<Item>, shift: Int)
  /// Whether the next page is loaded when it is due.
  case canLoadMore(Bool)
  /// Everything that was loaded is gone.
  case cleared
}
