import CCrypto
public import QuireCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A position, sealed for one's own clients: they can neither read nor change it, nor use it for another
/// query, nor after its time.
///
/// ```swift
/// let token = try PageToken(sealing: position, for: "/entries?tag=swift", with: keys)
/// let position = try PageToken(text).position(for: "/entries?tag=swift", with: keys)
/// ```
/// AES-256-GCM with a random nonce (NIST SP 800-38D), as text of the URL-safe alphabet without padding
/// (RFC 4648, §5). The first byte is the version, the next four name the key; they and the query are
/// authenticated. Whatever a client makes of a token, it is opened or refused, never something else.
public struct PageToken: Hashable, Sendable, CustomStringConvertible {
  /// The token, as it goes into a link or a body.
  public let text: String

  /// A token as a client sent it. Nothing is known of it before it is opened.
  public init(_ text: String) { self.text = text }

  /// The text.
  public var description: String { text }

  /// The most characters of a token; longer ones do not survive all URLs.
  private static let longest = 6_000
  private static let version: UInt8 = 1
  private static let headSize = 5
  private static let nonceSize = 12

  /// Seals a position.
  ///
  /// - Parameters:
  ///   - position: What is sealed. The listing that made it is not part of the token; `query` stands for
  ///     it.
  ///   - query: What the token is good for: everything that decides what the pages hold, such as path,
  ///     filters and user, in one form. Equal texts are one query.
  ///   - keys: The current one seals.
  ///   - lifetime: How long the token is good for. Default a day.
  ///   - now: The time from which that counts.
  ///
  /// Throws `PageError.Code.invalidArgument` for a position that makes a token of more than 6,000
  /// characters.
  public init(
    sealing position: Position, for query: String, with keys: Keys,
    lifetime: Duration = .seconds(86_400), now: Date = Date()
  ) throws {
    let expiry = now.timeIntervalSince1970 + Double(lifetime.components.seconds)
    guard expiry.magnitude < 1e15 else {
      throw PageError(
        .invalidArgument, "A token cannot be good for \(lifetime); give a shorter time.",
        attempts: 0)
    }
    var plain = Self.bytes(of: UInt64(max(0, expiry)))
    let members = [.number(String(position.itemOffset))] + (position.value.map { [$0] } ?? [])
    plain += Array(JSONValue.array(members).description.utf8)
    let head = [Self.version] + keys.current.name
    let nonce = SystemRandomNumberGenerator.bytes(Self.nonceSize)
    let sealed = try AuthenticatedCipher.seal(
      plain, key: keys.current.bytes, nonce: nonce, authenticating: head + Array(query.utf8))
    text = Base64URL.text(of: head + nonce + sealed)
    guard text.utf8.count <= Self.longest else {
      throw PageError(
        .invalidArgument,
        """
        The position makes a token of \(text.utf8.count) characters, and tokens have \(Self.longest) at \
        most. Keep the position at the server, and seal its name.
        """, attempts: 0)
    }
  }

  /// Opens the token.
  ///
  /// Throws `Refusal` where it was changed, made for another query or by another server, or is too old.
  public func position(
    for query: String, with keys: Keys, now: Date = Date()
  ) throws(Refusal) -> Position {
    guard text.utf8.count <= Self.longest, let bytes = Base64URL.bytes(of: text),
      bytes.count > Self.headSize + Self.nonceSize + AuthenticatedCipher.tagSize,
      bytes[0] == Self.version
    else { throw .malformed }
    let head = Array(bytes[..<Self.headSize])
    guard let key = keys.all.first(where: { $0.name == head[1...].map(\.self) }) else {
      throw .unknownKey
    }
    let nonce = Array(bytes[Self.headSize..<Self.headSize + Self.nonceSize])
    guard
      let plain = AuthenticatedCipher.open(
        Array(bytes[(Self.headSize + Self.nonceSize)...]), key: key.bytes, nonce: nonce,
        authenticating: head + Array(query.utf8))
    else { throw .notGenuine }
    let expiry = plain.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard plain.count > 8, Double(expiry) > now.timeIntervalSince1970 else { throw .expired }
    guard case .array(let members)? = try? JSONValue(parsing: Array(plain.dropFirst(8))),
      let offset = members.first?.integer, offset >= 0, members.count <= 2
    else { throw .malformed }
    return Position(members.count > 1 ? members[1] : nil, itemOffset: offset)
  }

  private static func bytes(of number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
  }
}

extension PageToken {
  /// Why a token is not accepted.
  public enum Refusal: String, Error, Hashable, Sendable {
    /// It is no token.
    case malformed
    /// It was sealed by a key that is not known, or not any longer.
    case unknownKey
    /// It was changed, or made for another query.
    case notGenuine
    /// Its time is over.
    case expired
  }

  /// A secret of one's own, from which the key of the cipher is derived. Printed, it shows nothing of either.
  public struct Key: Sendable {
    let bytes: [UInt8]
    let name: [UInt8]

    /// A key from a secret of at least 32 bytes; throws `PageError.Code.invalidArgument` for fewer.
    ///
    /// All servers of a service share it. Take a new one before 2³² tokens were sealed, as the nonces are
    /// random (NIST SP 800-38D, §8.3).
    public init(secret: [UInt8]) throws {
      guard secret.count >= 32 else {
        throw PageError(
          .invalidArgument,
          "The secret of a key has \(secret.count) bytes; give at least 32 random ones.",
          attempts: 0)
      }
      bytes = Self.derived(from: secret, for: "key")
      name = Array(Self.derived(from: secret, for: "name").prefix(4))
    }

    /// A key that lives as long as the value: for tests, and for tokens that need not outlive a process.
    public static func random() throws -> Key {
      try Key(secret: SystemRandomNumberGenerator.bytes(32))
    }

    /// HMAC with SHA-256 (RFC 2104).
    private static func derived(from secret: [UInt8], for purpose: String) -> [UInt8] {
      let text = Array("quire page token 1 \(purpose)".utf8)
      return [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
        var written: UInt32 = 0
        _ = HMAC(
          EVP_sha256(), secret, Int32(clamping: secret.count), text, text.count, digest.baseAddress,
          &written)
        count = Int(written)
      }
    }
  }

  /// The key that seals, and those whose tokens are still accepted.
  ///
  /// To rotate, make a new key the current one and the old one previous for a token's lifetime.
  public struct Keys: Sendable {
    let current: Key
    let all: [Key]

    /// Tokens are sealed by `current`, and opened by any of them.
    public init(_ current: Key, previous: [Key] = []) {
      self.current = current
      all = [current] + previous
    }
  }
}

extension PageToken.Key: CustomStringConvertible, CustomReflectable {
  /// That it is a key.
  public var description: String { "PageToken.Key(…)" }

  /// The same: what is dumped is read by people too.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension SystemRandomNumberGenerator {
  /// Random bytes of the system's generator.
  fileprivate static func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
