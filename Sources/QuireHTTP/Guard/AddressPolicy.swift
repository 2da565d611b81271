public import QuireCore

/// The addresses that begin with the same bits, such as `10.0.0.0/8`, `fd12::/16` or a single
/// address.
package struct AddressNetwork: Hashable, Sendable, CustomStringConvertible {
  private let first: IPAddress
  private let length: Int

  /// Creates a network from an address, or from an address, a slash and the number of leading bits
  /// (RFC 4632, §3.1).
  ///
  /// Throws `invalidArgument` for malformed text.
  package init(_ text: String) throws(PageError) {
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

  /// Returns whether the network contains an address.
  package func contains(_ address: IPAddress) -> Bool {
    guard address.isIPv4 == first.isIPv4 else { return false }
    let shift = UInt128(first.width - length)
    return address.bits >> shift == first.bits >> shift
  }

  var isSingle: Bool { length == first.width }

  /// The first address and the number of leading bits, such as `10.0.0.0/8`.
  package var description: String { "\(first)/\(length)" }
}

extension IPAddress {
  fileprivate var width: Int { isIPv4 ? 32 : 128 }
}

/// The addresses that the requests of a walk may reach, because redirects, next links and the
/// addresses of names let a server choose where a program connects to.
///
/// The address of the connection is checked at every hop, regardless of its notation in a URL and
/// of earlier addresses of the same name.
public struct AddressPolicy: Hashable, Sendable {
  enum Reach: Hashable, Sendable { case standard, global, everything }

  let reach: Reach
  /// Networks that may be reached in addition; see `allowing(_:)`.
  package var networks: [AddressNetwork] = []
  /// The only ports that may be reached; nil for all ports. Default nil.
  public var ports: Set<Int>?

  /// The default policy. A walk that began at a public address reaches only public addresses. A
  /// walk that began at a private one, including those of this machine, reaches private addresses
  /// only at its own scheme, host and port, and at hosts that the `LinkPolicy` names. Metadata
  /// services of clouds and link-local addresses are reached only if the walk's own URL has the
  /// address itself.
  public static let standard = AddressPolicy(reach: .standard)
  /// A policy that allows only public addresses, even for the first request: for URLs from
  /// strangers, such as those of feeds.
  public static let publicOnly = AddressPolicy(reach: .global)
  /// A policy that allows every address: for servers of an intranet that are trusted to lead to
  /// each other.
  public static let unrestricted = AddressPolicy(reach: .everything)

  private init(reach: Reach) { self.reach = reach }

  /// Returns this policy with additional networks, each written as an address, or as the first
  /// address, a slash and the number of leading bits: `10.0.0.0/8`, `fd12::/16` (RFC 4632, §3.1). Of
  /// the metadata services in them, only those listed as single addresses may be reached.
  ///
  /// Throws `invalidArgument` for malformed text.
  public func allowing(_ networks: [String]) throws(PageError) -> AddressPolicy {
    var policy = self
    for network in networks { policy.networks.append(try AddressNetwork(network)) }
    return policy
  }
}
