/// A position as JSON: `{"value": …, "itemOffset": n, "seal": {…}}`, without what says nothing; the
/// start is `{}`.
///
/// The seal has the `version` of this form, a check sum over all the rest (`sum`), and the digests
/// by which the listing is known that made the position (`listing`). Without it nothing is known of the
/// position: a walk over a listing that can tell itself from others takes it only as `unchecked`.
extension Position: Codable {
  private enum CodingKeys: String, CodingKey { case value, itemOffset, seal }
  private enum SealKeys: String, CodingKey { case version, sum, listing, over }

  /// The form written here.
  private static let version = 1

  /// Any member's name.
  private struct MemberName: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads a stored position. A negative offset is refused, and so is an object with other members:
  /// taken for the start of the listing, it would lose everything that a walk had behind it. A seal
  /// must be of a version that is known, and its check sum must fit.
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

  /// Reads the seal of a position that is read but for it.
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
    guard try seal.decode(String.self, forKey: .sum) == checkSum else {
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

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(value.map(TaggedJSONValue.init), forKey: .value)
    if itemOffset > 0 { try fields.encode(itemOffset, forKey: .itemOffset) }
    guard self != .start else { return }
    var seal = fields.nestedContainer(keyedBy: SealKeys.self, forKey: .seal)
    try seal.encode(Self.version, forKey: .version)
    try seal.encode(checkSum, forKey: .sum)
    if isOver { try seal.encode(true, forKey: .over) }
    let parts = storedParts
    guard !parts.isEmpty else { return }
    var list = seal.nestedContainer(keyedBy: MemberName.self, forKey: .listing)
    for part in parts { try list.encode(part.value, forKey: MemberName(stringValue: part.name)) }
  }

  private var storedParts: [ListingIdentity.Part] {
    (listing?.parts ?? []).filter { !$0.value.isEmpty }
  }

  /// The CRC-32C of all that a stored position says, in eight hexadecimal digits.
  private var checkSum: String {
    var sum = CyclicCheck()
    sum.add("\(Self.version) \(itemOffset) \(isOver)")
    sum.add(value?.description ?? "")
    for part in storedParts.sorted(by: { $0.name < $1.name }) {
      sum.add(part.name)
      sum.add(part.value)
    }
    let digits = String(sum.value, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

/// CRC-32C (RFC 3720, §12.1), bit by bit: positions are small and seldom stored.
private struct CyclicCheck {
  private var register: UInt32 = .max

  var value: UInt32 { ~register }

  /// Adds a text, and what tells it from the next one.
  mutating func add(_ text: String) {
    for byte in text.utf8 { add(byte) }
    // No UTF-8 has this byte.
    add(0xFF)
  }

  private mutating func add(_ byte: UInt8) {
    register ^= UInt32(byte)
    for _ in 0..<8 { register = register >> 1 ^ (register & 1 == 1 ? 0x82F6_3B78 : 0) }
  }
}
