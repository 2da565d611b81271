import QuireXML
import ArgumentParser
import Foundation
import HTTPTypes
import Quire
import QuireAWS
import QuireCore
import QuireHTTP
import QuirePagination

/// `--limit NAME=N`: the limits that protect an export from hostile or broken servers, under the
/// names that messages use.
enum LimitOption {
  /// The settings that limits belong to.
  struct Values {
    var configuration: PageClient.Configuration
    var xmlLimits = XMLLimits.api
    var limits = Limits()
  }

  private static let limits: [String: any WritableKeyPath<Values, Int> & Sendable] = [
    "headerBytes": \.configuration.transferLimits.headerBytes,
    "interimResponses": \.configuration.transferLimits.interimResponses,
    "wireBytes": \.configuration.transferLimits.wireBytes,
    "decodedBytes": \.configuration.transferLimits.decodedBytes,
    "inflateRatio": \.configuration.transferLimits.inflateRatio,
    "inflateRatioFloor": \.configuration.transferLimits.inflateRatioFloor,
    "depth": \.configuration.decodingLimits.depth,
    "items": \.configuration.decodingLimits.items,
    "itemBytes": \.configuration.decodingLimits.itemBytes,
    "numberLength": \.configuration.decodingLimits.numberLength,
    "events": \.configuration.decodingLimits.events,
    "connectTimeout": \.configuration.timeouts.connect.wholeSeconds,
    "headTimeout": \.configuration.timeouts.head.wholeSeconds,
    "stallTimeout": \.configuration.timeouts.stall.wholeSeconds,
    "totalTimeout": \.configuration.timeouts.total.wholeSeconds,
    "pollingTimeout": \.configuration.retry.maximumPolling.wholeSeconds,
    "attributes": \.xmlLimits.attributes,
    "namespaces": \.xmlLimits.namespaces,
    "tagBytes": \.xmlLimits.tagBytes,
    "commentBytes": \.xmlLimits.commentBytes,
    "doctypeBytes": \.xmlLimits.doctypeBytes,
    "nameBytes": \.xmlLimits.nameBytes,
    "textBytes": \.xmlLimits.textBytes,
    "emptyPages": \.limits.consecutiveEmptyPages,
    "comparedPages": \.limits.comparedPages,
  ]

  /// The names of all limits.
  static let names: [String] = limits.keys.sorted()

  /// Returns the option that sets a limit of the library; nil if none does.
  static func option(for setting: Remedy.Setting) -> String? {
    let parts = "\(setting)".split(separator: ".").map(String.init)
    guard parts.count == 2 else { return nil }
    let name =
      switch parts[1] {
      case "consecutiveEmptyPages": "emptyPages"
      case "maximumPolling": "pollingTimeout"
      default: parts[1] + (parts[0] == "Timeouts" ? "Timeout" : "")
      }
    return names.contains(name) ? "--limit \(name)" : nil
  }

  /// Sets the limit that `text` names, such as `items=200000`.
  static func apply(_ text: String, to values: inout Values) throws {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    let name = parts.first ?? ""
    let least = ["emptyPages", "comparedPages"].contains(name) ? 0 : 1
    guard parts.count == 2, let value = Int(parts[1]), value >= least else {
      throw ValidationError("--limit \(text): expected NAME=N, N a whole number from \(least) on.")
    }
    guard let path = limits[name] else {
      throw ValidationError(
        "--limit \(text): there is no such limit, but \(names.joined(separator: ", "))."
          + NearestName.hint(name, in: names))
    }
    values[keyPath: path] = value
  }
}

extension Duration {
  /// The whole seconds of a limit; at most as long as a clock can sleep.
  fileprivate var wholeSeconds: Int {
    get { Int(components.seconds) }
    set { self = .seconds(min(newValue, Int(Int32.max))) }
  }
}

/// `--bad-items`: what to do with items that cannot be decoded in an otherwise valid page.
enum BadItemsOption: Equatable, Sendable {
  /// Fails the export.
  case fail
  /// Sets the items aside in a file, or on standard error if it is nil, and continues.
  case setAside(file: String?)

  /// Parses `throw`, `collect` or `collect:FILE`.
  init(_ text: String) throws {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    switch (parts.first, parts.dropFirst().first) {
    case ("throw", nil): self = .fail
    case ("collect", nil): self = .setAside(file: nil)
    case ("collect", let file?) where !file.isEmpty: self = .setAside(file: String(file))
    default:
      throw ValidationError("--bad-items \(text): expected throw, collect or collect:FILE.")
    }
  }
}

/// Times on the command line: `90`, `90s`, `15m`, `2h`, `3d`.
enum DurationOption {
  /// The seconds of each unit of time, by its names.
  static let units: [Substring: Int] = [
    "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600,
    "d": 86_400, "day": 86_400,
  ]

  /// Returns the time in `text`. Throws a usage error that names the option.
  static func duration(_ text: String, for option: String) throws -> Duration {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit = text.dropFirst(digits.count)
    guard let count = Int32(digits), let seconds = units[unit.isEmpty ? "s" : unit] else {
      throw ValidationError(
        "\(option) \(text): not a time. Write seconds, or such as 90s, 15m, 2h or 3d.")
    }
    return .seconds(Int(count) * seconds)
  }
}

/// Sizes on the command line: `500000`, `64k`, `20M`, `1G`.
enum SizeOption {
  private static let units: [String: Int] = [
    "": 1, "k": 1 << 10, "K": 1 << 10, "m": 1 << 20, "M": 1 << 20, "g": 1 << 30, "G": 1 << 30,
  ]

  /// Returns the number of bytes in `text`. Throws a usage error that names the option.
  static func bytes(_ text: String, for option: String) throws -> Int {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    var unit = String(text.dropFirst(digits.count))
    if unit.hasSuffix("iB") { unit.removeLast(2) } else if unit.hasSuffix("B") { unit.removeLast() }
    guard let count = Int(digits), count > 0, let factor = units[unit] else {
      throw ValidationError(
        "\(option) \(text): not a size. Write bytes, or such as 64k, 20M or 1G (of 1024).")
    }
    return count.times(factor)
  }
}

extension RetryPolicy {
  /// Applies `--retries` and `--patience`. Without retries, outages are not waited out either,
  /// unless `--patience` says so.
  mutating func take(retries: Int?, patience: Duration?) {
    if let retries { (attempts, polls) = (retries.plus(1), retries) }
    if let patience {
      self.patience = patience
    } else if retries == 0 {
      self.patience = .zero
    }
  }
}

/// `--links`: which links to next pages are followed.
enum LinksOption {
  static func policy(_ text: String) throws -> LinkPolicy {
    switch text {
    case "same-origin": return .sameOrigin
    case "rebase": return .rebase
    case "upgrade-scheme": return .upgradeScheme
    default:
      let hosts = text.dropFirst("allow:".count).split(separator: ",").map(String.init)
      guard text.hasPrefix("allow:"), !hosts.isEmpty else {
        throw ValidationError(
          "--links \(text): expected same-origin, rebase, upgrade-scheme or allow:HOST[,HOST].")
      }
      return .allow(hosts)
    }
  }
}

/// `-H 'Name: value'`, where the value may be `env:VARIABLE` or `@file`.
///
/// Every user of a machine can read a command line; only the owner can read the environment and
/// private files. No message here repeats a value.
enum HeaderOption {
  /// Returns the header field in `text`.
  static func field(
    _ text: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> HTTPField {
    guard let colon = text.firstIndex(of: ":") else {
      throw ValidationError("A -H option has no colon. Write -H 'Name: value'.")
    }
    let written = String(text[..<colon])
    guard let name = HTTPField.Name(written) else {
      throw ValidationError("-H: \"\(written)\" is no header field name.")
    }
    guard name != .contentLength, name != .transferEncoding else {
      throw ValidationError(
        "-H \(written): the length and the framing of a request follow from its body. Leave it out."
      )
    }
    let given = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    let value = try self.value(given, for: "-H \(written)", environment: environment)
    guard HTTPField.isValidValue(value) else {
      throw ValidationError(
        "-H \(written): the value has characters that no header field may have.")
    }
    return HTTPField(name: name, value: value)
  }

  /// Whether an option's text names a variable or a file that has the value, and is no secret.
  static func isReference(_ text: some StringProtocol) -> Bool {
    text.hasPrefix("env:") || text.hasPrefix("@")
  }

  /// Returns the value in an option's text: the text itself, or the content of a variable or a
  /// file.
  static func value(
    _ value: String, for option: String,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> String {
    if value.hasPrefix("env:") {
      let variable = String(value.dropFirst(4))
      guard let found = environment[variable] else {
        throw ValidationError("\(option): the environment variable \(variable) is not set.")
      }
      guard !found.isEmpty else {
        throw ValidationError("\(option): the environment variable \(variable) is empty.")
      }
      return found
    }
    if value.hasPrefix("@") {
      let path = String(value.dropFirst())
      let text = String(decoding: try InputFile.read(path, for: option), as: UTF8.self)
        .trimmingCharacters(in: .whitespacesAndNewlines)
      guard !text.isEmpty else { throw ValidationError("\(option): \(value) is empty.") }
      return text
    }
    return value
  }
}

/// `--sign aws:SERVICE[:REGION]`, with credentials from the environment, where Amazon's own tools
/// look first.
enum SignOption {
  /// Returns the signer for `text`. No message here repeats a secret.
  static func signer(
    _ text: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> RequestSigner {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (2...3).contains(parts.count), parts[0] == "aws", !parts[1].isEmpty else {
      throw ValidationError(
        "--sign \(text): not a way to sign. Write --sign aws:SERVICE or --sign aws:SERVICE:REGION, "
          + "such as --sign aws:dynamodb:eu-central-1.")
    }
    let credentials = AWSCredentials(
      accessKey: try value("AWS_ACCESS_KEY_ID", environment),
      secretKey: try value("AWS_SECRET_ACCESS_KEY", environment),
      sessionToken: environment["AWS_SESSION_TOKEN"].flatMap { $0.isEmpty ? nil : $0 })
    return .aws(
      credentials, region: try region(parts.count > 2 ? parts[2] : "", environment),
      service: parts[1])
  }

  private static func region(_ given: String, _ environment: [String: String]) throws -> String {
    let places = [given, environment["AWS_REGION"] ?? "", environment["AWS_DEFAULT_REGION"] ?? ""]
    guard let region = places.first(where: { !$0.isEmpty }) else {
      throw ValidationError(
        "--sign: no region. Write --sign aws:SERVICE:REGION, or set AWS_REGION.")
    }
    return region
  }

  private static func value(_ name: String, _ environment: [String: String]) throws -> String {
    try HeaderOption.value("env:\(name)", for: "--sign", environment: environment)
  }
}

/// Whole numbers on the command line.
enum NumberOption {
  /// Returns `value`. Throws a usage error that names the option if it is less than `least` or more
  /// than `most`.
  static func number(
    _ value: Int, for option: String, from least: Int = 1, atMost most: Int = .max
  ) throws -> Int {
    guard value >= least else { throw ValidationError("\(option): must be at least \(least).") }
    guard value <= most else { throw ValidationError("\(option): must be at most \(most).") }
    return value
  }

  /// Returns the value of an option that may be absent. Throws as above.
  static func number(
    _ value: Int?, for option: String, from least: Int = 1, atMost most: Int = .max
  ) throws -> Int? {
    try value.map { try number($0, for: option, from: least, atMost: most) }
  }
}
