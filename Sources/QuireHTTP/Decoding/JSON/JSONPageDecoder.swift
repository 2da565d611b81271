#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Decodes pages of JSON whose items are types of yours, with Foundation's `JSONDecoder`.
///
/// The page is checked and its cursors are read by `JSONDocument`, without loss; the decoder sees
/// only the items. Of a name that occurs twice in an item it takes the first. A `JSONValue` in an item
/// keeps the server's text, unless the decoder is a subclass of `JSONDecoder`.
public struct JSONPageDecoder<Item: Decodable & Sendable>: PageDecoder {
  let decoder: JSONDecoder

  /// A decoder of pages; `decoder` brings date, data and key strategies of your own. Do not change
  /// it any more once pages are being decoded.
  public init(decoder: JSONDecoder = JSONDecoder()) {
    self.decoder = decoder
  }

  /// True: a document that is not closed is an error.
  public var isSelfDelimiting: Bool { true }

  /// Reads a body that is one value, with the same `JSONDecoder`.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try JSONBody.decode(type, from: body, context, decoder)
  }

  /// Starts one page.
  public func begin(_ context: DecodingContext) -> any PageDecoding<Item> {
    JSONPageDecoding(
      context,
      .init(
        item: { [decoder] document, node in
          do {
            return try decoder.decode(Item.self, at: node, in: document)
          } catch let error as DecodingError {
            throw error.located(in: document, node, by: decoder)
          }
        },
        list: { [decoder] in try decoder.decode([Item].self, at: $1, in: $0) }))
  }
}
