import Foundation
import QuireCore
import QuireJSON
import QuirePagination
import Testing

/// What a decoder makes of a value: compared between Foundation's decoder and ours.
struct Outcome: Equatable, CustomStringConvertible {
  var value: String?
  var error: String?
  var path: [String] = []

  init<Value>(_ decode: () throws -> Value) {
    do {
      value = Self.text(try decode())
    } catch {
      fail(error)
    }
  }

  var description: String {
    value ?? "\(error ?? "") at /\(path.joined(separator: "/"))"
  }

  private mutating func fail(_ error: any Error) {
    guard let error = error as? DecodingError else {
      // Text that no string can hold is found before any type is asked.
      self.error = "dataCorrupted"
      return
    }
    switch error {
    case .typeMismatch(let type, let context): note("typeMismatch \(type)", context)
    case .valueNotFound(let type, let context): note("valueNotFound \(type)", context)
    case .keyNotFound(let key, let context): note("keyNotFound \(key.stringValue)", context)
    case .dataCorrupted(let context): note("dataCorrupted", context)
    @unknown default: note("\(error)", nil)
    }
  }

  private mutating func note(_ error: String, _ context: DecodingError.Context?) {
    self.error = error
    path = (context?.codingPath ?? []).map { key in
      key.intValue.map { "\(key.stringValue)=\($0)" } ?? key.stringValue
    }
  }

  /// A text that two values share only if they are the same, to the last bit of a number.
  private static func text(_ value: Any) -> String {
    switch value {
    case let value as any SortedDictionary: return value.sortedText
    case let value as String: return value.debugDescription + "\(value.utf8.count)"
    case let value as Double: return "\(value) \(value.bitPattern)"
    case let value as Float: return "\(value) \(value.bitPattern)"
    case let value as Date: return "\(value.timeIntervalSinceReferenceDate)"
    default: break
    }
    let mirror = Mirror(reflecting: value)
    var parts = mirror.children.map { ($0.label ?? "") + ":" + text($0.value) }
    guard !parts.isEmpty || mirror.superclassMirror != nil else { return "\(value)" }
    if mirror.displayStyle == .set { parts.sort() }
    var above = mirror.superclassMirror
    while let mirror = above {
      parts += mirror.children.map { ($0.label ?? "") + ":" + text($0.value) }
      above = mirror.superclassMirror
    }
    return "\(type(of: value))(\(parts.joined(separator: ",")))"
  }

  fileprivate static func describe(_ value: Any) -> String { text(value) }
}

private protocol SortedDictionary {
  var sortedText: String { get }
}

extension Dictionary: SortedDictionary {
  fileprivate var sortedText: String {
    map { "\(Outcome.describe($0.key)):\(Outcome.describe($0.value))" }.sorted()
      .joined(separator: ",")
  }
}

/// A decoder that Foundation alone can stand in for.
// SAFETY: it adds nothing to a decoder that is Sendable.
final class SubclassedDecoder: JSONDecoder, @unchecked Sendable {}

/// The settings that decoders are compared under.
enum Settings: String, CaseIterable, Sendable {
  case plain, snake, custom, dated, secondsAndWords, closures

  /// A decoder of these settings: Foundation's own, or one that is read for its settings.
  func decoder(ofFoundation isFoundation: Bool = false) -> JSONDecoder {
    let decoder = isFoundation ? SubclassedDecoder() : JSONDecoder()
    switch self {
    case .plain: break
    case .snake:
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      decoder.dateDecodingStrategy = .millisecondsSince1970
      decoder.dataDecodingStrategy = .deferredToData
    case .custom:
      decoder.keyDecodingStrategy = .custom { path in
        JSONName(
          path.map { $0.intValue.map(String.init) ?? $0.stringValue.lowercased() }.last ?? "")
      }
      decoder.dateDecodingStrategy = .secondsSince1970
    case .dated: decoder.dateDecodingStrategy = .iso8601
    case .secondsAndWords:
      decoder.dateDecodingStrategy = .secondsSince1970
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: "INF", negativeInfinity: "-INF", nan: "¿NaN?")
    case .closures:
      decoder.userInfo = [JSONName.info: "told"]
      decoder.dateDecodingStrategy = .custom { decoder in
        let words = decoder.codingPath.map(\.stringValue).joined(separator: ".")
        let told = decoder.userInfo[JSONName.info] as? String ?? ""
        guard let text = try? decoder.singleValueContainer().decode(String.self) else {
          throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "\(words) \(told)"))
        }
        return Date(timeIntervalSinceReferenceDate: Double(text.utf8.count + words.utf8.count))
      }
      decoder.dataDecodingStrategy = .custom { decoder in
        Data("\(decoder.codingPath.map(\.stringValue)) \(decoder.userInfo.count)".utf8)
      }
    }
    return decoder
  }
}

/// A key of any name.
struct JSONName: CodingKey {
  static let info = CodingUserInfoKey(rawValue: "info") ?? CodingUserInfoKey.impossible
  let stringValue: String
  var intValue: Int? { nil }
  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}

extension CodingUserInfoKey {
  static var impossible: CodingUserInfoKey { preconditionFailure("Any text makes a key.") }
}

/// Expects the same of both decoders: the same value, or an error of the same kind at the same place.
func expectSame<Value: Decodable>(
  _ type: Value.Type, _ text: String, _ settings: Settings = .plain, _ note: String = "",
  inAnyOrder: Bool = false, at location: SourceLocation = #_sourceLocation
) {
  let foundation = Outcome {
    try settings.decoder(ofFoundation: true).decode(type, from: Data(text.utf8))
  }
  let ours = Outcome { try RawItem(Array(text.utf8)).decode(type, with: settings.decoder()) }
  if inAnyOrder, ours.value == nil, foundation.value == nil { return }
  #expect(
    ours == foundation, "\(type) of \(text.prefix(400)), \(settings.rawValue) \(note)",
    sourceLocation: location)
}
