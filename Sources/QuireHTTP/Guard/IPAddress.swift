#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An address of IPv4 or IPv6, independent of its notation.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// The kind of host that an address leads to.
  package enum Scope: String, Hashable, Sendable {
    /// A host on the internet.
    case global
    /// A private network, or one that a provider shares among its customers.
    case privateNetwork
    /// This machine.
    case loopback
    /// A host on the same link.
    case linkLocal
    /// A service that tells a machine in a cloud its identity and credentials.
    case metadata
    /// Not a host that a request could be meant for: reserved, for documentation, multicast.
    case special

    /// The scope in words, for use after "an address of".
    var words: String {
      switch self {
      case .global: "the internet"
      case .privateNetwork: "a private network"
      case .loopback: "this machine"
      case .linkLocal: "the local link"
      case .metadata: "a cloud's metadata service"
      case .special: "no host on the internet"
      }
    }
  }

  /// The bits of the address; for IPv4, in the lowest 32.
  let bits: UInt128
  let isIPv4: Bool
  /// Whether the address is written in hexadecimal groups.
  package var isIPv6: Bool { !isIPv4 }

  init(ipv4: UInt32) { (bits, isIPv4) = (UInt128(ipv4), true) }
  init(ipv6: UInt128) { (bits, isIPv4) = (ipv6, false) }

  /// Creates an address from its bytes in network order; nil unless these are 4 or 16.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    bits = bytes.reduce(0) { $0 << 8 | UInt128($1) }
    isIPv4 = bytes.count == 4
  }

  /// Parses a text in any form that system resolvers accept as an address: `127.0.0.1`, `127.1`,
  /// `0x7f.1`, `0177.0.0.1`, `2130706433`, `::1`, `[::ffff:127.0.0.1]`, `fe80::1%eth0`, and each of
  /// these with a final dot. Nil for a name.
  public init?(_ text: String) {
    // The fast path: each request parses several texts, most of which have this form or are names.
    if let bits = Self.dotted(text.utf8) {
      self.init(ipv4: bits)
      return
    }
    guard Self.mayBeAddress(text.utf8) else { return nil }
    var text = text[...]
    if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
    // The system reads a text up to a blank or a zero.
    guard text.utf8.allSatisfy({ $0 > 0x20 }) else { return nil }
    if text.contains(":") {
      var bytes = in6_addr()
      guard inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &bytes) == 1 else { return nil }
      self.init(ipv6: withUnsafeBytes(of: bytes) { $0.reduce(0) { $0 << 8 | UInt128($1) } })
    } else {
      if text.hasSuffix(".") { text = text.dropLast() }
      var bytes = in_addr()
      guard inet_aton(String(text), &bytes) != 0 else { return nil }
      self.init(ipv4: UInt32(bigEndian: bytes.s_addr))
    }
  }

  /// Parses four decimal numbers without leading zeros, the usual form.
  private static func dotted(_ text: String.UTF8View) -> UInt32? {
    var (bits, part, digits, dots): (UInt32, UInt32, Int, Int) = (0, 0, 0, 0)
    for byte in text {
      if byte == UInt8(ascii: "."), digits > 0, dots < 3 {
        bits = bits << 8 | part
        (part, digits, dots) = (0, 0, dots + 1)
      } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), digits == 0 || part > 0 {
        part = part * 10 + UInt32(byte - UInt8(ascii: "0"))
        digits += 1
        guard part < 256 else { return nil }
      } else {
        return nil
      }
    }
    return dots == 3 && digits > 0 ? bits << 8 | part : nil
  }

  /// Returns whether a text begins with a digit or a bracket, or contains a colon. All others are
  /// names.
  private static func mayBeAddress(_ text: String.UTF8View) -> Bool {
    guard let first = text.first else { return false }
    return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) || first == UInt8(ascii: "[")
      || text.contains(UInt8(ascii: ":"))
  }

  /// The dotted decimal form, or hexadecimal groups of which none is omitted.
  public var description: String {
    if isIPv4 {
      return (0..<4).reversed().map { "\(UInt8(truncatingIfNeeded: bits >> ($0 * 8)))" }.joined(
        separator: ".")
    }
    return (0..<8).reversed()
      .map { String(UInt16(truncatingIfNeeded: bits >> ($0 * 16)), radix: 16) }
      .joined(separator: ":")
  }
}

// MARK: - Scopes

extension IPAddress {
  /// The kind of host that the address leads to. If the address contains an IPv4 address, it is the
  /// scope of that one.
  ///
  /// Source: IANA's registries of special-purpose addresses (RFC 6890), and the documentation of
  /// clouds.
  package var scope: Scope {
    if isIPv4 { return Self.scope(ipv4: UInt32(truncatingIfNeeded: bits)) }
    if Self.metadata6.contains(bits) { return .metadata }
    if let inner = embedded { return inner }
    for (network, scope) in Self.table6 where network.contains(self) { return scope }
    return .special
  }

  /// The scope of the IPv4 address that an IPv6 address contains; nil if it contains none.
  private var embedded: Scope? {
    let low = IPAddress(ipv4: UInt32(truncatingIfNeeded: bits))
    switch bits >> 32 {
    // Mapped (RFC 4291, §2.5.5.2), translated (RFC 2765), and NAT64 (RFC 6052).
    case 0xFFFF, 0xFFFF_0000, 0x64_FF9B << 64: return low.scope
    // IPv4-compatible (RFC 4291, §2.5.5.1), which networks no longer route.
    case 0 where bits > 1: return low.scope == .global ? .special : low.scope
    default: break
    }
    // 6to4 (RFC 3056).
    if bits >> 112 == 0x2002 {
      return IPAddress(ipv4: UInt32(truncatingIfNeeded: bits >> 80)).scope
    }
    // ISATAP (RFC 5214).
    if (bits >> 32) & 0xFDFF_FFFF == 0x5EFE, low.scope != .global { return low.scope }
    return nil
  }

  private static func scope(ipv4 bits: UInt32) -> Scope {
    if metadata4.contains(bits) { return .metadata }
    let address = IPAddress(ipv4: bits)
    for (network, scope) in table4 where network.contains(address) { return scope }
    return .global
  }

  private static let metadata4: Set<UInt32> = [
    0xA9FE_A9FE, 0xA9FE_A9FD, 0xA9FE_AA02, 0xA9FE_AA17, 0xA9FE_2A2A, 0x6464_64C8, 0xA83F_8110,
    0xC000_00C0,
  ]

  // Amazon (23 is for the credentials of containers), Google, Oracle, Scaleway and OpenStack.
  private static let metadata6: [UInt128] = [
    "fd00:ec2::254", "fd00:ec2::253", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe",
    "fd00:42::42", "fe80::a9fe:a9fe",
  ].compactMap { IPAddress($0)?.bits }

  private static let table4: [(AddressNetwork, Scope)] = [
    ("0.0.0.0/8", .special), ("10.0.0.0/8", .privateNetwork), ("100.64.0.0/10", .privateNetwork),
    ("127.0.0.0/8", .loopback), ("169.254.0.0/16", .linkLocal), ("172.16.0.0/12", .privateNetwork),
    ("192.0.0.9/32", .global), ("192.0.0.10/32", .global), ("192.0.0.0/24", .special),
    ("192.0.2.0/24", .special), ("192.88.99.0/24", .special), ("192.168.0.0/16", .privateNetwork),
    ("198.18.0.0/15", .special), ("198.51.100.0/24", .special), ("203.0.113.0/24", .special),
    ("224.0.0.0/4", .special), ("240.0.0.0/4", .special),
  ].compactMap { text, scope in (try? AddressNetwork(text)).map { ($0, scope) } }

  private static let table6: [(AddressNetwork, Scope)] = [
    ("::1/128", .loopback), ("fc00::/7", .privateNetwork), ("fe80::/10", .linkLocal),
    ("fec0::/10", .privateNetwork), ("64:ff9b:1::/48", .privateNetwork), ("2001::/23", .special),
    ("2001:db8::/32", .special), ("3fff::/20", .special), ("2000::/3", .global),
  ].compactMap { text, scope in (try? AddressNetwork(text)).map { ($0, scope) } }
}
