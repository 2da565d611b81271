/// Who signs, as Amazon's services know them.
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
