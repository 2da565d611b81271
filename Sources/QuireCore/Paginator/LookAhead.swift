/// How far ahead of its consumer a paginator loads, and what it keeps.
struct LookAhead: Sendable {
  var threshold: Threshold = .standard
  /// Pages that are loaded and not begun, at most.
  var maxPages = 1
  /// Bytes of those pages, at most.
  var maxBytes = 16 << 20
  var retention = Retention.window
  var list = ListOptions()

  /// Why this cannot work, if it cannot.
  var objection: PageError? {
    let objection: String? =
      if maxPages < 1 {
        "load \(maxPages) pages ahead; give 1 or more, or the threshold onDemand."
      } else if maxBytes < 0 {
        "load \(maxBytes) bytes ahead; give 0 or more."
      } else if let items = list.viewportItems, items < 0 {
        "fill a view of \(items) items; give 0 or more."
      } else if list.settling < .zero {
        "settle for \(list.settling); give zero or more."
      } else {
        nil
      }
    return objection.map {
      PageError(.invalidArgument, "A paginator cannot \($0)", attempts: 0)
    }
  }
}
