#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension FeedEntry {
  /// By what an entry is known again within its feed: its identifier; without one, its canonical
  /// address; without one, a digest of its title, text and files.
  public struct Identity: Hashable, Sendable, Codable {
    /// What the identity is made of.
    public enum Kind: String, Hashable, Sendable, Codable {
      case id, link, digest
    }

    /// What the identity is made of.
    public let kind: Kind
    /// The identifier, the address, or 32 hexadecimal digits.
    public let value: String

    init(_ kind: Kind, _ value: String) {
      self.kind = kind
      self.value = value
    }

    /// An identifier that can stand alone: a digest as `urn:quire:digest:…`.
    public var text: String { kind == .digest ? "urn:quire:digest:" + value : value }
  }

  /// By what the entry is known again within its feed.
  public var identity: Identity {
    if let id { return Identity(.id, id) }
    if let link { return Identity(.link, link) }
    return Identity(.digest, digest)
  }

  /// The canonical address, else the page's; nil where the entry has none. Its fragment counts: entries
  /// may be places of one page.
  var link: String? { canonicalURL ?? url ?? externalURL }

  /// A digest of what people see of the entry: title, summary, text, files. The same in every process;
  /// no cryptographic one, for what it tells apart is one publisher's own.
  public var digest: String { digest(withPlace: false) }

  /// The digest, of its address and the time of its publication as well.
  func digest(withPlace hasPlace: Bool) -> String {
    var digest = StableDigest()
    for text in [title, summary, content] { digest.add(text?.value ?? "") }
    digest.add(content?.source ?? "")
    for enclosure in enclosures { digest.add(enclosure.url) }
    if hasPlace {
      digest.add(link ?? "")
      digest.add(published.map { "\($0.timeIntervalSince1970)" } ?? "")
    }
    return digest.text
  }
}

/// FNV-1a of 128 bits (http://www.isthe.com/chongo/tech/comp/fnv/).
struct StableDigest {
  private var state: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

  mutating func add(_ text: String) {
    for byte in text.utf8 { add(byte) }
    // Where one text ends counts; no byte of UTF-8 is this.
    add(0xFF)
  }

  private mutating func add(_ byte: UInt8) {
    state ^= UInt128(byte)
    state = state &* 0x0000_0000_0100_0000_0000_0000_0000_013b
  }

  var text: String {
    let digits = String(state, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }
}
