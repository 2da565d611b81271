#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Subscriptions and entries as text, for stores that keep them so.
package enum FeedRecord {
  /// The next poll of a feed that is gone is never.
  private static let never = (positive: "never", negative: "always", other: "unknown")

  /// The value as JSON.
  package static func text(of value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: never.positive, negativeInfinity: never.negative, nan: never.other)
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Reads what `text(of:)` wrote.
  package static func value<Value: Decodable>(of type: Value.Type, _ text: String) throws -> Value {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: never.positive, negativeInfinity: never.negative, nan: never.other)
    return try decoder.decode(type, from: Data(text.utf8))
  }
}
