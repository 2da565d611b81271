import QuireCore
import QuireHTTP

/// Why parsing stopped, and where, before it is told in words.
struct XMLFault: Error {
  enum Reason {
    /// The page breaks XML; libxml2's own words.
    case malformed(String)
    /// The page ends before its root element does.
    case truncated
    /// The page uses a feature that is refused.
    case refused(String)
    /// The page is of another format.
    case otherFormat(OtherFormat)
    /// The page holds more than a limit allows.
    case limit(what: String, limit: Int, property: String)
    /// The bytes are not what the page's encoding says.
    case encoding(String)
  }

  /// What comes in the place of XML.
  enum OtherFormat { case html, json }

  var reason: Reason
  /// Where it shows.
  var place: XMLPlace

  var isMalformed: Bool { if case .malformed = reason { true } else { false } }

  var pageError: PageError {
    let place = "\(place) (byte \(place.offset))"
    return switch reason {
    case .malformed(let message):
      PageError(.malformed, "The page is not valid XML: at \(place): \(message).")
    case .truncated:
      PageError(
        .truncated, "The XML page is cut off: it ends at \(place), before its root element.")
    case .refused(let feature):
      PageError(.malformed, "The XML page is refused: at \(place), it \(feature).")
    case .otherFormat(.html):
      PageError(
        .unexpectedMediaType,
        "The page is HTML, neither JSON nor XML: a login page, a proxy or another address may have "
          + "answered.")
    case .otherFormat(.json):
      PageError(.unexpectedMediaType, "The page is JSON, not XML; decode it as JSON.")
    case .limit(let what, let limit, let property):
      PageError(
        .limitExceeded,
        "At \(place), the XML page has more than \(limit) \(what); raise \(property) if that is "
          + "right for this API.")
    case .encoding(let message):
      PageError(.malformed, "The XML page cannot be read: at \(place): \(message).")
    }
  }
}
