import QuirePagination
import QuireXML
import ArgumentParser
import Foundation
import Quire
import QuireExport

/// An export, ready to run: every option understood, nothing requested yet.
struct ExportPlan: Sendable {
  var url: String
  var pagination: Pagination
  /// How this command line can follow the library's advice.
  var words: RemedyWords
  var format: FormatArguments.Format
  var isRaw: Bool
  var pageSize: Int?
  var request: PageClient.RequestOptions
  var limits: Limits
  var lookAhead: Int
  var start: Position
  /// Whether the destination is begun anew, whatever it holds.
  var restarts: Bool
  var commits: CommitPolicy
  /// Pages that load at once, where their positions are known.
  var parallel: Int?
  var files: OutputFiles
  var badItems: BadItemsOption
  var xmlLimits = XMLLimits.api
  var progress: ProgressMeter.Mode
  /// What writes lines of JSON; nil where people read.
  var log: EventLog?
  var configuration: PageClient.Configuration
  var transport: CurlTransport

  /// Reads a command line's options. Throws a usage error that says which one cannot be right.
  init(_ command: ExportCommand) throws {
    url = try command.request.absoluteURL()
    pagination = try PaginationOption.description(command)
    words = RemedyWords(isDescribed: command.next == nil)
    format = command.format.format
    isRaw = command.raw
    pageSize = try Self.positive(command.pageSize, "--page-size")
    if pagination.size == nil, pagination.end.contains(.shortPage), let pageSize {
      // Nowhere to ask for it: it is what a full page has.
      pagination.size = Pagination.PageSize(default: pageSize)
      self.pageSize = nil
    }
    request = try command.request.options(command.format, for: pagination)
    request.expectsTotal = command.total != nil
    limits = Limits(
      pages: try Self.positive(command.maxPages, "--max-pages"),
      items: try Self.positive(command.maxItems, "--max-items"),
      bytes: try command.maxBytes.map { try SizeOption.bytes($0, for: "--max-bytes") },
      duration: try command.maxTime.map { try DurationOption.duration($0, for: "--max-time") },
      requests: try Self.positive(command.maxRequests, "--max-requests"))
    guard command.lookAhead >= 0 else {
      throw ValidationError("--look-ahead: a number of pages cannot be negative.")
    }
    lookAhead = command.lookAhead
    let point =
      command.restart
      ? nil : try command.from.map { try ResumePoint($0, isChecked: !command.unchecked) }
    guard !command.unchecked || command.from != nil else {
      throw ValidationError("--unchecked needs --from: there is nothing to check.")
    }
    start = point?.position ?? .start
    restarts = command.restart
    commits = try Self.commits(command)
    parallel = try Self.positive(command.parallel, "--parallel")
    badItems = try BadItemsOption(command.badItems)
    log = command.log == .json ? EventLog() : nil
    progress = log == nil ? command.progress : .never
    configuration = .export
    try command.request.limit(&configuration)
    configuration.signer = try command.sign.map { try SignOption.signer($0) }
    if let retries = command.retries {
      guard retries >= 0 else {
        throw ValidationError("--retries: a number of requests cannot be negative.")
      }
      configuration.retry.attempts = retries == .max ? .max : retries + 1
      configuration.retry.polls = retries
    }
    if let patience = command.patience {
      configuration.retry.patience = try DurationOption.duration(patience, for: "--patience")
    } else if command.retries == 0 {
      configuration.retry.patience = .zero
    }
    configuration.retry.maximumRetryAfter = try DurationOption.duration(
      command.maxRetryAfter, for: "--max-retry-after")
    configuration.badItems = badItems == .fail ? .throw : .collect
    transport = try command.request.transport(parallel: parallel)
    files = try OutputFiles(command, badItems: badItems, from: point)
    for text in command.limit { try LimitOption.apply(text, to: &self) }
    try checkDescription(
      needsPageSize: command.next != nil && pagination.end.contains(.shortPage))
  }

  /// What the first request would throw, before anything is opened or emptied.
  private func checkDescription(needsPageSize: Bool) throws {
    if pageSize != nil, pagination.size?.send == nil {
      throw ValidationError(
        "--page-size: this description does not say where a page size goes. Say it by --size, such "
          + "as --size query:limit.")
    }
    do {
      let engine = try engine()
      if let error = engine.identity.objection(to: start) {
        throw ValidationError("--from: \(words.message(error))")
      }
      if needsPageSize, engine.pageSize == nil {
        throw ValidationError("--end shortPage: say by --page-size how many items a full page has.")
      }
    } catch let error as PageError {
      throw ValidationError(words.message(error))
    }
  }

  /// What reads the description for the first request. Throws a `PageError` where it cannot work.
  func engine() throws -> PaginationEngine {
    let first = PageRequest(
      method: request.method, url: url, headerFields: request.headers, body: request.body)
    return try PaginationEngine(
      pagination, first: first, home: try Origin(url: url), pageSize: pageSize)
  }

  /// How often what came is committed.
  private static func commits(_ command: ExportCommand) throws -> CommitPolicy {
    guard let text = command.commitEvery else { return CommitPolicy() }
    let time = try DurationOption.duration(text, for: "--commit-every")
    return time == .zero ? .eachPage : CommitPolicy(time: time)
  }

  private static func positive(_ value: Int?, _ option: String) throws -> Int? {
    if let value, value < 1 { throw ValidationError("\(option): must be at least 1.") }
    return value
  }
}
