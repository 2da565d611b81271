/// Where a page starts: an opaque, lossless, small value that outlives the process.
///
/// A page source writes what it needs into `value` (a token, an offset, a link) and gets it back
/// unchanged. Store a position as JSON, and a new process continues at exactly the next page or,
/// with `itemOffset`, at exactly the next item.
///
/// A position also records the listing that made it, if the source can tell listings apart, as HTTP
/// sources can. A walk over another listing refuses it with `PageError.Code.positionMismatch`,
/// which names the differences; see `unchecked`. Two positions are equal when `value` and
/// `itemOffset` are.
public struct Position: Sendable {
  /// The value by which the source finds the page; nil for the start of the listing.
  public var value: JSONValue?

  /// The number of items at the front of the page that were already delivered. Default 0.
  public var itemOffset: Int

  /// The listing that made the position; nil if it was made by hand, or by a source that cannot
  /// tell listings apart.
  package var listing: ListingIdentity?

  /// What is remembered of the pages that led here; nil if nothing is.
  package var trail: Trail?

  /// Creates a position on the page that `value` leads to, `itemOffset` items in.
  public init(_ value: JSONValue?, itemOffset: Int = 0) {
    self.value = value
    self.itemOffset = itemOffset
  }

  /// The start of every listing.
  public static let start = Position(nil)

  /// The page this position lies in, without the offset inside it.
  public var page: Position { at(itemOffset: 0) }

  /// The same place without the listing that made it, so that a walk over any listing accepts it.
  ///
  /// For positions that were written by hand, stored by an earlier version, or made by a listing
  /// whose differences do not matter. If they do matter, items are lost or repeated.
  public var unchecked: Position { Position(value, itemOffset: itemOffset) }

  /// Returns the position `itemOffset` items into the same page.
  package func at(itemOffset: Int) -> Position {
    var position = self
    position.itemOffset = itemOffset
    return position
  }

  /// The position as reported once its walk is over: marked as no longer resumable, if the walk
  /// closes what the server held for it.
  package var afterWalk: Position {
    guard self != .start, let listing else { return self }
    var position = self
    position.listing = listing.over
    return position
  }

  /// The position as a value inside another one: `{"value": …, "itemOffset": n}`, without its seal.
  package var json: JSONValue {
    var members: [JSONValue.Member] = []
    if let value { members.append(.init("value", value)) }
    if itemOffset > 0 { members.append(.init("itemOffset", .number("\(itemOffset)"))) }
    return .object(members)
  }

  /// Creates a position from the form that `json` writes.
  package init(json: JSONValue) {
    self.init(json["value"], itemOffset: max(0, json["itemOffset"]?.integer ?? 0))
  }

  /// Whether only the walk that made the position could continue from it, and that walk is over.
  package var isOver: Bool { listing?.isOver ?? false }
}

extension Position: Hashable {
  /// Whether both are the same place, whichever listings made them.
  public static func == (left: Position, right: Position) -> Bool {
    left.itemOffset == right.itemOffset && left.value == right.value
  }

  /// Hashes the members that `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(value)
    hasher.combine(itemOffset)
  }
}

extension Position: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
  /// Creates a position whose value is a string.
  public init(stringLiteral value: String) { self.init(.string(value)) }
  /// Creates a position whose value is a whole number.
  public init(integerLiteral value: Int) { self.init(.number(String(value))) }
}

/// A position is stored as `{"value": …, "itemOffset": n, "seal": {…}}`, without members that have
/// their default value; the start is `{}`.
///
/// The seal holds the `version` of this form, a check sum over everything else (`sum`), the digests
/// of the listing that made the position (`listing`), whether its walk is over (`over`), and what it
/// remembers of the pages before it (`trail`).
/// Without a seal the listing is unknown: a walk over a listing that can tell itself from others
/// accepts the position only as `unchecked`.
extension Position: Codable {
  private enum CodingKeys: String, CodingKey { case value, itemOffset, seal }
  private enum SealKeys: String, CodingKey { case version, sum, listing, over, trail }

  /// The version of the form that is written.
  private static let version = 1

  /// Reads a stored position.
  ///
  /// Throws for a negative offset and for unknown members: an object of another kind, taken for the
  /// start of the listing, would lose all that a walk has achieved. A seal must have a known
  /// version and a check sum that fits.
  public init(from decoder: any Decoder) throws {
    let names = try decoder.container(keyedBy: MemberName.self).allKeys
    if let name = names.first(where: { CodingKeys(stringValue: $0.stringValue) == nil }) {
      throw Self.error(
        decoder,
        "A position has the members \"value\", \"itemOffset\" and \"seal\", not "
          + "\"\(name.stringValue)\".")
    }
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    value =
      try fields.contains(.value) ? fields.decode(TaggedJSONValue.self, forKey: .value).value : nil
    itemOffset = try fields.decodeIfPresent(Int.self, forKey: .itemOffset) ?? 0
    guard itemOffset >= 0 else {
      throw Self.error(
        decoder, "A position's itemOffset is \(itemOffset); it counts items and cannot be negative."
      )
    }
    listing = .unknown
    if fields.contains(.seal) { try open(decoder, fields) }
  }

  /// Reads the seal, once all other members are read.
  private mutating func open(
    _ decoder: any Decoder, _ fields: KeyedDecodingContainer<CodingKeys>
  ) throws {
    let names = try fields.nestedContainer(keyedBy: MemberName.self, forKey: .seal).allKeys
    if let name = names.first(where: { SealKeys(stringValue: $0.stringValue) == nil }) {
      throw Self.error(decoder, "A position's seal has no \"\(name.stringValue)\".")
    }
    let seal = try fields.nestedContainer(keyedBy: SealKeys.self, forKey: .seal)
    let version = try seal.decode(Int.self, forKey: .version)
    guard version == Self.version else {
      throw Self.error(
        decoder,
        "A position has the form \(version), and this version of Quire reads the form "
          + "\(Self.version). Go on with the version that stored it, or begin at the start.")
    }
    let parts = try seal.decodeIfPresent([String: String].self, forKey: .listing) ?? [:]
    listing = ListingIdentity(
      parts: parts.sorted { $0.key < $1.key }.map { .init($0.key, $0.value, $0.key) },
      isOver: try seal.decodeIfPresent(Bool.self, forKey: .over) ?? false)
    let trail = try seal.decodeIfPresent(String.self, forKey: .trail)
    self.trail = trail.flatMap { Trail($0) }
    guard try seal.decode(String.self, forKey: .sum) == checkSum(trail) else {
      throw Self.error(
        decoder,
        "A position is damaged: its check sum does not fit. Go on from an earlier one, or begin at "
          + "the start.")
    }
  }

  private static func error(_ decoder: any Decoder, _ message: String) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(codingPath: decoder.codingPath, debugDescription: message))
  }

  /// Writes the form described above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(value.map(TaggedJSONValue.init), forKey: .value)
    if itemOffset > 0 { try fields.encode(itemOffset, forKey: .itemOffset) }
    guard self != .start else { return }
    var seal = fields.nestedContainer(keyedBy: SealKeys.self, forKey: .seal)
    try seal.encode(Self.version, forKey: .version)
    try seal.encode(checkSum(trail?.text), forKey: .sum)
    if isOver { try seal.encode(true, forKey: .over) }
    try seal.encodeIfPresent(trail?.text, forKey: .trail)
    let parts = storedParts
    guard !parts.isEmpty else { return }
    var list = seal.nestedContainer(keyedBy: MemberName.self, forKey: .listing)
    for part in parts { try list.encode(part.value, forKey: MemberName(stringValue: part.name)) }
  }

  private var storedParts: [ListingIdentity.Part] {
    (listing?.parts ?? []).filter { !$0.value.isEmpty }
  }

  /// Returns the CRC-32C of everything else in a stored position, in eight hexadecimal digits.
  private func checkSum(_ trail: String?) -> String {
    var sum = CyclicCheck()
    sum.add("\(Self.version) \(itemOffset) \(isOver)")
    sum.add(value?.description ?? "")
    for part in storedParts.sorted(by: { $0.name < $1.name }) {
      sum.add(part.name)
      sum.add(part.value)
    }
    if let trail {
      sum.add("trail")
      sum.add(trail)
    }
    return sum.text
  }
}

/// CRC-32C (RFC 3720, §12.1), computed bit by bit: sealed texts are usually a few KiB, and are
/// stored once per commit.
package struct CyclicCheck {
  private var register: UInt32 = .max

  package init() {}

  private var value: UInt32 { ~register }

  /// The sum in eight hexadecimal digits.
  package var text: String { value.padded(to: 8, radix: 16) }

  /// Adds a text and a separator, so that "ab" and "c" differ from "a" and "bc".
  package mutating func add(_ text: String) {
    for byte in text.utf8 { add(byte) }
    // No UTF-8 text contains this byte.
    add(0xFF)
  }

  private mutating func add(_ byte: UInt8) {
    register ^= UInt32(byte)
    for _ in 0..<8 { register = register >> 1 ^ (register & 1 == 1 ? 0x82F6_3B78 : 0) }
  }
}

/// A JSON value in the form in which positions store it, which survives any encoder without loss.
///
/// Encoders cannot be trusted with numbers: most go through `Double`. So a number whose text a
/// 64-bit integer does not reproduce is written as `{"number": "1e400"}`, and an object as
/// `{"object": [["name", value], …]}`, which also keeps the order of its members. Everything else
/// is written as it is.
package struct TaggedJSONValue: Codable {
  package let value: JSONValue

  private enum Tag: String, CodingKey { case number, object }

  package init(_ value: JSONValue) { self.value = value }

  /// Reads the form that `encode(to:)` writes.
  package init(from decoder: any Decoder) throws {
    if let tagged = try? decoder.container(keyedBy: Tag.self) {
      value = try Self.decode(tagged: tagged)
      return
    }
    if var list = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !list.isAtEnd { elements.append(try list.decode(TaggedJSONValue.self).value) }
      value = .array(elements)
      return
    }
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      value = .null
    } else if let truth = try? single.decode(Bool.self) {
      value = .bool(truth)
    } else if let integer = try? single.decode(Int64.self) {
      value = .number(String(integer))
    } else {
      value = .string(try single.decode(String.self))
    }
  }

  private static func decode(tagged: KeyedDecodingContainer<Tag>) throws -> JSONValue {
    if let text = try tagged.decodeIfPresent(String.self, forKey: .number) {
      return .number(text)
    }
    var pairs = try tagged.nestedUnkeyedContainer(forKey: .object)
    var members: [JSONValue.Member] = []
    while !pairs.isAtEnd {
      var pair = try pairs.nestedUnkeyedContainer()
      let name = try pair.decode(String.self)
      members.append(.init(name, try pair.decode(TaggedJSONValue.self).value))
    }
    return .object(members)
  }

  /// Writes numbers and objects so that nothing is lost.
  package func encode(to encoder: any Encoder) throws {
    switch value {
    case .number(let text) where Int64(text).map({ String($0) }) != text:
      var tagged = encoder.container(keyedBy: Tag.self)
      try tagged.encode(text, forKey: .number)
    case .null, .bool, .string, .number: try value.encode(to: encoder)
    case .array(let elements):
      var list = encoder.unkeyedContainer()
      for element in elements { try list.encode(TaggedJSONValue(element)) }
    case .object(let members):
      var tagged = encoder.container(keyedBy: Tag.self)
      var pairs = tagged.nestedUnkeyedContainer(forKey: .object)
      for member in members {
        var pair = pairs.nestedUnkeyedContainer()
        try pair.encode(member.name)
        try pair.encode(TaggedJSONValue(member.value))
      }
    }
  }
}
