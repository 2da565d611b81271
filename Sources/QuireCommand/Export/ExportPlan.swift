import ArgumentParser
import Foundation
import HTTPTypes
import Logging
import Quire

/// An export, ready to run: every option understood, nothing requested yet.
struct ExportPlan: Sendable {
  var url: String
  var pagination: Pagination
  var format: ExportCommand.Format
  var isRaw: Bool
  var pageSize: Int?
  var request: PageClient.RequestOptions
  var limits: Limits
  var lookAhead: Int
  var start: Position
  var output: String?
  var badItems: BadItemsOption
  var xmlLimits = XMLLimits.api
  var progress: ProgressMeter.Mode
  var configuration: PageClient.Configuration
  var transport: CurlTransport

  /// Reads a command line's options. Throws a usage error that says which one cannot be right.
  init(_ command: ExportCommand) throws {
    url = try Self.url(command)
    pagination = try PaginationOption.description(command)
    format = command.format
    isRaw = command.raw
    pageSize = try Self.positive(command.pageSize, "--page-size")
    if pagination.size == nil, pagination.end.contains(.shortPage), let pageSize {
      // Nowhere to ask for it: it is what a full page has.
      pagination.size = PageSize(default: pageSize)
      self.pageSize = nil
    }
    request = try Self.request(command, for: pagination)
    limits = Limits(
      pages: try Self.positive(command.maxPages, "--max-pages"),
      items: try Self.positive(command.maxItems, "--max-items"))
    guard command.lookAhead >= 0 else {
      throw ValidationError("--look-ahead: a number of pages cannot be negative.")
    }
    lookAhead = command.lookAhead
    start = try command.from.map(PositionText.read) ?? .start
    output = command.output
    badItems = try BadItemsOption(command.badItems)
    progress = command.progress
    configuration = PageClient.Configuration()
    configuration.allowsPlainHTTP = command.allowPlainHTTP
    configuration.signer = try command.sign.map { try SignOption.signer($0) }
    configuration.badItems = badItems == .fail ? .throw : .collect
    transport = try Self.transport(command)
    for text in command.limit { try LimitOption.apply(text, to: &self) }
    try checkDescription(needsPageSize: command.end.contains("short"))
  }

  /// What the first request would throw, before anything is opened or emptied.
  private func checkDescription(needsPageSize: Bool) throws {
    if pageSize != nil, pagination.size?.send == nil {
      throw ValidationError(
        "--page-size: this description does not say where a page size goes. Say it by --size, such "
          + "as --size query:limit.")
    }
    do {
      let first = PageRequest(
        method: request.method, url: url, headerFields: request.headers, body: request.body)
      let engine = try PaginationEngine(
        pagination, first: first, home: try Origin(url: url), pageSize: pageSize)
      if needsPageSize, engine.pageSize == nil {
        throw ValidationError("--end short: say by --page-size how many items a full page has.")
      }
    } catch let error as PageError {
      throw ValidationError(OptionWords.applied(to: error.message))
    }
  }

  private static func url(_ command: ExportCommand) throws -> String {
    let origin: Origin
    var url: URLReference
    do {
      origin = try Origin(url: command.url)
      url = try URLReference(command.url)
    } catch {
      throw ValidationError(error.message)
    }
    guard origin.scheme == "https" || origin.isLoopback || command.allowPlainHTTP else {
      throw ValidationError(
        "\(origin) would get the request in the clear. Use https, or --allow-plain-http.")
    }
    for parameter in command.param {
      guard let equals = parameter.firstIndex(of: "="), equals != parameter.startIndex else {
        throw ValidationError("A --param option has no name. Write --param NAME=VALUE.")
      }
      let name = PercentEncoding.encode(String(parameter[..<equals]), allowing: "$[]")
      let value = PercentEncoding.encode(String(parameter[parameter.index(after: equals)...]))
      url.query = (url.query.map { $0 + "&" } ?? "") + "\(name)=\(value)"
    }
    return url.text
  }

  private static func request(
    _ command: ExportCommand, for pagination: Pagination
  ) throws -> PageClient.RequestOptions {
    var options = PageClient.RequestOptions()
    for text in command.header { options.headers.append(try HeaderOption.field(text)) }
    if let data = command.data {
      options.body = try BodyOption.body(
        data, contentType: options.headers[.contentType], for: pagination)
    }
    let name = command.method ?? (command.data == nil ? "GET" : "POST")
    guard let method = HTTPRequest.Method(name.uppercased()) else {
      throw ValidationError("--method \(name): not a method's name.")
    }
    options.method = method
    return options
  }

  private static func transport(_ command: ExportCommand) throws -> CurlTransport {
    guard let file = command.caFile else { return .shared }
    _ = try InputFile.read(file, for: "--ca-file")
    return CurlTransport(CurlTransport.Configuration(certificateAuthorities: .file(file)))
  }

  private static func positive(_ value: Int?, _ option: String) throws -> Int? {
    if let value, value < 1 { throw ValidationError("\(option): must be at least 1.") }
    return value
  }
}
