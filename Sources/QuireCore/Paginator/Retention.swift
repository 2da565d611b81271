/// What a paginator keeps of the pages it handed out.
public enum Retention: Hashable, Sendable {
  /// Nothing, so that memory stays flat however long the listing is. Loops share the pages: each
  /// goes to one of them.
  case window
  /// Everything, for a list that is shown. Every loop sees all pages from the first one on.
  case all
}
