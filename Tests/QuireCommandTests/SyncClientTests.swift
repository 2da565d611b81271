import Foundation
import Quire
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

@Suite("client of quire sync") struct SyncClientTests {
  /// A file with one listing of a server, in a folder of its own.
  private final class Place {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")
    let file: String

    init(_ client: String, _ server: FaultServer, listing: String = "") throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      file = folder.appending(path: "x.yaml").path
      let text = """
        to: x.db
        client: \(client)
        listings: {x: {url: '\(server.url("/x"))', key: id, preset: linkHeader\(listing)}}
        """
      try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func run(
      _ environment: [String: String] = [:], _ options: String...
    ) async throws -> Command.Ending {
      try await Command.quire(["sync", file] + options, environment: environment)
    }
  }

  @Test("16-Client: a sync gets bearer tokens by a form, and another one where one is refused")
  func renewsTokens() async throws {
    let tokens = Mutex(0)
    let server = try FaultServer { request in
      if request.path == "/token" {
        let number = tokens.withLock { count in
          count += 1
          return count
        }
        return [.respond("{\"access_token\":\"t\(number)\",\"expires_in\":3600}")]
      }
      // Of the first token the second page is no more.
      let token = request.values(of: "Authorization").first ?? ""
      let isFirst = !request.target.contains("page=2")
      guard token == "Bearer t2" || (isFirst && token == "Bearer t1") else {
        return [.respond("{}", status: "401 Unauthorized")]
      }
      let link = isFirst ? [("Link", "</x?page=2>; rel=\"next\"")] : []
      return [.respond("[{\"id\":\(isFirst ? 1 : 2)}]", headers: link)]
    }
    defer { server.stop() }
    let form = "{grant_type: client_credentials, client_secret: env:SECRET}"
    let place = try Place("{token: {url: '\(server.url("/token"))', form: \(form)}}", server)
    let missing = try await place.run()
    #expect(missing.status == 2 && missing.errors.contains("SECRET is not set"))
    #expect(server.requests.isEmpty)
    let ending = try await place.run(["SECRET": "a&b"])
    #expect(ending.status == 0, "\(ending.errors)")
    let asked = server.requests.filter { $0.path == "/token" }
    #expect(asked.count == 2)
    for request in asked {
      #expect(
        String(decoding: request.body, as: UTF8.self)
          == "grant_type=client_credentials&client_secret=a%26b")
      #expect(request.values(of: "Authorization").isEmpty)
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: place.folder.path)
    for name in files {
      let content = try Data(contentsOf: place.folder.appending(path: name))
      #expect(!String(decoding: content, as: UTF8.self).contains("a&b"), "\(name)")
    }
  }

  @Test(
    "16-Client: what a listing keeps elsewhere is missed before requests, and stored nowhere")
  func hidesParameters() async throws {
    let server = try FaultServer { request in
      let isFirst = !request.target.contains("page=2")
      let link = isFirst ? [("Link", "</x?page=2&who=k3y-5678>; rel=\"next\"")] : []
      return [.respond("[{\"id\":\(isFirst ? 1 : 2)}]", headers: link)]
    }
    defer { server.stop() }
    let place = try Place(
      "{}", server,
      listing: ", maxPages: 1, parameters: {who: 'env:WHO'}, headers: {X-Key: 'env:KEY'}")
    #expect(try await place.run([:], "--status").status == 0)
    for options in [[], ["--plan"]] {
      let missing = try await Command.quire(["sync", place.file] + options)
      #expect(
        missing.status == 2 && missing.errors.contains("KEY is not set"), "\(missing.errors)")
    }
    let secrets = ["WHO": "k3y-5678", "KEY": "k3y-1234"]
    #expect(try await place.run(secrets, "--plan").status == 0)
    #expect(server.requests.isEmpty)
    for _ in 0..<2 {
      let ending = try await place.run(["WHO": "k3y-5678", "KEY": "k3y-1234"])
      #expect(ending.status == 0, "\(ending.errors)")
      for name in try FileManager.default.contentsOfDirectory(atPath: place.folder.path) {
        let content = try Data(contentsOf: place.folder.appending(path: name))
        #expect(!String(decoding: content, as: UTF8.self).contains("k3y-5678"), "\(name)")
      }
    }
    #expect(server.requests.first?.target == "/x?who=k3y-5678")
    #expect(server.requests.last?.target == "/x?page=2&who=k3y-5678")
    #expect(server.requests.allSatisfy { $0.values(of: "X-Key") == ["k3y-1234"] })
  }

  @Test(
    "16-Client: a refresh token that the server changes is kept where it came from, or said to be lost"
  )
  func keepsRefreshTokens() async throws {
    let server = try FaultServer { request in
      guard request.path == "/token" else {
        let isKnown = request.values(of: "Authorization") == ["Bearer new"]
        return [
          .respond(isKnown ? "[{\"id\":1}]" : "{}", status: isKnown ? "200 OK" : "401 Unauthorized")
        ]
      }
      // Each refresh token is good once.
      let number =
        String(decoding: request.body, as: UTF8.self).split(separator: "refresh_token=r").last
        .flatMap { Int($0) } ?? 0
      return [.respond("{\"access_token\":\"new\",\"refresh_token\":\"r\(number + 1)\"}")]
    }
    defer { server.stop() }
    let token = "{token: {url: '\(server.url("/token"))', form: {refresh_token: TOKEN}}}"
    let place = try Place(token.replacing("TOKEN", with: "'@secret'"), server)
    let secret = place.folder.appending(path: "secret")
    try "r1\n".write(to: secret, atomically: true, encoding: .utf8)
    for next in 2...3 {
      let ending = try await place.run()
      #expect(ending.status == 0 && !ending.errors.contains("refresh"), "\(ending.errors)")
      #expect(try String(contentsOf: secret, encoding: .utf8) == "r\(next)\n")
    }
    let mode = try FileManager.default.attributesOfItem(atPath: secret.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    let other = try Place(token.replacing("TOKEN", with: "env:REFRESH"), server)
    let ending = try await other.run(["REFRESH": "r7"])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(
      ending.errors.contains("refresh_token: '@FILE'") && !ending.errors.contains("r8"),
      "\(ending.errors)")
  }

  @Test("16-Client: a refresh token that comes while a signal ends the sync is kept")
  func keepsLastRefreshToken() async throws {
    let gate = StallGate()
    let server = try FaultServer { _ in
      [.stall(until: gate), .respond("{\"access_token\":\"t\",\"refresh_token\":\"r2\"}")]
    }
    defer { server.stop() }
    let place = try Place(
      "{token: {url: '\(server.url("/token"))', form: {refresh_token: '@secret'}}}", server)
    let secret = place.folder.appending(path: "secret")
    try "r1\n".write(to: secret, atomically: true, encoding: .utf8)
    let command = try Command.shell("exec $quire " + CommandLineText.quoted(["sync", place.file]))
    try await server.received(1)
    command.send(signal: SIGTERM)
    await command.line { $0.contains("stopped") }
    gate.open()
    let ending = try await command.end()
    #expect(ending.status == 128 + SIGTERM && ending.wasKilled, "\(ending.errors)")
    #expect(try String(contentsOf: secret, encoding: .utf8) == "r2\n")
    withExtendedLifetime(place) {}
  }

  @Test("16-Client: a sync goes through the proxy that its file names, and keeps its rate")
  func goesThroughProxy() async throws {
    let server = try FaultServer { _ in [.respond("[{\"id\":1}]")] }
    defer { server.stop() }
    // A server that is asked for whole URLs is a proxy.
    let place = try Place("{proxy: '\(server.url())', rate: '100/m,burst=7'}", server)
    let ending = try await place.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(server.requests.map(\.target) == [server.url("/x")])
    let file = try SyncFile(path: place.file, forRequests: false)
    let rate = try #require(file.client.configuration.budget.rate)
    #expect(rate.count == 100 && rate.period == .seconds(60) && rate.burst == 7)
    let none = try Place("{rateReserve: 0}", server)
    let all = try SyncFile(path: none.file, forRequests: false)
    #expect(all.client.configuration.budget.reserve == 0)
    withExtendedLifetime(none) {}
  }

  @Test("16-Sync: the plan shows what a server wrote without anything that a terminal obeys")
  func escapesPlan() async throws {
    let server = try FaultServer { _ in [.respond(#"[{"id":1,"t":"a\u001b[31m\u202eb"}]"#)] }
    defer { server.stop() }
    let place = try Place("{}", server, listing: ", since: {field: /t, parameter: since}")
    let ending = try await place.run()
    #expect(ending.status == 0, "\(ending.errors)")
    let plan = try await place.run([:], "--plan")
    #expect(plan.output.contains("what has changed since a"), "\(plan.output)")
    #expect(!plan.output.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
  }

  @Test(
    "16-Client: retries and patience mean what they mean for an export",
    arguments: [
      ("{retries: 0}", 1, .zero), ("{retries: 0, patience: 2m}", 1, .seconds(120)),
      ("{retries: 9223372036854775807}", .max, .seconds(900)),
    ] as [(String, Int, Duration)])
  func takesRetries(client: String, attempts: Int, patience: Duration) throws {
    let server = try FaultServer { _ in [] }
    defer { server.stop() }
    let place = try Place(client, server)
    let retry = try SyncFile(path: place.file, forRequests: false).client.configuration.retry
    #expect(retry.attempts == attempts && retry.patience == patience)
    // An hour's limit, and some minutes.
    #expect(retry.maximumRetryAfter == .seconds(4_200))
    withExtendedLifetime(place) {}
  }

  @Test("16-Client: how long a server may ask to wait is set, and said where it is too long")
  func boundsRetryAfter() async throws {
    let server = try FaultServer { _ in
      [.respond("no", status: "429 Too Many Requests", headers: [("Retry-After", "14400")])]
    }
    defer { server.stop() }
    for (client, words) in [("{}", "1 h 10 min"), ("{maxRetryAfter: 3h}", "3 h")] {
      let ending = try await Place(client, server).run()
      #expect(
        ending.errors.contains("The server asks to wait 4 h, longer than \(words)."),
        "\(ending.errors)")
      #expect(
        ending.errors.contains("To wait for that long, raise client.maxRetryAfter."),
        "\(ending.errors)")
    }
    let place = try Place("{maxRetryAfter: 5h}", server)
    let retry = try SyncFile(path: place.file, forRequests: false).client.configuration.retry
    #expect(retry.maximumRetryAfter == .seconds(5 * 3600))
    withExtendedLifetime(place) {}
  }

  @Test("16-Client: a credential is not given to several servers, and what is none may be")
  func keepsCredentialsApart() async throws {
    let servers = try (0..<2).map { _ in try FaultServer { _ in [.respond("[{\"id\":1}]")] } }
    defer { servers.forEach { $0.stop() } }
    let place = try Place("{headers: {Authorization: 'Bearer t0ken'}}", servers[0])
    let text = try String(contentsOfFile: place.file, encoding: .utf8).replacing(
      "listings: {",
      with: "listings: {y: {url: '\(servers[1].url("/y"))', key: id, preset: linkHeader}, ")
    try text.write(toFile: place.file, atomically: true, encoding: .utf8)
    for options in [[], ["--plan"]] {
      let refused = try await Command.quire(["sync", place.file] + options)
      #expect(
        refused.status == 2
          && refused.errors.contains("headers.Authorization: the file names several servers"),
        "\(refused.errors)")
    }
    #expect(servers.allSatisfy { $0.requests.isEmpty })
    try text.replacing("Authorization: 'Bearer t0ken'", with: "Accept: text/json").write(
      toFile: place.file, atomically: true, encoding: .utf8)
    let ending = try await place.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(servers.allSatisfy { $0.requests.first?.values(of: "Accept") == ["text/json"] })
  }

  @Test(
    "16-Client: what cannot be meant is named with its place",
    arguments: [
      ("{rate: fast}", "client: rate fast: expected"),
      ("{rte: 5/s}", "Did you mean \"rate\"?"),
      ("{rateReserve: -1}", "client.rateReserve: expected a whole number from 0 on"),
      ("{proxy: 'ftp://x'}", "client: proxy: "),
      ("{addresses: home}", "client: addresses home: expected"),
      ("{certificate: {file: no.pem}}", "client: certificate.file: cannot read"),
      (
        "{token: {url: 'http://example.org/t', form: {}}}",
        "token.url: http://example.org would get"
      ),
    ])
  func refuses(client: String, words: String) async throws {
    let server = try FaultServer { _ in [] }
    defer { server.stop() }
    let ending = try await Place(client, server).run()
    #expect(ending.status == 2 && ending.errors.contains(words), "\(ending.errors)")
  }
}
