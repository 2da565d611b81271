import QuireCore
import QuireHTTP

/// Why an item could not be decoded, and at which node.
struct XMLItemFailure: Error {
  let underlying: any Error
  let node: Int

  init(_ underlying: any Error, at node: Int) {
    self.underlying = underlying
    self.node = node
  }

  /// Throws, or returns the item set aside, as `policy` says.
  func settle(
    _ policy: BadItemPolicy, number: Int, item: Int, in index: XMLIndex,
    places: inout XMLPlaceFinder
  ) throws -> BadItem {
    let path = index.path(to: node, below: item).escapedForDisplay
    let message = "\(Self.words(of: underlying)) It stands at \(places.place(of: node))."
    switch policy {
    case .collect:
      return BadItem(
        index: number, path: path, message: message, bytes: XMLMarkup(index).bytes(of: item))
    case .throw:
      let place = path.isEmpty ? "" : ", at \(ServerText(path))"
      throw PageError(
        (underlying as? PageError)?.code ?? .itemDecoding,
        """
        Item \(number) of the page cannot be decoded\(place) (items are counted from 0): \
        \(message) To set such items aside, set configuration.badItems to .collect.
        """, underlying: underlying)
    }
  }

  static func words(of error: any Error) -> String {
    switch error {
    case DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context),
      DecodingError.keyNotFound(_, let context), DecodingError.valueNotFound(_, let context):
      ServerText(context.debugDescription).description
    case let error as PageError: error.message
    default: ServerText(String(describing: error)).description
    }
  }
}
