public import HTTPTypes
import QuirePagination

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The door to credentials that have to be renewed: tells what authorizes requests to one origin.
///
/// ```swift
/// struct Fixed: CredentialSource {
///   let origin = "https://api.example.com"
///   func credential(replacing refused: Credential?) -> Credential { .bearer("…") }
/// }
/// ```
/// A client asks when it first needs a credential, shortly before that one's lifetime ends, and when
/// the server has answered 401 to it. It asks once for all its walks: whichever need the credential
/// meanwhile wait for that one answer. `BearerTokenSource` is ready to use, and
/// `CredentialSourceConformance` in QuireTesting checks a source.
public protocol CredentialSource: Sendable {
  /// Scheme, host and port that the credentials are for, such as `https://api.example.com`. They are
  /// sent nowhere else: along no next link and no redirect.
  var origin: String { get }

  /// A credential for the requests from now on. `refused` is the one it is to replace, which the server
  /// has refused or whose lifetime ends; nil for the first.
  ///
  /// Called by one task at a time, which is never cancelled, and whose credential is kept even where no
  /// request waits for it any more: a server that has given another refresh token takes no older one.
  /// Time-outs are the source's own: requests wait for it for 15 minutes by the client's clock, and fail
  /// from then on until it has answered. What it throws fails each request that waited, too, with
  /// `credentialsFailed`; the next request asks again. Requests that it makes through the very client
  /// carry no credential.
  func credential(replacing refused: Credential?) async throws -> Credential
}

/// What authorizes a request: header fields, and how long they do. Printed, it shows their names alone.
public struct Credential: Hashable, Sendable {
  /// The fields, such as Authorization. They replace those of the same names in the request.
  public var fields: HTTPFields

  /// How long it is good for, from now on: an OAuth answer's `expires_in` (RFC 6749, §5.1). It is
  /// renewed a tenth of that earlier, at most a minute. Default nil: until the server says 401.
  public var lifetime: Duration?

  /// A credential of any fields.
  public init(fields: HTTPFields, lifetime: Duration? = nil) {
    self.fields = fields
    self.lifetime = lifetime
  }

  /// `Authorization: Bearer …` (RFC 6750, §2.1).
  public static func bearer(_ token: String, lifetime: Duration? = nil) -> Credential {
    Credential(fields: [.authorization: "Bearer \(token)"], lifetime: lifetime)
  }
}

extension Credential: CustomStringConvertible, CustomReflectable {
  /// The names of the fields.
  public var description: String {
    "Credential(\(fields.map { "\($0.name): …" }.joined(separator: ", ")))"
  }

  /// The same: what is dumped is read by people too.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// Bearer tokens that a closure gets, and gets anew when they are refused. Printed, it shows the origin alone.
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
  /// What the tokens are for.
  public let origin: String
  private let first: String?
  private let renew: @Sendable (_ refused: Credential?) async throws -> Credential

  /// Tokens for an origin.
  /// - Parameters:
  ///   - origin: Such as `https://api.example.com`.
  ///   - token: The one to begin with. Default: `renew` gives that too.
  ///   - renew: Gets a token; its argument is the one that is to be replaced.
  public init(
    for origin: String, token: String? = nil,
    renew: @escaping @Sendable (_ refused: Credential?) async throws -> Credential
  ) {
    self.origin = origin
    first = token
    self.renew = renew
  }

  /// The first token, or what the closure gives.
  public func credential(replacing refused: Credential?) async throws -> Credential {
    if refused == nil, let first { return .bearer(first) }
    return try await renew(refused)
  }
}

extension BearerTokenSource: CustomStringConvertible, CustomReflectable {
  /// The origin.
  public var description: String { "BearerTokenSource(\(origin))" }

  /// The same: what is dumped is read by people too.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// Signs requests once everything else is in them: for servers that want a signature of the very
/// URL, fields and body that go out.
///
/// ```swift
/// let signer = RequestSigner { request, now in
///   request.head.headerFields[.authorization] = "…"
/// }
/// ```
/// Called for every attempt and every page, on requests to a walk's home origin only. What it throws
/// fails the page. `QuireAWS` has one for Amazon's Signature Version 4.
public struct RequestSigner: Sendable {
  let sign: @Sendable (_ request: inout TransportRequest, _ now: Date) async throws -> Void

  /// A signer that changes the request; it gets the time of day.
  public init(
    _ sign:
      @escaping @Sendable (_ request: inout TransportRequest, _ now: Date) async throws ->
      Void
  ) {
    self.sign = sign
  }
}
