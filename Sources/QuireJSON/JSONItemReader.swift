import QuireCore
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A reader of a page's values with the settings of a `JSONDecoder`: from the index, or by that
/// decoder itself if it may do more than its settings say.
struct JSONItemReader: Sendable {
  let decoder: JSONDecoder
  private let options: JSONDecodingOptions?

  init(_ decoder: JSONDecoder) {
    self.decoder = decoder
    options = JSONDecodingOptions(decoder)
  }

  /// Returns a function that decodes the value at a node of a page, for one task at a time.
  ///
  /// It throws `LocatedDecodingError` where the decoder throws `DecodingError`, and any other error
  /// that a type's own code throws.
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
        defer { JSONItemContext.detachIfKept(&context) }
        return try context.decode(type, item: node)
      } catch let error as DecodingError {
        throw error.located(
          in: document, node, by: options.keys, unfitNumber: context.unfitNumber)
      }
    }
  }

  /// Decodes one value. Throws the errors of the decoder, without their place in the page.
  func value<Value: Decodable>(
    _ type: Value.Type, at node: Int, in document: JSONDocument
  ) throws -> Value {
    guard let options else { return try decoder.decode(type, at: node, in: document) }
    var context = JSONItemContext(document, options)
    defer { JSONItemContext.detachIfKept(&context) }
    return try context.decode(type, item: node)
  }
}
