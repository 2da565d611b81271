/// What to do with an item that cannot be decoded.
public enum BadItemPolicy: String, Hashable, Codable, Sendable {
  /// The page fails; nothing of it is delivered. The default.
  case `throw`
  /// The item is set aside in `page.badItems`, counted in the report, and the walk goes on.
  case collect
}

/// An item that could not be decoded, kept whole.
public struct BadItem: Sendable {
  /// The item's place in the page, from 0.
  public var index: Int
  /// Where in the item the decoder gave up, as a path; empty for the item itself.
  public var path: String
  /// Why.
  public var message: String
  /// The item as the server sent it.
  public var bytes: [UInt8]

  /// An item set aside.
  public init(index: Int, path: String, message: String, bytes: [UInt8]) {
    self.index = index
    self.path = path
    self.message = message
    self.bytes = bytes
  }
}
