/// Spellings of addresses that a walk from a public host must not reach, as hosts of URLs.
package enum AddressVectors {
  /// Addresses of each kind, and the edges of networks.
  package static let blocked4 = [
    "127.0.0.1", "127.0.0.2", "127.255.255.254", "10.0.0.1", "10.255.255.255", "172.16.0.1",
    "172.31.255.255", "192.168.0.1", "192.168.255.255", "169.254.169.254", "169.254.0.1",
    "169.254.170.2", "0.0.0.0", "0.255.255.255", "100.64.0.1", "100.127.255.255",
    "100.100.100.200", "192.0.0.1", "192.0.0.192", "198.18.0.1", "198.19.255.255", "192.0.2.1",
    "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1",
    "255.255.255.255", "168.63.129.16",
  ]

  package static let blocked6 = [
    "::", "::1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fd00:ec2::254", "fd20:ce::254",
    "fdff:ffff::1", "ff02::1", "ff05::2", "2001:db8::1", "2001::1", "2001:0:7f00:1::", "2001:10::1",
    "3fff::1", "100::1", "64:ff9b:1::a00:1", "4000::1", "5f00::1", "0:0:0:0:0:0:0:1",
    "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:0a00:0001::", "::ffff:0:7f00:1",
    "2607:f8b0::5efe:a9fe:a9fe",
  ]

  /// Public addresses, some of which look like blocked ones.
  package static let free = [
    "8.8.8.8", "1.1.1.1", "11.0.0.1", "172.32.0.1", "192.169.0.1", "100.128.0.1", "192.0.0.9",
    "198.20.0.1", "223.255.255.255", "0x08080808", "134744072", "[2606:4700::1111]",
    "[64:ff9b::808:808]", "[::ffff:8.8.8.8]", "[2002:808:808::1]", "[2a00:1450::200e]",
  ]

  /// Every spelling of every blocked address.
  package static let hosts: [String] =
    blocked4.flatMap(spellings) + blocked6.flatMap { ["[\($0)]", "[\($0.uppercased())]"] }
    + [
      "localhost", "localhost.", "LOCALHOST", "a.localhost", "metadata.google.internal",
      "127.0.0.1.",
    ]

  private static func spellings(_ address: String) -> [String] {
    let parts = address.split(separator: ".").compactMap { UInt32($0) }
    let bits = parts.reduce(0) { $0 << 8 | $1 }
    func hex(_ value: UInt32) -> String { "0x" + String(value, radix: 16) }
    func octal(_ value: UInt32) -> String { "0" + String(value, radix: 8) }
    let groups = String(bits >> 16, radix: 16) + ":" + String(bits & 0xFFFF, radix: 16)
    return [
      address, address + ".", "\(bits)", hex(bits), "0X" + String(bits, radix: 16).uppercased(),
      octal(bits), parts.map(hex).joined(separator: "."), parts.map(octal).joined(separator: "."),
      "\(parts[0]).\(bits & 0xFF_FFFF)", "\(parts[0]).\(parts[1]).\(bits & 0xFFFF)",
      "\(hex(parts[0])).\(octal(parts[1])).\(bits & 0xFFFF)",
      parts.map { "000" + octal($0) }.joined(separator: "."), "[::ffff:\(address)]",
      "[::FFFF:\(groups)]", "[0:0:0:0:0:ffff:\(groups)]", "[64:ff9b::\(address)]",
      "[64:ff9b:0:0:0:0:\(groups)]", "[::\(address)]", "[2002:\(groups)::1]",
      "[::ffff:0:\(groups)]",
    ]
  }
}
