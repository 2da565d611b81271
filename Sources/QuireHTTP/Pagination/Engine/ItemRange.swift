/// A range of items in a Range or Content-Range field, such as `items 0-24/3573458`.
///
/// Source: RFC 9110, §14.1 and §14.4; the unit is left out by PostgREST and ignored here.
struct ItemRange {
  /// The items, both ends included; nil for `*`.
  var range: ClosedRange<Int>?
  /// The complete length; nil for `*` and in a request.
  var total: Int?

  init?(_ text: String) {
    let value = text.split(whereSeparator: { $0 == " " || $0 == "=" }).last ?? ""
    let parts = value.split(separator: "/", maxSplits: 1)
    guard let span = parts.first else { return nil }
    total = parts.count > 1 ? Int(parts[1]) : nil
    if span == "*" { return }
    let ends = span.split(separator: "-").map { Int($0) }
    guard ends.count == 2, let from = ends[0], let to = ends[1], from <= to, to < Int.max else {
      return nil
    }
    range = from...to
  }
}
