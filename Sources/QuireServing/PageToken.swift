import CCrypto
public import QuireCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A position sealed for a server's clients, who can neither read nor change it, nor use it for
/// another query or after it expires.
///
/// ```swift
/// let token = try PageToken(sealing: position, for: "/entries?tag=swift", with: keys)
/// let position = try PageToken(text).position(for: "/entries?tag=swift", with: keys)
/// ```
/// AES-256-GCM with a random nonce (NIST SP 800-38D), as unpadded URL-safe Base64 (RFC 4648, §5).
/// The first byte is the version and the next four name the key; they and the query are
/// authenticated. A token from a client is either genuine or refused.
public struct PageToken: Hashable, Sendable, CustomStringConvertible {
  /// The token as text, for a link or a body.
  public let text: String

  /// Creates a token from a client's text, which is not verified yet.
  public init(_ text: String) { self.text = text }

  /// Same as `text`.
  public var description: String { text }

  /// The most characters of a token, because longer URLs do not work everywhere.
  private static let longest = 6_000
  private static let version: UInt8 = 1
  private static let headSize = 5
  private static let nonceSize = 12

  /// Seals a position.
  ///
  /// - Parameters:
  ///   - position: The position to seal. Its listing is not part of the token; `query` stands for
  ///     it.
  ///   - query: The query that the token is valid for: everything that decides what the pages
  ///     contain, such as path, filters and user, in one canonical form.
  ///   - keys: The keys; the current one seals.
  ///   - lifetime: How long the token is valid. Default a day.
  ///   - now: The time at which the lifetime starts.
  ///
  /// Throws `PageError.Code.invalidArgument` if the token would have more than 6,000 characters or
  /// be valid for more than some 30 million years.
  public init(
    sealing position: Position, for query: String, with keys: Keys,
    lifetime: Duration = .seconds(86_400), now: Date = Date()
  ) throws {
    let expiry = now.timeIntervalSince1970 + Double(lifetime.components.seconds)
    guard expiry.magnitude < 1e15 else {
      throw PageError(
        .invalidArgument, "A token cannot be valid for \(lifetime); give a shorter time.",
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
  /// Throws `Refusal` if it was changed, is for another query or from another server, or has
  /// expired.
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
  /// The reason why a token is refused.
  public enum Refusal: String, Error, Hashable, Sendable {
    /// The text is not a token.
    case malformed
    /// The key is unknown or no longer accepted.
    case unknownKey
    /// The token was changed, or is for another query.
    case notGenuine
    /// The token has expired.
    case expired
  }

  /// A secret of the server, from which the cipher's key is derived. Its description shows neither.
  public struct Key: Sendable {
    let bytes: [UInt8]
    let name: [UInt8]

    /// Creates a key from a secret of at least 32 bytes. Throws `PageError.Code.invalidArgument`
    /// for fewer.
    ///
    /// All servers of a service share the secret. Because nonces are random, replace it before 2³²
    /// tokens are sealed (NIST SP 800-38D, §8.3).
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

    /// Returns a random key, for tests and for tokens that need not outlive the process.
    public static func random() throws -> Key {
      try Key(secret: SystemRandomNumberGenerator.bytes(32))
    }

    /// Returns the HMAC with SHA-256 (RFC 2104) of a purpose, with the secret as its key.
    private static func derived(from secret: [UInt8], for purpose: String) -> [UInt8] {
      let text = Array("quire page token 1 \(purpose)".utf8)
      return [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
        var written: UInt32 = 0
        let result = HMAC(
          EVP_sha256(), secret, Int32(clamping: secret.count), text, text.count, digest.baseAddress,
          &written)
        // Sealing reads 32 bytes of the key.
        precondition(result != nil && written == 32, "libcrypto does not compute HMAC with SHA-256")
        count = Int(written)
      }
    }
  }

  /// The key that seals tokens, and the keys whose tokens are still accepted.
  ///
  /// To rotate, make a new key the current one and the old one previous for a token's lifetime.
  public struct Keys: Sendable {
    let current: Key
    let all: [Key]

    /// Creates keys: `current` seals, and all of them open.
    public init(_ current: Key, previous: [Key] = []) {
      self.current = current
      all = [current] + previous
    }
  }
}

extension PageToken.Key: CustomStringConvertible, CustomReflectable {
  /// Says only that it is a key.
  public var description: String { "PageToken.Key(…)" }

  /// Same as `description`, so that dumping shows no secret either.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension SystemRandomNumberGenerator {
  /// Returns random bytes from the system's generator.
  fileprivate static func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
