import QuireCore
import QuirePagination
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A `Decoder` of one value of a page, and its container for a single value.
struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
  let context: JSONItemContext
  private let number: UInt32
  let place: JSONPlace

  /// Creates a decoder. 32 bits hold any node of a tape, so that an existential holds the decoder
  /// without an allocation.
  @inline(__always)
  init(_ context: JSONItemContext, _ node: Int, _ place: JSONPlace) {
    self.context = context
    number = UInt32(truncatingIfNeeded: node)
    self.place = place
  }

  @inline(__always)
  var node: Int { Int(number) }

  private var kind: JSONWord.Kind { context.word(at: node).kind }

  var codingPath: [any CodingKey] { context.codingPath(of: place, node: node) }
  var userInfo: [CodingUserInfoKey: Any] { context.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard context.word(at: node).isKind(.object) else {
      throw noContainer([String: Any].self, "keyed")
    }
    return context.container(keyedBy: type, of: node, place)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard context.word(at: node).isKind(.array) else { throw noContainer([Any].self, "unkeyed") }
    return JSONUnkeyedContainer(context, node, place)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private func noContainer(_ type: Any.Type, _ name: String) -> DecodingError {
    kind == .null
      ? .null("\(name) decoding container", type, at: codingPath)
      : .mismatch(type, found: kind, at: codingPath)
  }

  // MARK: A single value

  func decodeNil() -> Bool { context.word(at: node).isKind(.null) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try context.decode(type, at: node, in: place)
  }

  func decode(_ type: String.Type) throws -> String {
    do {
      return try context.string(at: node)
    } catch { throw self.error(error, type) }
  }

  func decode(_ type: Bool.Type) throws -> Bool {
    do {
      return try context.bool(at: node)
    } catch { throw self.error(error, type) }
  }

  func decode(_ type: Double.Type) throws -> Double { try float(type) }
  func decode(_ type: Float.Type) throws -> Float { try float(type) }
  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

  @inline(__always)
  private func float<Float: JSONFloat>(_ type: Float.Type) throws -> Float {
    do {
      return try context.float(type, at: node)
    } catch { throw self.error(error, type) }
  }

  @inline(__always)
  private func integer<Integer: FixedWidthInteger & Decodable>(
    _ type: Integer.Type
  ) throws -> Integer {
    do {
      return try context.integer(type, at: node)
    } catch { throw self.error(error, type) }
  }

  @inline(never)
  private func error(_ problem: JSONProblem, _ type: Any.Type) -> any Error {
    context.error(problem, type, node, place, nil)
  }
}

/// A `JSONValue` reads itself from the index, without loss.
extension JSONValueDecoder: JSONValueSource {
  func value(at path: [any CodingKey]) throws -> JSONValue? {
    try context.document.value(of: node)
  }
}

/// A dictionary whose keys a key strategy leaves unchanged, as in `JSONDecoder`. It is a protocol
/// because only a cast can find the type of the values.
private protocol JSONStringDictionary {
  static func decode(_ node: Int, _ context: JSONItemContext, _ decoder: JSONValueDecoder) throws
    -> Self
}

extension Dictionary: JSONStringDictionary where Key == String, Value: Decodable {
  fileprivate static func decode(
    _ node: Int, _ context: JSONItemContext, _ decoder: JSONValueDecoder
  ) throws -> Self {
    let document = context.document
    guard document.word(at: node).kind == .object else {
      let problem: JSONProblem = document.word(at: node).kind == .null ? .null : .mismatch
      throw context.error(problem, [String: Any].self, node, decoder.place, nil)
    }
    var result: Self = [:]
    result.reserveCapacity(document.word(at: node).length)
    for name in document.names(of: node) {
      let key = try document.text(at: name)
      let value = try context.decode(
        Value.self, at: name + 1, in: decoder.place, key: JSONKey(key))
      if result[key] == nil { result[key] = value }
    }
    return result
  }
}

/// A list whose elements are decoded directly, without an unkeyed container. It is a protocol
/// because only a cast can find the type of the elements.
protocol JSONElementList {
  static func decode(by decoder: JSONValueDecoder) throws -> Self
}

extension Array: JSONElementList where Element: Decodable {
  static func decode(by decoder: JSONValueDecoder) throws -> Self {
    let (context, list) = (decoder.context, decoder.node)
    let word = context.word(at: list)
    guard word.isKind(.array) else { return try Self(from: decoder) }
    if let scalars = context.scalars(Element.self, of: list) { return scalars }
    var elements: Self = []
    elements.reserveCapacity(Swift.min(word.length, 32))
    var node = list + 2
    for index in 0..<word.length {
      elements.append(
        try context.decode(Element.self, at: node, in: decoder.place, key: JSONIndexKey(index)))
      node = JSONWord.next(after: node, on: context.tape)
    }
    return elements
  }
}

extension JSONItemContext {
  /// Returns the elements of a list; nil if they are not texts, numbers or truth values, or one of
  /// them does not fit.
  fileprivate func scalars<Element>(_ type: Element.Type, of list: Int) -> [Element]? {
    // Each case makes a list of exactly the type by which it was chosen.
    switch types.special(type) {
    case .string?:
      let texts = elements(of: list) { node throws(JSONProblem) in try string(at: node) }
      return unsafeBitCast(texts, to: [Element]?.self)
    case .int?:
      let numbers = elements(of: list) { node throws(JSONProblem) in
        try integer(Int.self, at: node)
      }
      return unsafeBitCast(numbers, to: [Element]?.self)
    case .double?:
      let numbers = elements(of: list) { node throws(JSONProblem) in
        try float(Double.self, at: node)
      }
      return unsafeBitCast(numbers, to: [Element]?.self)
    case .bool?:
      let values = elements(of: list) { node throws(JSONProblem) in try bool(at: node) }
      return unsafeBitCast(values, to: [Element]?.self)
    default: return nil
    }
  }

  @inline(__always)
  private func elements<Element>(
    of list: Int, _ read: (Int) throws(JSONProblem) -> Element
  ) -> [Element]? {
    let count = word(at: list).length
    var elements: [Element] = []
    elements.reserveCapacity(count)
    var node = list + 2
    for _ in 0..<count {
      guard let element = try? read(node) else { return nil }
      elements.append(element)
      node = JSONWord.next(after: node, on: tape)
    }
    return elements
  }
}

/// A type that does not decode itself: because `JSONDecoder` treats it so, or because the result is
/// the same and this is faster.
// SAFETY: types are constant.
enum JSONSpecialType: @unchecked Sendable {
  case string, int, double, bool, json, date, data, url, decimal
  case list(any JSONElementList.Type)

  fileprivate init?(_ type: Any.Type) {
    if type == Date.self {
      self = .date
    } else if type == JSONValue.self {
      self = .json
    } else if type == URL.self {
      self = .url
    } else if type == Data.self {
      self = .data
    } else if type == Decimal.self {
      self = .decimal
    } else if let list = type as? any JSONElementList.Type {
      self = .list(list)
    } else {
      return nil
    }
  }
}

/// A cache of the types decoded so far, and of which of them are special.
struct JSONKnownTypes {
  /// The most types kept. A page has few; others are looked up in `ofProcess` each time.
  private static var most: Int { 32 }

  /// The types decoded in this process: to classify a type takes as long as to decode a hundred
  /// values.
  private static let ofProcess = Mutex<[ObjectIdentifier: JSONSpecialType?]>([:])
  private static var mostOfProcess: Int { 4096 }

  private var known: [(type: ObjectIdentifier, special: JSONSpecialType?)] = []

  @inline(__always)
  mutating func special(_ type: Any.Type) -> JSONSpecialType? {
    if type == String.self { return .string }
    if type == Int.self { return .int }
    if type == Double.self { return .double }
    if type == Bool.self { return .bool }
    for index in known.indices where known[index].type == ObjectIdentifier(type) {
      return known[index].special
    }
    return learn(type)
  }

  @inline(never)
  private mutating func learn(_ type: Any.Type) -> JSONSpecialType? {
    let special = Self.ofProcess.withLock { types in
      if let known = types[ObjectIdentifier(type)] { return known }
      let special = JSONSpecialType(type)
      if types.count < Self.mostOfProcess {
        types.updateValue(special, forKey: ObjectIdentifier(type))
      }
      return special
    }
    if known.count < Self.most { known.append((ObjectIdentifier(type), special)) }
    return special
  }
}

/// Decoding values of any type.
extension JSONItemContext {
  /// Decodes the value under `key` at `place`.
  func decode<T: Decodable>(
    _ type: T.Type, at node: Int, in place: JSONPlace, key: some CodingKey
  ) throws -> T {
    switch types.special(type) {
    case nil: return try within(node, place, key) { try decode(type, $0) }
    case .list(let list): return try within(node, place, key) { try decode(type, list, $0) }
    case let special?:
      return try decode(special, type, node, place, key) { body in
        try within(node, place, key, body)
      }
    }
  }

  /// Decodes the value at `place`.
  func decode<T: Decodable>(_ type: T.Type, at node: Int, in place: JSONPlace) throws -> T {
    switch types.special(type) {
    case nil: return try within(node, place) { try decode(type, $0) }
    case .list(let list): return try within(node, place) { try decode(type, list, $0) }
    case let special?:
      return try decode(special, type, node, place, nil) { body in try within(node, place, body) }
    }
  }

  /// Decodes a list of the type `list`, which is `T`.
  private func decode<T, List: JSONElementList>(
    _ type: T.Type, _ list: List.Type, _ decoder: JSONValueDecoder
  ) throws -> T {
    unsafeBitCast(try list.decode(by: decoder), to: type)
  }

  @inline(__always)
  private func decode<T: Decodable>(_ type: T.Type, _ decoder: JSONValueDecoder) throws -> T {
    options.takesNamesAsTheyAre ? try T(from: decoder) : try decodeConverted(type, decoder)
  }

  /// Decodes a value under a key strategy, which leaves the keys of dictionaries unchanged.
  @inline(never)
  private func decodeConverted<T: Decodable>(
    _ type: T.Type, _ decoder: JSONValueDecoder
  ) throws -> T {
    if let dictionary = type as? any JSONStringDictionary.Type,
      let result = try dictionary.decode(decoder.node, self, decoder) as? T
    {
      return result
    }
    return try T(from: decoder)
  }

  private func decode<T>(
    _ special: JSONSpecialType, _ type: T.Type, _ node: Int, _ place: JSONPlace,
    _ key: @autoclosure () -> (any CodingKey)?,
    _ within: ((JSONValueDecoder) throws -> Any) throws -> Any
  ) throws -> T {
    do {
      // Each case makes a value of exactly the type by which it was chosen.
      switch special {
      case .string: return unsafeBitCast(try string(at: node), to: type)
      case .int: return unsafeBitCast(try integer(Int.self, at: node), to: type)
      case .double:
        return unsafeBitCast(try float(Double.self, at: node), to: type)
      case .bool: return unsafeBitCast(try bool(at: node), to: type)
      case .json:
        if let value = try document.value(of: node) as? T { return value }
      case .date: if let date = try date(node, place, key(), within) as? T { return date }
      case .data: if let data = try data(node, place, key(), within) as? T { return data }
      case .url: if let url = try url(node, place, key()) as? T { return url }
      case .decimal: if let value = try decimal(at: node) as? T { return value }
      case .list: break
      }
      throw JSONProblem.mismatch
    } catch let problem as JSONProblem {
      throw error(problem, type, node, place, key())
    }
  }

  private func date(
    _ node: Int, _ place: JSONPlace, _ key: (any CodingKey)?,
    _ within: ((JSONValueDecoder) throws -> Any) throws -> Any
  ) throws -> Any {
    if document.word(at: node).kind == .null { throw JSONProblem.null }
    do {
      switch options.dates {
      case .deferredToDate: return try within { try Date(from: $0) }
      case .secondsSince1970:
        return Date(
          timeIntervalSince1970: try float(Double.self, at: node))
      case .millisecondsSince1970:
        let milliseconds = try float(Double.self, at: node)
        return Date(timeIntervalSince1970: milliseconds / 1000)
      case .custom(let decode): return try within { try decode($0) }
      case .iso8601: break
      @unknown default: throw JSONProblem.mismatch
      }
    } catch let problem as JSONProblem {
      throw error(problem, Double.self, node, place, key)
    }
    if let date = JSONDate.parse(try text(at: node, place, key)) { return date }
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: decoderPath,
        debugDescription: "Expected date string to be ISO8601-formatted."))
  }

  private func data(
    _ node: Int, _ place: JSONPlace, _ key: (any CodingKey)?,
    _ within: ((JSONValueDecoder) throws -> Any) throws -> Any
  ) throws -> Any {
    if document.word(at: node).kind == .null { throw JSONProblem.null }
    switch options.data {
    case .deferredToData: return try within { try Data(from: $0) }
    case .custom(let decode): return try within { try decode($0) }
    case .base64: break
    @unknown default: throw JSONProblem.mismatch
    }
    if let data = Data(base64Encoded: try text(at: node, place, key)) { return data }
    throw corrupted("Encountered Data is not valid Base64.", node, place, key)
  }

  private func url(_ node: Int, _ place: JSONPlace, _ key: (any CodingKey)?) throws -> URL {
    if document.word(at: node).kind == .null { throw JSONProblem.null }
    if let url = URL(string: try text(at: node, place, key)) { return url }
    throw corrupted("Invalid URL string.", node, place, key)
  }

  /// Returns the text of which another value is made.
  private func text(
    at node: Int, _ place: JSONPlace, _ key: (any CodingKey)?
  ) throws -> String {
    do throws(JSONProblem) {
      return try string(at: node)
    } catch { throw self.error(error, String.self, node, place, key) }
  }
}

/// Errors for values that do not fit, in the words of `JSONDecoder`.
extension DecodingError {
  static func null(
    _ wanted: String, _ type: Any.Type, at path: [any CodingKey]
  ) -> DecodingError {
    .valueNotFound(
      type,
      .init(
        codingPath: path, debugDescription: "Cannot get \(wanted) -- found null value instead"))
  }

  static var tooDeep: DecodingError {
    .dataCorrupted(
      .init(
        codingPath: [],
        debugDescription: "The item nests more than \(JSONItemContext.deepest) containers."))
  }

  static func mismatch(
    _ type: Any.Type, found kind: JSONWord.Kind, at path: [any CodingKey]
  ) -> DecodingError {
    .typeMismatch(
      type,
      .init(
        codingPath: path,
        debugDescription: "Expected to decode \(type) but found \(kind.words) instead."))
  }
}

/// Errors for values that do not fit, with their paths, as in `JSONDecoder`.
extension JSONItemContext {
  @inline(never)
  func error(
    _ problem: JSONProblem, _ type: Any.Type, _ node: Int, _ place: JSONPlace,
    _ key: (any CodingKey)?
  ) -> any Error {
    let kind = document.word(at: node).kind
    switch problem {
    case .null where type != Bool.self:
      return DecodingError.null("value of type \(type)", type, at: path(place, key, node))
    case .null, .mismatch:
      return DecodingError.mismatch(type, found: kind, at: path(place, key, node))
    case .unfit:
      note(unfitNumber: node)
      let number = ServerText(bytes: document.bytes[document.range(of: node)], limit: 64)
      return DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "The number \(number) does not fit into \(type)."))
    case .text: return document.flawError(at: node)
    }
  }

  private func corrupted(
    _ words: String, _ node: Int, _ place: JSONPlace, _ key: (any CodingKey)?
  ) -> DecodingError {
    .dataCorrupted(.init(codingPath: path(place, key, node), debugDescription: words))
  }

  private func path(_ place: JSONPlace, _ key: (any CodingKey)?, _ node: Int) -> [any CodingKey] {
    codingPath(of: place, node: node) + (key.map { [$0] } ?? [])
  }
}

extension JSONWord.Kind {
  /// The name of the kind in messages of `JSONDecoder`.
  var words: String {
    switch self {
    case .null: "null"
    case .false, .true: "bool"
    case .number, .longNumber: "number"
    case .array: "an array"
    case .object: "a dictionary"
    default: "a string"
    }
  }
}

/// A parser of dates by `JSONDecoder.DateDecodingStrategy.iso8601`.
enum JSONDate {
  static func parse(_ text: String) -> Date? {
    var text = text
    if let seconds = text.withUTF8(seconds) { return Date(timeIntervalSince1970: seconds) }
    return try? Date.ISO8601FormatStyle().parse(text)
  }

  /// Returns the seconds since 1970 of a date like `2024-03-10T12:10:00Z`, the most common form;
  /// nil for other texts, and for years that the Gregorian calendar does not cover.
  private static func seconds(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    guard text.count == 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
      text[19] == UInt8(ascii: "Z"), let century = number(text, 0), let years = number(text, 2),
      let month = number(text, 5), let day = number(text, 8), let hour = number(text, 11),
      let minute = number(text, 14), let second = number(text, 17)
    else { return nil }
    let year = century * 100 + years
    guard year > 1582, hour < 24, second < 60 else { return nil }
    return CivilTime.seconds(year, month, day, hour, minute, Double(second))
  }

  /// Returns the number of two digits at `index`; nil for other characters.
  @inline(__always)
  private static func number(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
    let (tens, ones) = (text[index] &- UInt8(ascii: "0"), text[index + 1] &- UInt8(ascii: "0"))
    return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : nil
  }
}
