import QuireCore

/// The document of an answer that is of no format: what is left is its head.
struct UnreadableDocument: PageDocument {
  /// What is wrong with it.
  let reason: PageError

  func value(at path: PagePath) -> JSONValue? { nil }
  func count(at path: PagePath) -> Int? { nil }
  func value(at path: PagePath, inLastItemOf items: ItemSelector) -> JSONValue? { nil }
}

/// Decodes as another decoder does, and lets pass what that one cannot read.
struct LenientPageDecoder<Item: Sendable>: PageDecoder {
  let decoder: any PageDecoder<Item>

  var isSelfDelimiting: Bool { decoder.isSelfDelimiting }

  func begin(_ context: DecodingContext) throws -> any PageDecoding<Item> {
    do {
      return Session(decoding: try decoder.begin(context))
    } catch let error as PageError where Self.isUnreadable(error) {
      return Session(decoding: nil, reason: error)
    }
  }

  /// Whether an error says that the page is of another format, and not that it is cut off or too
  /// large.
  private static func isUnreadable(_ error: PageError) -> Bool {
    error.code == .malformed || error.code == .unexpectedMediaType
  }

  private struct Session: PageDecoding {
    var decoding: (any PageDecoding<Item>)?
    var reason: PageError?

    mutating func receive(_ slice: [UInt8]) throws {
      try attempt { try $0.receive(slice) }
    }

    mutating func finish() throws -> any PageDocument {
      var document: (any PageDocument)?
      try attempt { document = try $0.finish() }
      if let document { return document }
      return UnreadableDocument(
        reason: reason ?? PageError(.malformed, "The page is of no format that can be read."))
    }

    mutating func items() -> DecodedItems<Item> { DecodedItems([]) }

    private mutating func attempt(_ body: (inout any PageDecoding<Item>) throws -> Void) throws {
      guard var session = decoding else { return }
      do {
        try body(&session)
        decoding = session
      } catch let error as PageError where LenientPageDecoder.isUnreadable(error) {
        decoding = nil
        reason = error
      }
    }
  }
}
