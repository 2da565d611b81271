import ArgumentParser
import Foundation
import HTTPTypes
import Quire
import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import Synchronization

/// The `client` member of a sync file, which sets for all requests what options of `quire export`
/// set.
struct SyncClient {
  let members: SyncMembers.Client
  /// The folder that paths are relative to.
  let folder: String
  /// The servers that the file names.
  let origins: Set<Origin>
  /// How many requests to one server are sent at a time; 1 stands for no limit but the order of pages.
  let parallel: Int

  /// Returns the client. What is kept elsewhere, such as in the environment, is read only for
  /// requests.
  func client(forRequests: Bool) throws -> PageClient {
    try SyncFileError.at("client") {
      let transport = try transport(forRequests: forRequests)
      return PageClient(
        transport: transport, configuration: try configuration(transport, forRequests: forRequests))
    }
  }

  /// The default of `maxRetryAfter`. Many servers count requests by the hour, and the first run of
  /// a large sync may use them up; the ten minutes more allow for clocks that differ.
  private static let maximumRetryAfter = Duration.seconds(70 * 60)

  private func configuration(
    _ transport: CurlTransport, forRequests: Bool
  ) throws -> PageClient.Configuration {
    var configuration = PageClient.Configuration.export
    configuration.allowsPlainHTTP = members.allowsPlainHTTP
    configuration.badItems = .throw
    configuration.retry.take(
      retries: members.retries,
      patience: try members.patience.map { try DurationOption.duration($0, for: "patience") })
    configuration.retry.maximumRetryAfter =
      try members.maxRetryAfter.map {
        try DurationOption.duration($0, for: "maxRetryAfter")
      } ?? Self.maximumRetryAfter
    if let rate = members.rate {
      configuration.budget.rate = try RateOption.rate(rate, for: "rate")
    }
    if parallel > 1 { configuration.budget.requestsPerHost = parallel }
    if let reserve = members.rateReserve { configuration.budget.reserve = Double(reserve) }
    if let addresses = members.addresses {
      configuration.addresses = try RouteOption.addresses(addresses, for: "addresses")
    }
    if origins.count > 1,
      let name = members.headers?.map(\.name).first(where: SecretName.matches)
    {
      throw ValidationError(
        "headers.\(name): the file names several servers, and all of them would get this credential. Write it into "
          + "the headers of the listings that it is for.")
    }
    if forRequests {
      configuration.headers = try SyncFile.headers(
        members.headers, at: "client.headers", in: folder)
      configuration.credentials = try token(transport, configuration)
    }
    return configuration
  }

  private func transport(forRequests: Bool) throws -> CurlTransport {
    var configuration = CurlTransport.Configuration()
    configuration.allow(parallel)
    if let file = try file(members.caFile, "caFile") {
      configuration.certificateAuthorities = .file(file)
    }
    if forRequests, let proxy = members.proxy {
      configuration.proxy = try RouteOption.proxy(
        SyncFile.secret(proxy, in: folder), for: "proxy")
    }
    if let certificate = members.certificate {
      configuration.clientCertificate = try ClientCertificate(
        for: try origin(certificate.server, "certificate"),
        file: try file(certificate.file, "certificate.file") ?? "",
        keyFile: try file(certificate.key, "certificate.key"))
    }
    return configuration == CurlTransport.Configuration() ? .shared : CurlTransport(configuration)
  }

  /// Returns the resolved path of a file. Throws if the file is not readable.
  private func file(_ path: String?, _ name: String) throws -> String? {
    guard let path = path.map({ SyncFile.resolved($0, in: folder) }) else { return nil }
    try InputFile.checkReadable(path, for: name)
    return path
  }

  /// Returns the server that a credential is for: the one that it names, or the only one of the
  /// file.
  private func origin(_ server: String?, _ name: String) throws -> String {
    if let server { return "\(try Origin(url: server))" }
    guard origins.count == 1, let origin = origins.first else {
      throw ValidationError(
        "\(name): the file names several servers. Say by for: which of them it is for.")
    }
    return "\(origin)"
  }

  // MARK: Tokens

  /// Returns a source of tokens; nil if the file has no `token`. It requests a token by a form (RFC
  /// 6749, §4.4, §6), and the next one before that expires or when it is refused.
  private func token(
    _ transport: CurlTransport, _ shared: PageClient.Configuration
  ) throws -> (any CredentialSource)? {
    guard let token = members.token else { return nil }
    let texts = token.fields.map {
      (name: $0.name, text: SyncFile.secret($0.value, in: folder))
    }
    let form = try texts.map {
      (name: $0.name, value: try HeaderOption.value($0.text, for: "token.form.\($0.name)"))
    }
    let origin = try Origin(url: token.url)
    guard origin.isTrustworthy || shared.allowsPlainHTTP else {
      throw ValidationError(
        "token.url: \(origin) would get secrets in the clear. Use https, or allowPlainHTTP.")
    }
    var configuration = shared
    configuration.headers = try SyncFile.headers(
      token.headers, at: "client.token.headers", in: folder)
    let client = PageClient(transport: transport, configuration: configuration)
    let refresh = form.firstIndex { $0.name == "refresh_token" }.map {
      RefreshToken(form[$0].value, writtenAs: texts[$0].text)
    }
    return BearerTokenSource(for: try self.origin(token.server, "token")) { _ in
      let fields = form.map { ($0.name == "refresh_token" ? refresh?.value : nil) ?? $0.value }
      var request = PageRequest(method: .post, url: token.url)
      request.body = .form(
        QueryString(nil).replacing(zip(form, fields).map { (name: $0.name, value: $1) }).raw ?? "")
      let answer = try await client.response(to: request).decode(Answer.self)
      if let next = answer.refreshToken { await refresh?.replace(with: next) }
      return .bearer(answer.token, lifetime: answer.seconds.map { .seconds($0) })
    }
  }

  /// The answer of a token server (RFC 6749, §5.1).
  private struct Answer: Decodable {
    let token: String
    let seconds: Int?
    let refreshToken: String?

    private enum CodingKeys: String, CodingKey {
      case token = "access_token"
      case seconds = "expires_in"
      case refreshToken = "refresh_token"
    }
  }
}

/// A refresh token that the server may replace at each renewal, which makes the old one invalid
/// (RFC 6749, §6; RFC 9700, §4.14.2). The file that it came from gets the new one for the next run.
private final class RefreshToken: Sendable {
  private let current: Mutex<String>
  private let file: ReportFile?

  /// Creates a token from its value and from its text in the sync file.
  init(_ value: String, writtenAs text: String) {
    current = Mutex(value)
    file = text.hasPrefix("@") && text != "@-" ? .file(String(text.dropFirst())) : nil
  }

  var value: String { current.withLock { $0 } }

  func replace(with new: String) async {
    guard
      current.withLock({ current in
        defer { current = new }
        return current != new
      })
    else { return }
    do {
      guard let file else {
        return Diagnostics.write(
          "quire: the server gave another refresh token, and the next run needs that. Name the token by a file, "
            + "refresh_token: '@FILE', and it is kept there.")
      }
      try await file.write(Data("\(new)\n".utf8))
    } catch {
      Diagnostics.write(
        "quire: the server gave another refresh token, which the next run needs, and it cannot be kept: \(error)"
      )
    }
  }
}
