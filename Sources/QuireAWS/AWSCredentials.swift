import HTTPTypes
public import QuireHTTP
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Who signs, as Amazon's services know them. Printed, it shows the access key's public half alone.
public struct AWSCredentials: Hashable, Sendable {
  /// The access key's public half, such as `AKIDEXAMPLE`.
  public var accessKey: String
  /// Its secret half; it never leaves the process.
  public var secretKey: String
  /// The token of temporary credentials. Default nil: they are permanent.
  public var sessionToken: String?

  /// Credentials; permanent unless they have a session token.
  public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
  }
}

extension AWSCredentials: CustomStringConvertible, CustomReflectable {
  /// The access key's public half.
  public var description: String { "AWSCredentials(\(accessKey))" }

  /// The same: what is dumped is read by people too.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension RequestSigner {
  /// Amazon's Signature Version 4, in the Authorization field.
  ///
  /// ```swift
  /// configuration.signer = .aws(credentials, region: "eu-central-1", service: "dynamodb")
  /// ```
  /// Signs the host, the content type and every `x-amz-` field, with the body's digest. Works for
  /// servers that speak S3's protocol, too. Source: AWS General Reference, "Signing AWS API
  /// requests".
  /// - Parameters:
  ///   - credentials: Who signs.
  ///   - region: Where the service is, such as `us-east-1`.
  ///   - service: Its name in signatures, such as `s3`, `dynamodb` or `route53`.
  public static func aws(
    _ credentials: AWSCredentials, region: String, service: String
  ) -> RequestSigner {
    aws(region: region, service: service) { credentials }
  }

  /// The same with credentials that are asked for anew for every request, because they expire.
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
