public import QuireCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One item of a JSON page as the server wrote it, not yet made into a type of yours.
///
/// It keeps its whole page in memory: make what you need of it and let it go, or copy its bytes.
public struct RawItem: Sendable, CustomStringConvertible {
  let document: JSONDocument
  let node: Int

  init(document: JSONDocument, node: Int) {
    self.document = document
    self.node = node
  }

  /// An item made of a JSON text of your own.
  ///
  /// Throws as `JSONDocument` does.
  public init(_ bytes: [UInt8], limits: DecodingLimits = .api) throws {
    self.init(document: try JSONDocument(bytes, limits: limits), node: 0)
  }

  /// The elements of a JSON array, which share one document.
  ///
  /// Throws as `JSONDocument` does.
  package static func items(ofList bytes: [UInt8], limits: DecodingLimits) throws -> [RawItem] {
    let document = try JSONDocument(bytes, limits: limits)
    return document.elements(of: 0).map { RawItem(document: document, node: $0) }
  }

  /// The bytes, with the server's own white space.
  public var bytes: ArraySlice<UInt8> { document.bytes[document.range(of: node)] }

  /// The bytes without white space between tokens: one line. Numbers, strings and the order of
  /// members stay as the server wrote them.
  public var compact: [UInt8] {
    var output: [UInt8] = []
    appendCompact(to: &output)
    return output
  }

  /// Appends `compact` to `output`.
  public func appendCompact(to output: inout [UInt8]) {
    document.appendCompact(node, to: &output)
  }

  /// The item as a lossless value, built anew at each call.
  ///
  /// Throws `malformed` when a string in it is no Unicode text, such as half a surrogate pair.
  public var value: JSONValue {
    get throws { try document.value(of: node) }
  }

  /// The item as a type of yours.
  ///
  /// Throws what the decoder throws, and as `value` does for text that is no Unicode.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, with decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    if let flaw = document.flaw(in: node) { throw document.flawError(at: flaw) }
    return try decoder.decode(type, at: node, in: document)
  }

  /// The compact bytes as text.
  public var description: String { String(decoding: compact, as: UTF8.self) }
}
