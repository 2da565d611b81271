import ArgumentParser
import Foundation
import Quire
import QuireCore

/// A detection as people read it. No secret of the command line is repeated.
struct DetectionText {
  private let arguments: RequestArguments
  private let options: PageClient.RequestOptions
  private var redactor: Redactor
  private let url: String
  private let saved: String?

  init(
    _ arguments: RequestArguments, options: PageClient.RequestOptions, url: String, saved: String?
  ) {
    self.arguments = arguments
    self.options = options
    self.saved = saved
    self.url = url
    redactor = Redactor(url: url, options: options)
  }

  /// What was found, or what was seen where nothing was.
  func text(for detection: Detection) -> String {
    guard let best = detection.best else { return unknown(detection) }
    var text = self
    text.redactor = Redactor(
      url: url, options: options, segment: best.pagination.policy.secretSegment)
    return text.text(for: best, of: detection)
  }

  private func text(for best: DetectedPagination, of detection: Detection) -> String {
    var lines = ["\(name(best)): \(best.confidence)"]
    lines += (best.evidence + best.doubts.map { "but " + OptionWords.applied(to: $0) }).map {
      "  " + $0
    }
    lines += check(best)
    lines.append("")
    if saved == nil, words(best) == nil { lines.append("first    \(savingCommand)") }
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
    let guesses = detection.candidates
    if !guesses.isEmpty {
      lines.append("Guesses, for which nothing speaks:")
      lines += guesses.map { "  \(name($0)): \(trial(of: $0))" }
      if guesses.contains(where: { $0.check == nil && $0.leadsOn }) {
        lines.append("Try --checks \(guesses.count { $0.leadsOn }), which asks for them all.")
      }
    }
    lines.append("The guide \"Which pagination?\" has a table of what answers look like.")
    return lines.map(\.escapedForDisplay).joined(separator: "\n")
  }

  /// What came of a guess.
  private func trial(of guess: DetectedPagination) -> String {
    if let check = guess.check { return OptionWords.applied(to: check.explanation) }
    if guess.leadsOn { return "not tried" }
    return guess.doubts.last.map { OptionWords.applied(to: $0) } ?? "read so, this page is the last"
  }

  private func name(_ candidate: DetectedPagination) -> String {
    let words = StepSpec.words(for: candidate.pagination)?.prefix(4).joined(separator: " ")
    let name = candidate.preset ?? "a description of its own, \(words ?? candidate.swift)"
    return candidate.items.map { "\(name), items at \($0)" } ?? name
  }

  private func check(_ candidate: DetectedPagination) -> [String] {
    guard let check = candidate.check else {
      return candidate.leadsOn ? ["  The second page was not asked for."] : []
    }
    return ["  \(check.request ?? "")", "  \(OptionWords.applied(to: check.explanation))"]
  }

  private func swift(_ candidate: DetectedPagination) -> String {
    let listing = "at: \(shownURL.debugDescription), pagination: \(candidate.swift)"
    return "client.cursor(of: Item.self, \(listing)\(requestSwift))"
  }

  /// The argument for a request that is no plain GET; what its body holds is left out.
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

  /// The URL as it was given, without secrets.
  private var shownURL: String { redactor.scrub(url) }

  private func command(_ candidate: DetectedPagination) -> String {
    let description = words(candidate) ?? ["--pagination", saved ?? "listing.json"]
    return CommandLineText.quoted(["quire", "export", shownURL] + description + requestWords)
  }

  /// What makes the file that the command reads.
  private var savingCommand: String {
    CommandLineText.quoted(["quire", "detect", shownURL, "--save", "listing.json"] + requestWords)
  }

  /// The options that say the description; nil where only a file can.
  private func words(_ candidate: DetectedPagination) -> [String]? {
    let options: [String]
    if let preset = candidate.preset {
      options = ["--preset", preset] + (candidate.items.map { ["--items", $0.text] } ?? [])
    } else {
      guard let spelled = StepSpec.words(for: candidate.pagination) else { return nil }
      options = spelled
    }
    // What is printed must mean what was found.
    guard let command = try? ExportCommand.parse(["https://h.test/"] + options),
      var meant = try? PaginationOption.description(command)
    else { return nil }
    // A total of another kind, or from elsewhere, is no option's; it only checks and forecasts.
    meant.total = meant.total ?? candidate.pagination.total
    meant.policy.links = candidate.pagination.policy.links
    meant.request.isQuery = candidate.pagination.request.isQuery
    return meant == candidate.pagination ? options : nil
  }

  /// The options of the request, fields without their values unless those are elsewhere.
  private var requestWords: [String] {
    var words: [String] = []
    for text in arguments.header {
      let name = text.prefix { $0 != ":" }
      let value = text.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
      let isElsewhere = value.hasPrefix("env:") || value.hasPrefix("@")
      words += ["-H", isElsewhere ? text : redactor.scrub(text)]
    }
    if let method = arguments.method { words += ["--method", method] }
    if let data = arguments.data {
      words += ["--data", data.hasPrefix("@") ? data : redactor.scrub(data)]
    }
    for text in arguments.secret {
      let isElsewhere = text.hasPrefix("env:") || text.hasPrefix("@")
      words += ["--secret", isElsewhere ? text : "…"]
    }
    if let links = arguments.links { words += ["--links", links] }
    if arguments.format != .auto { words += ["--format", arguments.format.rawValue] }
    if let file = arguments.caFile { words += ["--ca-file", file] }
    if arguments.allowPlainHTTP { words.append("--allow-plain-http") }
    return words
  }
}
