/// Where a page starts: an opaque, lossless, small value that outlives the process.
///
/// A page source writes whatever it needs into `value` (a token, an offset, a link) and gets it
/// back unchanged. Store a position as JSON and a new process goes on at exactly the next page, or,
/// with `itemOffset`, at exactly the next item. Encodes as `{"value": …, "itemOffset": n}`; both
/// members are left out when they say nothing.
public struct Position: Hashable, Sendable {
  /// What the source needs to find the page; nil is the start of the listing.
  public var value: JSONValue?

  /// How many items at the front of the page were already handed out. Default 0.
  public var itemOffset: Int

  /// A position at the page that `value` leads to, `itemOffset` items in.
  public init(_ value: JSONValue?, itemOffset: Int = 0) {
    self.value = value
    self.itemOffset = itemOffset
  }

  /// The start of every listing.
  public static let start = Position(nil)

  /// The page this position lies in, without the offset inside it.
  public var page: Position { Position(value) }
}

extension Position: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  /// A position that is a text.
  public init(stringLiteral value: String) { self.init(.string(value)) }
  /// A position that is a whole number.
  public init(integerLiteral value: Int) { self.init(.number(String(value))) }
}

extension Position: Codable {
  private enum CodingKeys: String, CodingKey { case value, itemOffset }

  /// Any member's name.
  private struct MemberName: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads a stored position; a negative offset is refused, and so is an object with other members:
  /// taken for the start of the listing, it would lose everything that a walk had behind it.
  public init(from decoder: any Decoder) throws {
    let names = try decoder.container(keyedBy: MemberName.self).allKeys
    if let name = names.first(where: { CodingKeys(stringValue: $0.stringValue) == nil }) {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath,
          debugDescription:
            "A position has the members \"value\" and \"itemOffset\", not \"\(name.stringValue)\".")
      )
    }
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    value =
      try fields.contains(.value) ? fields.decode(TaggedJSONValue.self, forKey: .value).value : nil
    itemOffset = try fields.decodeIfPresent(Int.self, forKey: .itemOffset) ?? 0
    guard itemOffset >= 0 else {
      throw DecodingError.dataCorruptedError(
        forKey: .itemOffset, in: fields,
        debugDescription:
          "A position's itemOffset is \(itemOffset); it counts items and cannot be negative.")
    }
  }

  /// Writes `{"value": …, "itemOffset": n}`, without what says nothing.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(value.map(TaggedJSONValue.init), forKey: .value)
    if itemOffset > 0 { try fields.encode(itemOffset, forKey: .itemOffset) }
  }
}
