import QuireCore
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads values of a page by the settings of a `JSONDecoder`: straight from the index, or with that decoder
/// itself where it may do what its settings do not say.
struct JSONItemReader: Sendable {
  let decoder: JSONDecoder
  private let options: JSONDecodingOptions?

  init(_ decoder: JSONDecoder) {
    self.decoder = decoder
    options = JSONDecodingOptions(decoder)
  }

  /// A function that decodes the values of a page, one at a time.
  ///
  /// It throws `LocatedDecodingError` where the decoder throws `DecodingError`, and anything else that
  /// a type's own code throws.
  func values<Value: Decodable>(
    _ type: Value.Type, of document: JSONDocument
  ) -> (Int) throws -> Value {
    guard let options else {
      return { [decoder] node in
        do {
          return try decoder.decode(type, at: node, in: document)
        } catch let error as DecodingError {
          throw error.located(in: document, node, by: decoder.keyDecodingStrategy)
        }
      }
    }
    var context = JSONItemContext(document, options)
    return { node in
      do {
        defer { JSONItemContext.settle(&context) }
        return try context.decode(type, item: node)
      } catch let error as DecodingError {
        throw error.located(
          in: document, node, by: options.keys, unfitNumber: context.unfitNumber)
      }
    }
  }

  /// Decodes one value; throws what the decoder throws.
  func value<Value: Decodable>(
    _ type: Value.Type, at node: Int, in document: JSONDocument
  ) throws -> Value {
    guard let options else { return try decoder.decode(type, at: node, in: document) }
    var context = JSONItemContext(document, options)
    defer { JSONItemContext.settle(&context) }
    return try context.decode(type, item: node)
  }
}
