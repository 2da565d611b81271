import Foundation
import Quire

/// `--data`: a request body, or `@file` with one in it.
enum BodyOption {
  /// A JSON text becomes a document that pagination can put its cursor into; anything else stays
  /// bytes.
  static func body(_ text: String) throws -> PageRequest.Body {
    let bytes =
      text.hasPrefix("@")
      ? Array(try InputFile.read(String(text.dropFirst()), for: "--data")) : Array(text.utf8)
    if let value = try? JSONDocument(bytes).value(at: "") { return .json(value) }
    return .bytes(bytes)
  }
}
