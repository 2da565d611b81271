#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A copy of the settings of a `JSONDecoder`, with the closures of custom strategies.
struct JSONDecodingOptions: Sendable {
  let dates: JSONDecoder.DateDecodingStrategy
  let data: JSONDecoder.DataDecodingStrategy
  let floats: JSONDecoder.NonConformingFloatDecodingStrategy
  let keys: JSONDecoder.KeyDecodingStrategy
  let userInfo: [CodingUserInfoKey: any Sendable]

  /// Whether a member's name is its key (`useDefaultKeys`).
  let takesNamesAsTheyAre: Bool
  /// Whether a closure makes the keys (`custom`).
  let hasCustomKeys: Bool

  /// Fails for a decoder that does more than its settings say, which only Foundation can run: a
  /// subclass, and strategies that this code does not know. What `allowsJSON5` and
  /// `assumesTopLevelDictionary` allow occurs in no item, because the page was checked as JSON.
  init?(_ decoder: JSONDecoder) {
    guard type(of: decoder) == JSONDecoder.self else { return nil }
    dates = decoder.dateDecodingStrategy
    data = decoder.dataDecodingStrategy
    floats = decoder.nonConformingFloatDecodingStrategy
    keys = decoder.keyDecodingStrategy
    userInfo = decoder.userInfo
    switch keys {
    case .useDefaultKeys: (takesNamesAsTheyAre, hasCustomKeys) = (true, false)
    case .convertFromSnakeCase: (takesNamesAsTheyAre, hasCustomKeys) = (false, false)
    case .custom: (takesNamesAsTheyAre, hasCustomKeys) = (false, true)
    @unknown default: return nil
    }
    switch dates {
    case .deferredToDate, .secondsSince1970, .millisecondsSince1970, .iso8601, .custom: break
    @unknown default: return nil
    }
    switch data {
    case .deferredToData, .base64, .custom: break
    @unknown default: return nil
    }
    switch floats {
    case .throw, .convertFromString: break
    @unknown default: return nil
    }
  }
}

extension JSONDecoder.KeyDecodingStrategy {
  /// Returns the key of the member called `name` in the object at `path`.
  func key(for name: String, at path: ArraySlice<any CodingKey>) -> String {
    switch self {
    case .custom(let convert): convert(path + [JSONKey(name)]).stringValue
    case .convertFromSnakeCase: SnakeCase.key(for: name)
    default: name
    }
  }
}

/// A coding key that holds the name of a member.
struct JSONKey: CodingKey {
  let stringValue: String

  init(_ name: String) { stringValue = name }

  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }

  var intValue: Int? { nil }

  /// The key that `superDecoder()` uses, which is given none.
  static let `super` = JSONKey("super")
}

/// The index of an element as a coding key, whose text is made only on request.
struct JSONIndexKey: CodingKey {
  let index: Int

  init(_ index: Int) { self.index = index }

  init?(stringValue: String) { nil }
  init?(intValue: Int) { index = intValue }

  var stringValue: String { "Index \(index)" }
  var intValue: Int? { index }
}

/// The conversion of names by `JSONDecoder.KeyDecodingStrategy.convertFromSnakeCase`.
enum SnakeCase {
  /// Converts a name to its key: `_created_at` to `_createdAt`.
  static func key(for name: String) -> String {
    let lead = name.prefix { $0 == "_" }
    guard lead.endIndex < name.endIndex else { return name }
    let trail = name.reversed().prefix { $0 == "_" }.count
    let words = name[lead.endIndex...].dropLast(trail).split(separator: "_")
    guard words.count > 1 else { return name }
    let rest = words.dropFirst().map(\.capitalized)
    return lead + words[0].lowercased() + rest.joined() + String(repeating: "_", count: trail)
  }

  /// Converts a key to the likely name of its member: `createdAt` to `created_at`.
  static func name(for key: String) -> String {
    var name = ""
    for character in key {
      if character.isUppercase, !name.isEmpty { name += "_" }
      name += character.lowercased()
    }
    return name
  }
}
