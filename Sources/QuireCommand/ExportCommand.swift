import QuirePagination
import ArgumentParser
import Foundation
import QuireCore
import QuireExport
import QuireHTTP

/// `quire export`: writes a listing to a file, a database or standard output.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    _superCommandName: "quire",
    abstract: "Write every item of a paged listing, exactly as the server wrote it.",
    discussion: """
      Say how the listing is paged by --preset, --pagination, or --next and --send. Items go to \
      standard output, one a line, or where -o says; progress and the report go to stderr.

        --next  linkHeader, header:NAME, body:PATH,
                lastItem:PATH, offset[:FIRST],
                pageNumber[:FIRST]
        --send  url, query:NAME, header:NAME,
                jsonBody:POINTER
        --end   emptyPage, shortPage, sameCursor,
                flag:PATH, total:PATH, status:CODE,
                noNext:VALUE
        --size  query:NAME, header:NAME, jsonBody:POINTER

      These are the words of a description; further ones stand in the guide. More of a word's members \
      stand behind commas: flag:/last,continuesWhile:false. The JSON of a block does as well.

      A PATH is a JSON pointer (/meta/next) or leads to an element or an attribute of XML \
      (//link[@rel='next']/@href).

      An export that stops early keeps what was written. Into a file, the same command goes on by itself, \
      also after a crash; to standard output, it says what to give --from to resume.
      """)

  @OptionGroup var request: RequestArguments
  @OptionGroup var format: FormatArguments

  // A closure, because reading all presets takes longer than exporting a page.
  @Option(
    help: "A pagination preset; 'quire presets' lists them.",
    completion: .custom { _, _, _ in Pagination.presets.map(\.name) })
  var preset: String?

  @Option(
    help: ArgumentHelp(
      "A pagination description in a file; - is standard input.", valueName: "file.json"),
    completion: .file(extensions: ["json"]))
  var pagination: String?

  @Option(help: ArgumentHelp("Where the next page's continuation comes from.", valueName: "spec"))
  var next: String?

  @Option(
    help: ArgumentHelp(
      "Where it goes. Default after '--next linkHeader': url.", valueName: "spec"))
  var send: String?

  @Option(help: ArgumentHelp("What ends the listing; may be repeated.", valueName: "spec"))
  var end: [String] = []

  @Option(
    help: ArgumentHelp(
      "The path to the items, after 'optional:' where empty lists are left out. Default: the "
        + "description's.", valueName: "path"))
  var items: String?

  @Option(
    help: ArgumentHelp(
      "Where the server says how many items there are: fewer are a failure.", valueName: "path"))
  var total: String?

  @Flag(help: "Write items with their own white space, and items of XML as elements.")
  var raw = false

  @Option(
    help: ArgumentHelp(
      "Sign every request: aws:SERVICE[:REGION], with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
      valueName: "scheme"))
  var sign: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Items to ask for in each page; without --size, with '--end shortPage', what a full page has.",
      valueName: "n"))
  var pageSize: Int?

  @Option(
    help: ArgumentHelp(
      "Where --page-size goes. Default: where the description says.", valueName: "spec"))
  var size: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Stop after this many pages.", valueName: "n"))
  var maxPages: Int?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Stop after this many items.", valueName: "n"))
  var maxItems: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Stop after this long, in the middle of a page, too: in seconds, or as 90s, 15m, 2h or 3d.",
      valueName: "time"))
  var maxTime: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Stop after so many bytes of pages, in the middle of one, too: 500000, or as 64k, 20M or 1G.",
      valueName: "size"))
  var maxBytes: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Stop after this many requests, retries and redirects included.", valueName: "n"))
  var maxRequests: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Pages to load while earlier ones are written; 0 for none.", valueName: "n"))
  var lookAhead: Int = 1

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Further requests for a page that failed or is not ready, and may yet come; 0 for none. "
        + "Default: \(RetryPolicy.export.attempts - 1), and for pages that are not ready as many as "
        + "--limit pollingTimeout has time for.", valueName: "n"))
  var retries: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long to wait for a server that is away, in seconds, or as 90s, 15m, 2h or 3d; 0 for not at "
        + "all. Default: 15m, or 0 with '--retries 0'.",
      valueName: "time"))
  var patience: String?

  @Option(
    help: ArgumentHelp(
      "The longest Retry-After to wait for, in seconds, or as 90s, 15m, 2h or 3d.",
      valueName: "time"))
  var maxRetryAfter: String = "15m"

  @Option(
    help: ArgumentHelp(
      "Items that are broken in themselves: throw, or collect[:FILE] to set them aside and go on.",
      valueName: "policy"))
  var badItems: String = "throw"

  @Option(
    help: ArgumentHelp(
      "A safety limit, such as items=200000 for the items of a page; may be repeated.",
      valueName: "name=n"))
  var limit: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Resume: @file with the report of a stopped export or that report's checkpoint, or either as JSON.",
      valueName: "position"))
  var from: String?

  @Flag(help: "Begin anew, whatever --from says; the output is written anew, too.")
  var restart = false

  @Flag(
    help: ArgumentHelp(
      "Take --from as it is, though it was written by hand or made by another listing."))
  var unchecked = false

  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "Where to write; - is standard output. The ending says how: .jsonl, .ndjson, .json, .csv, .tsv, "
        + "each also with .gz, .db, .sqlite, postgres://…. The same command again goes on where it was stopped.",
      valueName: "file"), completion: .file())
  var output: String?

  @Option(
    help: ArgumentHelp(
      "The columns of a table: members, paths, or NAME=PATH. Default: all that items have.",
      valueName: "name,…"))
  var columns: String?

  @Option(
    help: ArgumentHelp(
      "What a complete destination gets: once (nothing), append, replace or upsert. Default: upsert with "
        + "--key, else once.", valueName: "mode"))
  var mode: String?

  @Option(
    help: ArgumentHelp(
      "Where an item has its key, by which it takes the place of an earlier one; several with commas.",
      valueName: "path"))
  var key: String?

  @Option(help: ArgumentHelp("The table of a database.", valueName: "name"))
  var table: String?

  @Flag(help: "Put an apostrophe in front of texts that a spreadsheet would take for formulas.")
  var guardFormulas = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long what came may wait before it is committed, in seconds, or as 90s, 15m, 2h or 3d; 0 commits "
        + "each page. Default: 5s, and sooner by size.",
      valueName: "time"))
  var commitEvery: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Pages to load at once where their positions are known in advance. Default: 1.",
      valueName: "n"))
  var parallel: Int?

  @Option(
    help: "How stderr says what happens: text, or json for a line of JSON for each page and wait.")
  var log: LogFormat = .text

  @Option(help: "auto, always or never. auto shows progress on a terminal.")
  var progress: ProgressMeter.Mode = .auto

  @Option(
    help: ArgumentHelp(
      "Write a report of the export; - is standard output.", valueName: "file.json"),
    completion: .file(extensions: ["json"]))
  var report: String?

  @Flag(help: "Fetch only the first page and say what an export would do; nothing is written.")
  var plan = false

  func run() async throws {
    let plan = try ExportPlan(self)
    if self.plan { return try await forecast(plan) }
    let (result, _) = await Interruption.catching(untilExit: true) {
      try await plan.run { outcome in
        try await outcome.publish(
          signal: Interruption.caught, report: plan.files.report)
      }
    }
    do {
      _ = try result.get()
    } catch let error as SinkError where error.code == .inUse {
      throw Diagnostics.failure("\(error)")
    }
  }

  private func forecast(_ plan: ExportPlan) async throws {
    do {
      // Locked until the report is written.
      let lock = try await plan.files.lockReport()
      defer { withExtendedLifetime(lock) {} }
      let forecast = try await interruptible {
        do {
          return try await plan.forecast()
        } catch let error as PageError where error.code == .cursorExpired {
          var error = error
          error.remedies.append(Remedy(.position, ["start"]))
          throw error
        }
      }
      try await forecast.publish(report: plan.files.report)
    } catch let error as SinkError where error.code == .inUse {
      throw Diagnostics.failure("\(error)")
    }
  }
}

/// The form of messages on standard error.
enum LogFormat: String, CaseIterable, ExpressibleByArgument { case text, json }

extension ProgressMeter.Mode: ExpressibleByArgument {}
