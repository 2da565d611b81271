import CCrypto
import HTTPTypes
import QuireHTTP
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One signature by Amazon's Signature Version 4, computed in the steps of its reference.
struct AWSSignature {
  var credentials: AWSCredentials
  var region: String
  var service: String

  /// Whether the service is S3, which encodes paths once and needs the body's digest in a field.
  private var isS3: Bool {
    ["s3", "s3-object-lambda", "s3-outposts", "s3express"].contains(service)
  }

  /// Signs the request by adding header fields.
  func sign(_ request: inout TransportRequest, at now: Date) {
    let time = Self.time(now)
    // A digest that the request has, such as `UNSIGNED-PAYLOAD`, is what a service compares with.
    let digest =
      value(of: "x-amz-content-sha256", in: request)
      ?? Digest.hexadecimal(Digest.sha256(request.body))
    set("x-amz-date", time, in: &request)
    if let token = credentials.sessionToken { set("x-amz-security-token", token, in: &request) }
    if isS3 { set("x-amz-content-sha256", digest, in: &request) }
    let fields = signedFields(of: request)
    let canonical = canonicalRequest(
      method: request.head.method.rawValue, target: request.head.path ?? "/", fields: fields,
      digest: digest)
    request.head.headerFields[.authorization] = authorization(
      for: canonical, fields: fields, time: time)
  }

  /// Returns the fields to sign, by lowercase name.
  private func signedFields(of request: TransportRequest) -> [(name: String, value: String)] {
    let fields = request.head.headerFields.compactMap { field -> (String, String)? in
      let name = field.name.canonicalName
      let isSigned = name.hasPrefix("x-amz-") || name == "content-type" || name == "range"
      return isSigned ? (name, field.value) : nil
    }
    // A field of the request's own is sent in place of the URL's host.
    if let host = value(of: "host", in: request) { return fields + [("host", host)] }
    var host = request.head.authority ?? ""
    // The scheme's default port is not sent.
    let port = request.head.scheme == "http" ? ":80" : ":443"
    if host.hasSuffix(port) { host.removeLast(port.count) }
    return fields + [("host", host)]
  }

  private func value(of name: String, in request: TransportRequest) -> String? {
    HTTPField.Name(name).flatMap { request.head.headerFields[$0] }
  }

  private func set(_ name: String, _ value: String, in request: inout TransportRequest) {
    guard let field = HTTPField.Name(name) else { return }
    request.head.headerFields[field] = value
  }

  /// Returns a time such as `20150830T123600Z`.
  static func time(_ date: Date) -> String {
    date.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
  }
}

// MARK: - The canonical request

extension AWSSignature {
  func canonicalRequest(
    method: String, target: String, fields: [(name: String, value: String)], digest: String
  ) -> String {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let canonical = canonicalFields(fields)
    return [
      method, canonicalPath(String(parts[0])),
      canonicalQuery(parts.count > 1 ? String(parts[1]) : ""),
      canonical.map { "\($0.name):\($0.value)\n" }.joined(),
      canonical.map(\.name).joined(separator: ";"), digest,
    ].joined(separator: "\n")
  }

  /// Returns the path in canonical form. S3 decodes it and encodes it in its own way; every other
  /// service removes dot segments and empty segments, and encodes the path a second time.
  private func canonicalPath(_ path: String) -> String {
    let path = path.isEmpty ? "/" : path
    guard !isS3 else {
      return PercentEncoding.encode(bytes: PercentEncoding.decodedBytes(path), allowing: "/")
    }
    var kept: [Substring] = []
    for segment in path.split(separator: "/") {
      switch segment {
      case ".": break
      case "..": _ = kept.popLast()
      default: kept.append(segment)
      }
    }
    let isFolder = path.hasSuffix("/") && !kept.isEmpty
    let normal = "/" + kept.joined(separator: "/") + (isFolder ? "/" : "")
    return PercentEncoding.encode(normal, allowing: "/")
  }

  private func canonicalQuery(_ query: String) -> String {
    query.split(separator: "&").map { parameter in
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let words = parts.map {
        PercentEncoding.encode(bytes: PercentEncoding.decodedBytes($0, plusIsSpace: true))
      }
      return (name: words[0], value: words.count > 1 ? words[1] : "")
    }
    .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
    .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
  }

  /// Returns each name once, sorted; values without surrounding or repeated blanks.
  private func canonicalFields(
    _ fields: [(name: String, value: String)]
  ) -> [(name: String, value: String)] {
    let values = Dictionary(grouping: fields) { $0.name.lowercased() }
    return values.sorted { $0.key < $1.key }.map { name, fields in
      let texts = fields.map { field in
        field.value.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      }
      return (name, texts.joined(separator: ","))
    }
  }
}

// MARK: - The signature

extension AWSSignature {
  func authorization(
    for canonical: String, fields: [(name: String, value: String)], time: String
  ) -> String {
    let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
    let digest = Digest.hexadecimal(Digest.sha256(Array(canonical.utf8)))
    let text = ["AWS4-HMAC-SHA256", time, scope, digest].joined(separator: "\n")
    var key = Array("AWS4\(credentials.secretKey)".utf8)
    for part in scope.split(separator: "/") { key = Digest.hmac(Array(part.utf8), key: key) }
    let signature = Digest.hexadecimal(Digest.hmac(Array(text.utf8), key: key))
    let names = canonicalFields(fields).map(\.name).joined(separator: ";")
    return "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope), "
      + "SignedHeaders=\(names), Signature=\(signature)"
  }
}

/// SHA-256 and HMAC with SHA-256, by OpenSSL's libcrypto.
enum Digest {
  private static let length = 32

  static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    Array(unsafeUninitializedCapacity: length) { digest, count in
      let result = SHA256(bytes, bytes.count, digest.baseAddress)
      precondition(result != nil, "libcrypto does not compute SHA-256")
      count = length
    }
  }

  /// Returns the HMAC with SHA-256 (RFC 2104).
  static func hmac(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    Array(unsafeUninitializedCapacity: length) { digest, count in
      var written: UInt32 = 0
      let result = HMAC(
        EVP_sha256(), key, Int32(clamping: key.count), bytes, bytes.count, digest.baseAddress,
        &written)
      precondition(result != nil, "libcrypto does not compute HMAC with SHA-256")
      count = Int(written)
    }
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
