import QuireCurl
import QuirePagination
import ArgumentParser
import Foundation
import HTTPTypes
import Quire
import QuireCore

/// The arguments of every command that requests a listing: its address, and how to request it.
struct RequestArguments: ParsableArguments {
  @Argument(help: "The first page's URL.")
  var url: String

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A query parameter of the first request, in place of the URL's own.", valueName: "name=value")
  )
  var param: [String] = []

  @Option(
    name: [.customShort("H"), .long], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A header field. 'Name: env:VARIABLE' and 'Name: @file' keep secrets off the command line.",
      valueName: "name: value"))
  var header: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A text that is secret wherever it occurs, such as a token in the URL's path; env:VARIABLE and "
        + "@file as with -H.", valueName: "text"))
  var secret: [String] = []

  @Option(
    help: ArgumentHelp(
      "Which next links to follow: same-origin, rebase, upgrade-scheme, allow:HOST[,HOST].",
      valueName: "policy"))
  var links: String?

  @Option(
    help: ArgumentHelp(
      "Trust only the certificate authorities in this file.", valueName: "file.pem"),
    completion: .file())
  var caFile: String?

  @Flag(help: "Send requests in the clear to other machines.")
  var allowPlainHTTP = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "At most so many requests in a time, such as 5/s, 100/m or 5000/h; 100/m,burst=20 lets 20 come at "
        + "once after a rest. What the server says of its own limits is heeded anyway.",
      valueName: "n/time"))
  var rate: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How many requests of what the server allows to leave for other programs.", valueName: "n"))
  var rateReserve: Double?

  @Option(
    help: ArgumentHelp(
      "Which addresses servers may lead to: standard (no private ones, but for one's own origin), "
        + "public, any, or standard and networks such as allow:10.0.0.0/8,fd12::/16.",
      valueName: "policy"))
  var addresses: String?

  @Option(
    help: ArgumentHelp(
      "The proxy to go through, such as http://host:3128, or 'env' for what http_proxy, https_proxy, "
        + "all_proxy and no_proxy say; env:VARIABLE and @file as with -H. Default: none.",
      valueName: "url"))
  var proxy: String?

  @Option(
    help: ArgumentHelp(
      "A client certificate, in PEM, for the listing's own origin.",
      valueName: "file.pem"), completion: .file())
  var cert: String?

  @Option(
    help: ArgumentHelp(
      "The certificate's key, in PEM. Default: in the file of --cert.", valueName: "file.pem"),
    completion: .file())
  var certKey: String?
}

/// The arguments of commands that read listings of any format: method, body and format.
struct FormatArguments: ParsableArguments {
  enum Format: String, CaseIterable, ExpressibleByArgument { case auto, json, xml, csv, jsonl }

  @Option(
    help: "auto, json, xml, csv or jsonl. auto goes by Content-Type, then by the first bytes.")
  var format: Format = .auto

  @Option(help: "The request method. Default: GET, or POST with --data.")
  var method: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The request body, or @file.", valueName: "body"))
  var data: String?
}

extension FormatArguments.Format {
  /// Makes requests ask for the format, unless their own fields or the description's ask for
  /// another.
  func ask(by configuration: inout PageClient.Configuration) {
    let format: PageFormat
    switch self {
    case .auto: return
    case .json: format = .json
    case .xml: format = .xml
    case .csv: format = .csv
    case .jsonl: format = .jsonLines
    }
    configuration.headers[.accept] = PageFormat.accept([format])
  }
}

extension RequestArguments {
  /// Returns the URL with the parameters of the command line. Throws a usage error if it cannot be
  /// requested.
  func absoluteURL() throws -> String {
    guard url.contains("://") else {
      throw ValidationError("\"\(url)\" has no scheme; write http:// or https:// before it.")
    }
    let origin: Origin
    var reference: URLReference
    do {
      origin = try Origin(url: url)
      reference = try URLReference(url)
    } catch {
      throw ValidationError(error.message)
    }
    guard origin.isTrustworthy || allowPlainHTTP else {
      throw ValidationError(
        "\(origin) would get the request in the clear. Use https, or --allow-plain-http.")
    }
    reference.query = try query(reference.query)
    return reference.text
  }

  /// Returns the URL's query with the parameters of the command line. They replace the URL's own
  /// parameters of the same name; several of one name are all sent.
  private func query(_ own: String?) throws -> String? {
    let given = try param.map { parameter in
      guard let equals = parameter.firstIndex(of: "="), equals != parameter.startIndex else {
        throw ValidationError("A --param option has no name. Write --param NAME=VALUE.")
      }
      return (
        name: String(parameter[..<equals]),
        value: String(parameter[parameter.index(after: equals)...])
      )
    }
    return given.isEmpty ? own : QueryString(own).replacing(given).raw
  }

  /// Returns the request options with header fields and secrets.
  func options() throws -> PageClient.RequestOptions {
    var options = PageClient.RequestOptions()
    for text in header { options.headers.append(try HeaderOption.field(text)) }
    options.secrets = try secret.map { try HeaderOption.value($0, for: "--secret") }
    return options
  }

  /// Returns the request options with method, header fields and body. The form of a body without a
  /// Content-Type follows from the description or, without one, from its content.
  func options(
    _ format: FormatArguments, for pagination: Pagination?
  ) throws -> PageClient.RequestOptions {
    var options = try options()
    if let data = format.data {
      options.body = try BodyOption.body(
        data, contentType: options.headers[.contentType], for: pagination)
    }
    let name = format.method ?? (format.data == nil ? "GET" : "POST")
    guard let method = HTTPRequest.Method(name.uppercased()) else {
      throw ValidationError("--method \(name): not a method's name.")
    }
    options.method = method
    return options
  }

  /// Returns the link policy; nil for the description's own.
  func linkPolicy() throws -> LinkPolicy? { try links.map(LinksOption.policy) }

  /// Returns the transport. It allows `parallel` requests at a time to one host if that is more
  /// than its default.
  func transport(parallel: Int? = nil) throws -> CurlTransport {
    var configuration = CurlTransport.Configuration()
    configuration.allow(parallel ?? 1)
    if let file = caFile {
      try InputFile.checkReadable(file, for: "--ca-file")
      configuration.certificateAuthorities = .file(file)
    }
    if let proxy { configuration.proxy = try RouteOption.proxy(proxy) }
    if let cert {
      try InputFile.checkReadable(cert, for: "--cert")
      try certKey.map { try InputFile.checkReadable($0, for: "--cert-key") }
      configuration.clientCertificate = try ClientCertificate(
        for: url, file: cert, keyFile: certKey)
    } else if certKey != nil {
      throw ValidationError("--cert-key needs --cert: a key alone shows nothing.")
    }
    return configuration == CurlTransport.Configuration() ? .shared : CurlTransport(configuration)
  }

  /// Applies the options for addresses and rates.
  func limit(_ configuration: inout PageClient.Configuration) throws {
    configuration.allowsPlainHTTP = allowPlainHTTP
    if let addresses { configuration.addresses = try RouteOption.addresses(addresses) }
    if let rate { configuration.budget.rate = try RateOption.rate(rate) }
    if let reserve = rateReserve {
      guard reserve >= 0, reserve.isFinite else {
        throw ValidationError("--rate-reserve: expected a number of requests from 0 on.")
      }
      configuration.budget.reserve = reserve
    }
  }
}

/// `--data`: a request body, or `@file` with one in it.
enum BodyOption {
  /// Returns the body in a form into which the pagination can write its cursor.
  ///
  /// The Content-Type decides for a form or XML. Otherwise JSON text is JSON, and other text is
  /// what the description writes into, or bytes if it writes into no body. Without a description,
  /// text that begins with `<` is XML, and `name=value` is a form. `option` is the name for errors.
  static func body(
    _ text: String, contentType: String?, for pagination: Pagination?, option: String = "--data"
  ) throws -> PageRequest.Body {
    let bytes =
      text.hasPrefix("@")
      ? try InputFile.read(String(text.dropFirst()), for: option) : Array(text.utf8)
    let json = (try? JSONValue(parsing: bytes)).map(PageRequest.Body.json)
    // Bytes that are not UTF-8 stay bytes.
    guard let words = String(validating: bytes, as: UTF8.self) else { return .bytes(bytes) }
    let form = PageRequest.Body.form(words.trimmingCharacters(in: .newlines))
    let type = (contentType ?? "").lowercased().prefix { $0 != ";" }.filter { $0 != " " }
    if type == "application/x-www-form-urlencoded" { return form }
    if type.hasSuffix("/xml") || type.hasSuffix("+xml") { return .xml(words) }
    if let json { return json }
    guard let pagination else {
      if words.hasPrefix("<") { return .xml(words) }
      return words.wholeMatch(of: #/[^\s=]+=\S*\n?/#) == nil ? .bytes(bytes) : form
    }
    for placement in pagination.placements {
      switch placement {
      case .form: return form
      // If the placement depends on the body, XML only if the text begins like XML.
      case .xmlBody where pagination.hasAlternatives && !words.hasPrefix("<"): continue
      case .xmlBody: return .xml(words)
      case .jsonBody, .bodyMerge: throw noJSON(bytes, option)
      default: continue
      }
    }
    return .bytes(bytes)
  }

  /// Returns the error for a body that should be JSON, with the place where it is not.
  private static func noJSON(_ bytes: [UInt8], _ option: String) -> ValidationError {
    var reason = ""
    do {
      _ = try JSONValue(parsing: bytes)
    } catch {
      reason = " " + error.message
    }
    return ValidationError(
      "\(option): not JSON, and this description writes its cursor into a JSON body.\(reason)")
  }
}

extension Pagination {
  /// The places into which the description writes, or may write.
  fileprivate var placements: [Pagination.Placement] { sends.flatMap(Self.alternatives) }

  /// Whether these places depend on the request.
  fileprivate var hasAlternatives: Bool { placements.count > sends.count }

  private var sends: [Pagination.Placement] { next.routes(by: send).map(\.send) }

  private static func alternatives(_ placement: Pagination.Placement) -> [Pagination.Placement] {
    guard case .firstOf(let placements) = placement else { return [placement] }
    return placements.flatMap(alternatives)
  }
}

extension CurlTransport.Configuration {
  /// Lets so many requests be on their way to one host, where that is more than usual.
  mutating func allow(_ parallel: Int) {
    connectionsPerHost = max(connectionsPerHost, parallel)
    requestsPerHost = max(requestsPerHost, parallel)
    connectionsTotal = max(connectionsTotal, parallel)
  }
}
