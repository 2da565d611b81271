/// How a walk went on after the server had forgotten its cursor; see `ExpiryRule`.
public enum PageRecovery: String, Hashable, Sendable {
  /// The listing was begun again: this is its first page.
  case restarted
  /// What a walk holds at the server was opened again; nothing is missing or comes twice, but what
  /// changed meanwhile may show.
  case reopened
  /// The server gave another cursor, which may have skipped or repeated what changed meanwhile.
  case resumed
  /// The listing was begun again behind the last item.
  case reanchored
}
