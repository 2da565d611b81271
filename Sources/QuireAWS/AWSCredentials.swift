import HTTPTypes
public import QuireHTTP
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Credentials for Amazon's services. Their description shows only the public half of the access
/// key.
public struct AWSCredentials: Hashable, Sendable {
  /// The public half of the access key, such as `AKIDEXAMPLE`.
  public var accessKey: String
  /// The secret half, which never leaves the process.
  public var secretKey: String
  /// The token of temporary credentials. Default nil: permanent credentials.
  public var sessionToken: String?

  /// Creates credentials; permanent unless they have a session token.
  public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
  }
}

extension AWSCredentials: CustomStringConvertible, CustomReflectable {
  /// The public half of the access key.
  public var description: String { "AWSCredentials(\(accessKey))" }

  /// Same as `description`, so that dumping shows no secret either.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension RequestSigner {
  /// Returns a signer by Amazon's Signature Version 4, in the Authorization field.
  ///
  /// ```swift
  /// configuration.signer = .aws(credentials, region: "eu-central-1", service: "dynamodb")
  /// ```
  /// Signs the host, the content type and every `x-amz-` field, with the body's digest, or the one
  /// in the request's `x-amz-content-sha256`, such as `UNSIGNED-PAYLOAD`. Also works for other
  /// servers with S3's protocol. Source: AWS General Reference, "Signing AWS API requests".
  /// - Parameters:
  ///   - credentials: The credentials to sign with.
  ///   - region: The service's region, such as `us-east-1`.
  ///   - service: The service's name in signatures, such as `s3`, `dynamodb` or `route53`.
  public static func aws(
    _ credentials: AWSCredentials, region: String, service: String
  ) -> RequestSigner {
    aws(region: region, service: service) { credentials }
  }

  /// Returns a signer like `aws(_:region:service:)`, with credentials that are requested for every
  /// request, because they expire.
  public static func aws(
    region: String, service: String,
    credentials: @escaping @Sendable () async throws -> AWSCredentials
  ) -> RequestSigner {
    RequestSigner { request, now in
      let signature = AWSSignature(
        credentials: try await credentials(), region: region, service: service)
      signature.sign(&request, at: now)
    }
  }
}
