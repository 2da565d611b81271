/// The server on loopback: pages numbered from 1, a hundred bodies by turns, each linked to the next.
struct Server: Sendable {
  let base: String

  /// How many pages the links lead through.
  static let linkedPages = 2000

  /// The address of a page, without its number.
  var pagePrefix: String { base + "/page?number=" }

  /// The same of pages of a megabyte.
  var largePagePrefix: String { base + "/large?number=" }
}
