/// How far ahead of its consumer a paginator loads.
struct LookAhead: Hashable, Sendable {
  var threshold: Threshold = .standard
  /// Pages that are loaded and not begun, at most.
  var maxPages = 1
  /// Bytes of those pages, at most.
  var maxBytes = 16 << 20

  /// Why this cannot work, if it cannot.
  var objection: PageError? {
    guard maxPages >= 1 else {
      return PageError(
        .invalidArgument,
        "A paginator may load \(maxPages) pages ahead; give 1 or more, or the threshold onDemand.",
        attempts: 0)
    }
    guard maxBytes >= 0 else {
      return PageError(
        .invalidArgument, "A paginator may load \(maxBytes) bytes ahead; give 0 or more.",
        attempts: 0)
    }
    return nil
  }
}
