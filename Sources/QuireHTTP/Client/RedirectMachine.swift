import HTTPTypes
import QuireCore
import QuirePagination

/// Decides where a redirect leads, and what may be sent there.
///
/// Pure. Transports do not follow redirects, because libcurl forwards custom fields and cookies to
/// other origins. Source: RFC 9110, §15.4; the change from POST to GET is as in the Fetch standard,
/// except that only 303, which means a GET, drops a body: a listing's filter or cursor is in it.
struct RedirectMachine {
  /// The request of one hop.
  ///
  /// A class, because a value would be part of each frame of a waiting request.
  final class Hop: Sendable {
    let method: HTTPRequest.Method
    let url: URLReference
    /// The URL as it is sent.
    let text: String
    let origin: Origin
    let keepsBody: Bool

    /// Creates a hop. `text` is the text of the URL, if it is known; `home` is the origin to
    /// compare first, as the likely one.
    init(
      _ method: HTTPRequest.Method, _ url: URLReference, _ text: String? = nil, home: Origin,
      keepsBody: Bool
    ) throws(PageError) {
      self.method = method
      self.url = url
      self.text = text ?? url.text
      origin = try Origin(url, likely: home)
      self.keepsBody = keepsBody
    }

    func isSame(as other: Hop) -> Bool {
      method == other.method && text == other.text && keepsBody == other.keepsBody
    }
  }

  private let home: Origin
  private let longest: Int
  /// The hops so far, of which there is at least one.
  private var visited: [Hop]
  private var current: Hop { visited[visited.count - 1] }

  init(_ first: Hop, home: Origin, longest: Int) {
    self.home = home
    self.longest = longest
    visited = [first]
  }

  /// Returns the next hop if an answer is a redirect; nil if it is the final answer.
  ///
  /// Throws `refusedLink` if there are too many redirects or a circle, and for a redirect from
  /// https to http, to another scheme, of a body to another origin, or by 301 or 302 of a POST with a
  /// body, which would be lost; `status` for a redirect without a target.
  mutating func received(status: Int, location: String?) throws(PageError) -> Hop? {
    guard [301, 302, 303, 307, 308].contains(status) else { return nil }
    guard let location else {
      throw PageError(
        .status, "The server answered \(status), a redirect, without saying where to.")
    }
    let hop = try hop(to: location, status: status)
    guard visited.count <= longest else {
      throw PageError(.refusedLink, "The server redirected more than \(longest) times.")
    }
    guard !visited.contains(where: hop.isSame(as:)) else {
      throw PageError(.refusedLink, "The server redirects in a circle.")
    }
    visited.append(hop)
    return hop
  }

  private func hop(to location: String, status: Int) throws(PageError) -> Hop {
    let method = current.method
    let becomesGET =
      status == 303 ? method != .head : (status == 301 || status == 302) && method == .post
    guard !becomesGET || !current.keepsBody || status == 303 else {
      throw PageError(
        .refusedLink,
        "A redirect (\(status)) would make the POST a GET without its body, which asks for something else. If "
          + "its target takes the body, start the walk there.")
    }
    let hop: Hop
    do {
      var url = try URLReference(location.encodingBlanksOfQuery).resolved(against: current.url)
      url.fragment = nil
      hop = try Hop(
        becomesGET ? .get : method, url, home: home, keepsBody: current.keepsBody && !becomesGET)
    } catch {
      throw PageError(.refusedLink, "A redirect cannot be followed: \(error.message)")
    }
    guard current.origin.scheme == "http" || hop.origin.scheme == "https" else {
      throw PageError(
        .refusedLink,
        "A redirect leads from \(current.origin.displayText) to \(hop.origin.displayText), in the clear."
      )
    }
    guard !hop.keepsBody || hop.origin == home else {
      throw PageError(
        .refusedLink,
        "A redirect would take the request's body from \(home) to \(hop.origin.displayText). If that is right, "
          + "start the walk at its target.")
    }
    return hop
  }
}
