import QuireCore

/// An item that could not be decoded: why, and what becomes of it.
package struct ItemFailure {
  let index: Int
  /// Where in the item, as a pointer.
  package let path: String
  package let message: String
  let underlying: any Error

  package init(_ error: any Error, at index: Int, path: String? = nil) {
    self.index = index
    underlying = (error as? LocatedDecodingError)?.underlying ?? error
    switch error {
    case let error as LocatedDecodingError:
      self.path = error.path.escapedForDisplay
      let words = Self.explain(error.underlying, missingName: error.missingName).message
      message = error.byte.map { "\(words) It stands at byte \($0) of the page." } ?? words
    case let error as DecodingError:
      let (keys, message) = Self.explain(error)
      self.path = keys.map { PagePath.pointer(to: $0) }.joined().escapedForDisplay
      self.message = message
    case let error as PageError:
      self.path = path ?? ""
      message = error.message
    default:
      self.path = path ?? ""
      message = ServerText(String(describing: error)).description
    }
  }

  /// Throws, or returns the item set aside, as `policy` says.
  package func settle(_ policy: BadItemPolicy, bytes: ArraySlice<UInt8>) throws -> BadItem {
    switch policy {
    case .collect:
      return BadItem(index: index, path: path, message: message, bytes: Array(bytes))
    case .throw:
      let place = path.isEmpty ? "" : ", at \(ServerText(path))"
      throw PageError(
        (underlying as? PageError)?.code ?? .itemDecoding,
        """
        Item \(index) of the page cannot be decoded\(place) (items are counted from 0): \
        \(message)
        """, remedies: [.settingAside], underlying: underlying)
    }
  }

  private static func explain(
    _ error: DecodingError, missingName: String? = nil
  ) -> (keys: [String], message: String) {
    let (keys, message) =
      switch error {
      case .typeMismatch(let type, let context):
        (context.codingPath, text(context) + advice(for: type, context))
      case .dataCorrupted(let context):
        (context.codingPath, text(context))
      case .valueNotFound(let type, let context):
        (context.codingPath, "Expected \(type), found null.")
      case .keyNotFound(let key, let context):
        (
          context.codingPath,
          missingName.map { $0 == key.stringValue ? nil : $0 }.flatMap { $0 }.map {
            "The member \"\($0)\" is missing, which the decoder calls \"\(key.stringValue)\"."
          } ?? "The member \"\(key.stringValue)\" is missing."
        )
      @unknown default: ([any CodingKey](), String(describing: error))
      }
    return (keys.map { $0.intValue.map(String.init) ?? $0.stringValue }, message)
  }

  /// A decoder's own words, which may quote the item.
  private static func text(_ context: DecodingError.Context) -> String {
    ServerText(context.debugDescription).description
  }

  /// A `Date` is a number of seconds to a decoder that was told nothing else, which few know by heart.
  private static func advice(for type: any Any.Type, _ context: DecodingError.Context) -> String {
    guard type == Double.self, context.debugDescription.contains("string") else { return "" }
    return " If it is a date in text, pass a decoder with the dateDecodingStrategy .iso8601."
  }
}

/// A decoder's error with the names that the page has where the decoder goes by others.
package struct LocatedDecodingError: Error {
  package let underlying: DecodingError
  /// Where, as a pointer into the item.
  package let path: String
  /// The name that the page would have for a key that is missing.
  package let missingName: String?
  /// Where in the page, as far as the place is there.
  package let byte: Int?

  package init(
    _ underlying: DecodingError, path: String, missingName: String? = nil, byte: Int? = nil
  ) {
    self.byte = byte
    self.underlying = underlying
    self.path = path
    self.missingName = missingName
  }
}
