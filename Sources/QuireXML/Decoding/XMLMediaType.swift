/// What a Content-Type says about a page.
enum XMLMediaType {
  /// The `charset` parameter (RFC 9110, section 8.3.2).
  static func charset(_ contentType: String?) -> String? {
    guard let contentType else { return nil }
    for parameter in contentType.split(separator: ";").dropFirst() {
      let sides = parameter.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, sides[0].filter({ $0 != " " }).lowercased() == "charset" else {
        continue
      }
      let value = sides[1].filter { !" \"'".contains($0) }
      return value.isEmpty ? nil : value
    }
    return nil
  }
}
