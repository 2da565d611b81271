import QuireDetect
import QuireHTTP
import ArgumentParser
import Foundation
import Quire
import QuireCore

/// `quire detect`: finds out how a listing is paged, and how certain that is.
struct DetectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "detect",
    _superCommandName: "quire",
    abstract: "Find out from one answer how a listing is paged.",
    discussion: """
      Names a preset or puts a description together, says what speaks for it and how sure it is \
      (verified, likely or possible), and prints the command line and the Swift line to use. To be \
      sure, it asks for the second and the third page and for one behind the last; where that fails, \
      it tries common parameters. Where the answer does not tell, or what it tells is refuted, it \
      says what the answer has, and the exit status is 1.
      """)

  @OptionGroup var request: RequestArguments
  @OptionGroup var format: FormatArguments

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Descriptions to check at most; 0 to look only.", valueName: "n"))
  var checks = 6

  @Option(help: ArgumentHelp("Write the description, for --pagination.", valueName: "file.json"))
  var save: String?

  func run() async throws {
    let checks = try NumberOption.number(checks, for: "--checks", from: 0)
    if let save { try ReportFile.file(save).check(for: "--save") }
    let url = try request.absoluteURL()
    let options = try request.options(format, for: nil)
    let links = try request.linkPolicy()
    var configuration = PageClient.Configuration()
    try request.limit(&configuration)
    format.format.ask(by: &configuration)
    configuration.retry.refusesWaits = true
    let client = PageClient(transport: try request.transport(), configuration: configuration)
    let decoder = RawItem.decoder(for: format.format, raw: false, xmlLimits: .api)
    let words = DetectionText(request, format, options: options, url: url, saved: save)
    let detection = try await interruptible {
      try await client.detect(
        at: url, request: options, links: links, checks: checks, decoder: decoder)
    }
    try await publish(detection, words)
  }

  private func publish(_ detection: Detection, _ words: DetectionText) async throws {
    print(words.text(for: detection))
    guard let best = detection.best else { throw ExitStatus.failed }
    guard let save else { return }
    let file = ReportFile.file(save)
    do {
      try await file.write(
        PrintableJSON.bytes(of: Data((best.pagination.json + "\n").utf8)), isPrivate: false)
      Diagnostics.write("quire: wrote the description to \(save).")
    } catch {
      throw Diagnostics.failure(file.failure(error, of: "description"))
    }
  }
}

/// The text of a detection. It repeats no secret of the command line.
struct DetectionText {
  private let arguments: RequestArguments
  private let format: FormatArguments
  private let options: PageClient.RequestOptions
  private var redactor: Redactor
  private let url: String
  private let saved: String?

  init(
    _ arguments: RequestArguments, _ format: FormatArguments, options: PageClient.RequestOptions,
    url: String, saved: String?
  ) {
    self.arguments = arguments
    self.format = format
    self.options = options
    self.saved = saved
    self.url = url
    redactor = Redactor(url: url, options: options)
  }

  /// Returns the description that was found, or what the answer contains if none was.
  func text(for detection: Detection) -> String {
    guard let best = detection.best else { return unknown(detection) }
    var text = self
    text.redactor = Redactor(
      url: url, options: options, segment: best.pagination.policy.secretSegment)
    return text.text(for: best, of: detection)
  }

  private func text(for best: DetectedPagination, of detection: Detection) -> String {
    var lines = ["\(name(best)): \(best.confidence)"]
    lines += (best.evidence + best.doubts.map { "but " + $0 }).map { "  " + $0 }
    lines += best.remedies.compactMap(RemedyWords().text).map { "  " + $0 }
    lines += checkLines(for: best)
    lines.append("")
    if saved == nil, words(best) == nil { lines.append("first    \(savingCommand)") }
    if let opening = best.pagination.exampleOpening {
      lines.append("change   \(opening) in \(saved ?? "listing.json"): it is an example")
    }
    lines += ["command  \(command(best))", "swift    \(swift(best))"]
    if !best.alternatives.isEmpty {
      lines.append("same     \(best.alternatives.joined(separator: ", "))")
    }
    let others = detection.candidates.filter {
      $0.swift != best.swift && $0.preset != nil && $0.confidence > .guess
    }
    lines += others.map { "else     \(name($0)): \($0.confidence)" }
    return lines.map(\.escapedForDisplay).joined(separator: "\n")
  }

  private func unknown(_ detection: Detection) -> String {
    var lines = ["Cannot tell how this listing is paged. The answer:"]
    lines += detection.observations.map { "  " + $0 }
    lines += detection.remedies.compactMap(RemedyWords(for: DetectCommand.self).text)
      .map { "  " + $0 }
    let guesses = detection.candidates
    if !guesses.isEmpty {
      lines.append("Guesses, for which nothing speaks:")
      lines += guesses.map { "  \(name($0)): \(result(of: $0))" }
      if guesses.contains(where: { $0.check == nil && $0.leadsOn }) {
        lines.append("Try --checks \(guesses.count { $0.leadsOn }), which asks for them all.")
      }
    }
    if detection.mayBeWhole, let command = commandForOnePage(guesses) {
      lines.append("If this page has all the items, export it by \(command)")
    }
    lines.append(
      "If its documentation says more: quire export \(shownURL) --next body:/PATH --send query:NAME, where "
        + "PATH is the continuation in the page and NAME the parameter that takes it. The guide \"Which "
        + "pagination?\" has a table of what answers look like.")
    return lines.map(\.escapedForDisplay).joined(separator: "\n")
  }

  /// Returns the command for a listing of one page, if the server ignored all that was sent for a
  /// second page.
  private func commandForOnePage(_ guesses: [DetectedPagination]) -> String? {
    guard let guess = guesses.first(where: { $0.check?.result == .refuted }),
      guesses.allSatisfy({ $0.check.map { $0.result == .refuted } ?? true }),
      let items = guess.pagination.items.paths.first
    else { return nil }
    let place = items.text.isEmpty ? [] : ["--items", items.text]
    return CommandLineText.quoted(
      ["quire", "export", shownURL, "--next", "linkHeader"] + place + requestWords)
  }

  /// Returns the result of trying a guess.
  private func result(of guess: DetectedPagination) -> String {
    if let check = guess.check { return check.explanation }
    if guess.leadsOn { return "not tried" }
    return guess.doubts.last ?? "read so, this page is the last"
  }

  private func name(_ candidate: DetectedPagination) -> String {
    let words = BlockOption.words(for: candidate.pagination)?.prefix(4).joined(separator: " ")
    let name = candidate.preset ?? "a description of its own, \(words ?? candidate.swift)"
    return candidate.items.map { "\(name), items at \($0)" } ?? name
  }

  private func checkLines(for candidate: DetectedPagination) -> [String] {
    guard let check = candidate.check else {
      return candidate.leadsOn ? ["  The second page was not asked for."] : []
    }
    return ["  \(check.request ?? "")", "  \(check.explanation)"]
  }

  private func swift(_ candidate: DetectedPagination) -> String {
    let opening = candidate.pagination.exampleOpening.map { ".opening(at: \($0))" } ?? ""
    let pagination = candidate.swift + opening + formatSwift
    let listing = "at: \(shownURL.debugDescription), pagination: \(pagination)"
    return "client.cursor(of: Item.self, \(listing)\(requestSwift))"
  }

  /// The Swift call for `--format jsonl` or `csv`, because the answer itself may not declare the
  /// format.
  private var formatSwift: String {
    switch format.format {
    case .jsonl: ".formats([.jsonLines])"
    case .csv: ".formats([.csv])"
    case .auto, .json, .xml: ""
    }
  }

  /// The argument for a request other than a plain GET. The content of its body is left out.
  private var requestSwift: String {
    var parts = options.method == .get ? [] : ["method: .\(options.method.rawValue.lowercased())"]
    switch options.body {
    case .none: break
    case .json: parts.append("body: .json(…)")
    case .form: parts.append("body: .form(…)")
    case .xml: parts.append("body: .xml(…)")
    case .bytes: parts.append("body: .bytes(…)")
    }
    return parts.isEmpty ? "" : ", request: .init(\(parts.joined(separator: ", ")))"
  }

  // MARK: The command line

  /// The URL without secrets.
  private var shownURL: String { redactor.scrub(url) }

  private func command(_ candidate: DetectedPagination) -> String {
    let description = words(candidate) ?? ["--pagination", saved ?? "listing.json"]
    return CommandLineText.quoted(["quire", "export", shownURL] + description + requestWords)
  }

  /// The command that writes the file that `command` reads.
  private var savingCommand: String {
    CommandLineText.quoted(["quire", "detect", shownURL, "--save", "listing.json"] + requestWords)
  }

  /// Returns the options for the description; nil if only a file can express it.
  private func words(_ candidate: DetectedPagination) -> [String]? {
    guard candidate.pagination.exampleOpening == nil else { return nil }
    let options: [String]
    if let preset = candidate.preset {
      options = ["--preset", preset] + (candidate.items.map { ["--items", $0.text] } ?? [])
    } else {
      guard let spelled = BlockOption.words(for: candidate.pagination) else { return nil }
      options = spelled
    }
    // The printed options must mean the same as the description that was found.
    guard let command = try? ExportCommand.parse(["https://h.test/"] + options),
      var meant = try? PaginationOption.description(command)
    else { return nil }
    // Options cannot express every total. It is not needed: totals only serve checks and forecasts.
    meant.total = meant.total ?? candidate.pagination.total
    meant.policy.links = candidate.pagination.policy.links
    meant.request.isQuery = candidate.pagination.request.isQuery
    return meant == candidate.pagination ? options : nil
  }

  /// The options of the request. Secret values are replaced, unless they name a variable or a file.
  private var requestWords: [String] {
    var words: [String] = []
    for text in arguments.header {
      let name = text.prefix { $0 != ":" }
      let value = text.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
      words += ["-H", HeaderOption.isReference(value) ? text : redactor.scrub(text)]
    }
    if let method = format.method { words += ["--method", method] }
    if let data = format.data {
      words += ["--data", data.hasPrefix("@") ? data : redactor.scrub(data)]
    }
    for text in arguments.secret {
      words += ["--secret", HeaderOption.isReference(text) ? text : "…"]
    }
    if let links = arguments.links { words += ["--links", links] }
    if format.format != .auto { words += ["--format", format.format.rawValue] }
    if let file = arguments.caFile { words += ["--ca-file", file] }
    if arguments.allowPlainHTTP { words.append("--allow-plain-http") }
    if let rate = arguments.rate { words += ["--rate", rate] }
    if let reserve = arguments.rateReserve {
      words += ["--rate-reserve", Int(exactly: reserve).map { "\($0)" } ?? "\(reserve)"]
    }
    if let addresses = arguments.addresses { words += ["--addresses", addresses] }
    if let proxy = arguments.proxy {
      let isShown = HeaderOption.isReference(proxy) || !proxy.contains("@")
      words += ["--proxy", isShown ? proxy : "…"]
    }
    if let file = arguments.cert { words += ["--cert", file] }
    if let file = arguments.certKey { words += ["--cert-key", file] }
    return words
  }
}
