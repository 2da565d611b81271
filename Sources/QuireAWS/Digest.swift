import CCrypto

/// SHA-256 and its keyed form, by OpenSSL's libcrypto.
enum Digest {
  private static let length = 32

  static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    Array(unsafeUninitializedCapacity: length) { digest, count in
      _ = SHA256(bytes, bytes.count, digest.baseAddress)
      count = length
    }
  }

  /// HMAC with SHA-256 (RFC 2104).
  static func hmac(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    Array(unsafeUninitializedCapacity: length) { digest, count in
      var written: UInt32 = 0
      _ = HMAC(
        EVP_sha256(), key, Int32(key.count), bytes, bytes.count, digest.baseAddress, &written)
      count = Int(written)
    }
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
