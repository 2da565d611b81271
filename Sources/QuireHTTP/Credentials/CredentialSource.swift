public import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A source of credentials that have to be renewed, for requests to one origin.
///
/// ```swift
/// struct Fixed: CredentialSource {
///   let origin = "https://api.example.com"
///   func credential(replacing refused: Credential?) -> Credential { .bearer("…") }
/// }
/// ```
/// A client asks the source when it first needs a credential, shortly before the credential's
/// lifetime ends, and when the server has answered 401. It asks once for all of its walks, which
/// wait for the same result. `BearerTokenSource` is a ready implementation;
/// `CredentialSourceConformance` in QuireTesting checks a source.
public protocol CredentialSource: Sendable {
  /// The scheme, host and port of the requests that get the credentials, such as
  /// `https://api.example.com`. No next link or redirect takes the credentials elsewhere.
  var origin: String { get }

  /// Returns the credential for later requests. `refused` is the credential to replace, which the
  /// server has refused or whose lifetime ends; nil for the first call.
  ///
  /// Called by one task at a time. The task is never cancelled, and its result is kept even if no
  /// request waits for it any more, because a server that has issued a new refresh token accepts no
  /// older one. Set time-outs yourself: requests wait for 15 minutes by the client's clock, and
  /// after that fail until the source returns. An error fails the waiting requests with
  /// `credentialsFailed`; the next request asks again. Requests that the source sends through the
  /// same client carry no credential.
  func credential(replacing refused: Credential?) async throws -> Credential
}

/// Header fields that authorize requests, and their lifetime. The description shows only the names
/// of the fields.
public struct Credential: Hashable, Sendable {
  /// The fields, such as Authorization. They replace fields of the request with the same names.
  public var fields: HTTPFields

  /// The remaining lifetime, such as `expires_in` in an answer of OAuth (RFC 6749, §5.1). The
  /// credential is renewed earlier by a tenth of it, at most by a minute. Default nil: renewed when
  /// the server answers 401.
  public var lifetime: Duration?

  /// Creates a credential with any header fields.
  public init(fields: HTTPFields, lifetime: Duration? = nil) {
    self.fields = fields
    self.lifetime = lifetime
  }

  /// Creates the credential `Authorization: Bearer …` (RFC 6750, §2.1).
  public static func bearer(_ token: String, lifetime: Duration? = nil) -> Credential {
    Credential(fields: [.authorization: "Bearer \(token)"], lifetime: lifetime)
  }
}

extension Credential: CustomStringConvertible, CustomReflectable {
  /// The names of the fields.
  public var description: String {
    "Credential(\(fields.map { "\($0.name): …" }.joined(separator: ", ")))"
  }

  /// The description only, because dumped values are read by people, too.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// A source of bearer tokens that a closure gets, and gets again when they are refused. The
/// description shows only the origin.
///
/// ```swift
/// let plain = PageClient()
/// var configuration = PageClient.Configuration()
/// configuration.credentials = BearerTokenSource(for: "https://api.example.com") { _ in
///   let answer = try await plain.response(
///     to: PageRequest(method: .post, url: tokenURL, body: .form(grant)))
///   let token = try answer.decode(Token.self)
///   return .bearer(token.accessToken, lifetime: .seconds(token.expiresIn))
/// }
/// ```
public struct BearerTokenSource: CredentialSource {
  /// The origin of the requests that get the tokens.
  public let origin: String
  private let first: String?
  private let renew: @Sendable (_ refused: Credential?) async throws -> Credential

  /// Creates a source of tokens for an origin.
  /// - Parameters:
  ///   - origin: The origin, such as `https://api.example.com`.
  ///   - token: The first token. Default nil: `renew` gets the first one, too.
  ///   - renew: Returns a new token. Its argument is the credential to replace; nil for the first.
  public init(
    for origin: String, token: String? = nil,
    renew: @escaping @Sendable (_ refused: Credential?) async throws -> Credential
  ) {
    self.origin = origin
    first = token
    self.renew = renew
  }

  /// Returns the first token if there is one, and later the result of the closure.
  public func credential(replacing refused: Credential?) async throws -> Credential {
    if refused == nil, let first { return .bearer(first) }
    return try await renew(refused)
  }
}

extension BearerTokenSource: CustomStringConvertible, CustomReflectable {
  /// The origin.
  public var description: String { "BearerTokenSource(\(origin))" }

  /// The description only, because dumped values are read by people, too.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// A signer of complete requests, for servers that require a signature of the exact URL, fields and
/// body.
///
/// ```swift
/// let signer = RequestSigner { request, now in
///   request.head.headerFields[.authorization] = "…"
/// }
/// ```
/// Called for every attempt and every page, for requests to a walk's home origin only. Its errors
/// fail the page. `QuireAWS` has a signer for Amazon's Signature Version 4.
public struct RequestSigner: Sendable {
  let sign: @Sendable (_ request: inout TransportRequest, _ now: Date) async throws -> Void

  /// Creates a signer that changes requests. `now` is the time of day.
  public init(
    _ sign:
      @escaping @Sendable (_ request: inout TransportRequest, _ now: Date) async throws ->
      Void
  ) {
    self.sign = sign
  }
}
