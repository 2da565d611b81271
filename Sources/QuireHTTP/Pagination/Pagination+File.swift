public import QuireCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Pagination {
  /// Reads a description from the JSON text of a file.
  ///
  /// Throws `invalidArgument` that names the key, says what is wrong with it and what was expected.
  public init(json: some Sequence<UInt8>) throws(PageError) {
    do {
      self = try JSONDecoder().decode(Pagination.self, from: Data(json))
    } catch let error as DecodingError {
      throw PageError(
        .invalidArgument, "The pagination description cannot be read. \(Self.describe(error))",
        underlying: error)
    } catch {
      throw PageError(
        .invalidArgument, "The pagination description cannot be read: \(error)", underlying: error)
    }
  }

  /// Reads a description from JSON text, as `json` writes it; throws as for the bytes of a file.
  public init(json: String) throws(PageError) {
    try self.init(json: json.utf8)
  }

  /// The description as JSON text for a file: what fits on a line stays on one, and the answers
  /// come in their order.
  public var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A description holds nothing that JSON cannot: texts, whole numbers, lists and objects.
    guard let data = try? encoder.encode(self),
      let value = try? JSONDocument(Array(data)).value(at: "")
    else { return "{}" }
    return DescriptionText().text(value)
  }

  private static func describe(_ error: DecodingError) -> String {
    let context: DecodingError.Context
    switch error {
    case .typeMismatch(_, let found), .valueNotFound(_, let found), .keyNotFound(_, let found),
      .dataCorrupted(let found):
      context = found
    @unknown default: return "\(error)"
    }
    let path = context.codingPath.map { key in
      key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
    }.joined(separator: "").drop { $0 == "." }
    let place = path.isEmpty ? "" : "At \(path): "
    return place + context.debugDescription
  }
}
