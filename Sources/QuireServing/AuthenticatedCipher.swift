import CCrypto
import QuireCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// AES-256 in Galois/Counter Mode, by libcrypto. Source: NIST SP 800-38D.
enum AuthenticatedCipher {
  static let tagSize = 16

  /// Returns the ciphertext followed by the tag.
  static func seal(
    _ plain: [UInt8], key: [UInt8], nonce: [UInt8], authenticating other: [UInt8]
  ) throws -> [UInt8] {
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var written: Int32 = 0
    var sealed = [UInt8](repeating: 0, count: plain.count)
    var tag = [UInt8](repeating: 0, count: tagSize)
    guard EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
      EVP_EncryptUpdate(context, nil, &written, other, Int32(clamping: other.count)) == 1,
      EVP_EncryptUpdate(context, &sealed, &written, plain, Int32(clamping: plain.count)) == 1,
      EVP_EncryptFinal_ex(context, nil, &written) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagSize), &tag) == 1
    else {
      throw PageError(.sourceFailed, "libcrypto refuses to seal a token.", attempts: 0)
    }
    return sealed + tag
  }

  /// Returns the plaintext; nil if anything was changed.
  static func open(
    _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], authenticating other: [UInt8]
  ) -> [UInt8]? {
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var written: Int32 = 0
    var tag = Array(sealed.suffix(tagSize))
    let text = Array(sealed.dropLast(tagSize))
    var plain = [UInt8](repeating: 0, count: text.count)
    var nothing: [UInt8] = [0]
    guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
      EVP_DecryptUpdate(context, nil, &written, other, Int32(clamping: other.count)) == 1,
      EVP_DecryptUpdate(context, &plain, &written, text, Int32(clamping: text.count)) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagSize), &tag) == 1,
      EVP_DecryptFinal_ex(context, &nothing, &written) == 1
    else { return nil }
    return plain
  }
}

/// Base64 with the URL-safe alphabet, without padding. Source: RFC 4648, §5.
enum Base64URL {
  static func text(of bytes: [UInt8]) -> String {
    let digits = Data(bytes).base64EncodedData().prefix { $0 != UInt8(ascii: "=") }.map { digit in
      switch digit {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: digit
      }
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Returns the bytes; nil for text that `text(of:)` would not write, so that a token has one
  /// spelling.
  static func bytes(of text: String) -> [UInt8]? {
    var digits = text.utf8.map { digit in
      switch digit {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: digit
      }
    }
    while !digits.count.isMultiple(of: 4) { digits.append(UInt8(ascii: "=")) }
    guard let data = Data(base64Encoded: Data(digits)), self.text(of: Array(data)) == text else {
      return nil
    }
    return Array(data)
  }
}
