public import QuireCore

/// Addresses that begin with the same bits, such as `10.0.0.0/8`, `fd12::/16` or a single one.
public struct AddressNetwork: Hashable, Sendable, CustomStringConvertible {
  private let first: IPAddress
  private let length: Int

  /// Reads an address, or one with the number of bits that count behind a slash (RFC 4632, §3.1).
  ///
  /// Throws `invalidArgument`.
  public init(_ text: String) throws(PageError) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(String(parts[0])),
      let length = parts.count == 1 ? address.width : Int(parts[1]),
      (0...address.width).contains(length)
    else {
      throw PageError(
        .invalidArgument,
        "\(ServerText(text, limit: 64)) is no network; write it as 10.0.0.0/8 or fd12::/16.")
    }
    (first, self.length) = (address, length)
  }

  /// Whether an address is one of them.
  public func contains(_ address: IPAddress) -> Bool {
    guard address.isIPv4 == first.isIPv4 else { return false }
    let shift = UInt128(first.width - length)
    return address.bits >> shift == first.bits >> shift
  }

  var isSingle: Bool { length == first.width }

  /// The first address, and how many bits count.
  public var description: String { "\(first)/\(length)" }
}

extension IPAddress {
  fileprivate var width: Int { isIPv4 ? 32 : 128 }
}

/// Which addresses the requests of a walk may reach: what a server, by a redirect, a next link or its
/// name's address, may make a program connect to.
///
/// It is the address that is connected which counts, on every hop, however a URL spells it and whatever a
/// name resolved to before.
public struct AddressPolicy: Hashable, Sendable {
  enum Reach: Hashable, Sendable { case standard, global, everything }

  let reach: Reach
  /// Networks that may be reached besides; see `allowing(_:)`.
  public var networks: [AddressNetwork] = []
  /// The only ports that may be reached; nil for any. Default nil.
  public var ports: Set<Int>?

  /// A walk that began at a public address reaches public ones alone. One that began at a private
  /// address, be it of this machine, reaches private ones at its own scheme, host and port alone, and where
  /// the `LinkPolicy` allows a host by name. The metadata services of clouds and what is on the same wire
  /// are reached only where the walk's own URL has their very address. The default.
  public static let standard = AddressPolicy(reach: .standard)
  /// Public addresses alone, from the first request on: for URLs that come from strangers, such as those
  /// of feeds.
  public static let publicOnly = AddressPolicy(reach: .global)
  /// Every address: where servers of an intranet lead to each other, and are trusted.
  public static let unrestricted = AddressPolicy(reach: .everything)

  private init(reach: Reach) { self.reach = reach }

  /// This policy, and these networks; of the metadata services in them only one that is named by its
  /// very address.
  public func allowing(_ networks: [AddressNetwork]) -> AddressPolicy {
    var policy = self
    policy.networks += networks
    return policy
  }
}
