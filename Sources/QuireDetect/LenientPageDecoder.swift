import QuireCore
import QuirePagination

/// The document of an answer in an unknown format. Only the head of the answer can be used.
struct UnreadableDocument: PageDocument {
  /// The error that the decoder threw for the body.
  let reason: PageError

  func value(at path: PagePath) -> JSONValue? { nil }
  func count(at path: PagePath) -> Int? { nil }
  func value(at path: PagePath, inLastItemOf items: Pagination.Items) -> JSONValue? { nil }
}

/// A decoder that returns an `UnreadableDocument` for pages that `decoder` cannot read.
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

  /// Whether an error means that the page is in another format, rather than truncated or too large.
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
      // Taken out, not copied: with the only reference to its page, the decoder need not copy it.
      guard var session = decoding.take() else { return }
      do {
        try body(&session)
        decoding = session
      } catch let error as PageError where LenientPageDecoder.isUnreadable(error) {
        reason = error
      }
    }
  }
}
