import QuireCore

/// An item that could not be decoded, with the reason.
package struct ItemFailure {
  let index: Int
  /// A pointer to the value that could not be decoded; empty for the item itself, or if unknown.
  package let path: String
  package let message: String
  let underlying: any Error

  package init(index: Int, path: String, message: String, underlying: any Error) {
    (self.index, self.path, self.message) = (index, path, message)
    self.underlying = underlying
  }

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

  /// Throws an error that names the item, or returns the item set aside, as `policy` demands.
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
          missingName.flatMap { $0 == key.stringValue ? nil : $0 }.map {
            "The member \"\($0)\" is missing, which the decoder calls \"\(key.stringValue)\"."
          } ?? "The member \"\(key.stringValue)\" is missing."
        )
      @unknown default: ([any CodingKey](), String(describing: error))
      }
    return (keys.map { $0.intValue.map(String.init) ?? $0.stringValue }, message)
  }

  /// Returns the decoder's message, made safe to display, because it may quote the item.
  private static func text(_ context: DecodingError.Context) -> String {
    ServerText(context.debugDescription).description
  }

  /// Returns advice for a date written as text: by default, a decoder expects a `Date` to be a
  /// number of seconds, and its error only says that it expected a `Double`.
  private static func advice(for type: any Any.Type, _ context: DecodingError.Context) -> String {
    guard type == Double.self, context.debugDescription.contains("string") else { return "" }
    return " If it is a date in text, pass a decoder with the dateDecodingStrategy .iso8601."
  }
}

/// A decoding error, located by the page's own names, which may differ from the decoder's keys.
package struct LocatedDecodingError: Error {
  package let underlying: DecodingError
  /// A pointer from the item to the value at fault.
  package let path: String
  /// The name that a missing key has in the page; nil if it does not differ from the key.
  package let missingName: String?
  /// The value's byte offset in the page; nil if the document is no page.
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
