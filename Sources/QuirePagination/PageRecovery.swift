/// The way in which a walk continued after its cursor had expired; see `Pagination.ExpiryRule`.
public enum PageRecovery: String, Hashable, Sendable {
  /// The walk started over: this is the listing's first page.
  case restarted
  /// The walk opened its resource at the server again. No item is missing or repeated, but later
  /// changes may show.
  case reopened
  /// The server gave a new cursor, which may skip or repeat items that changed meanwhile.
  case resumed
  /// The walk started over behind the last item.
  case reanchored
}
