import ArgumentParser
import Quire

/// `--limit NAME=N`: the limits that protect an export from hostile or broken servers, by the names
/// that messages give them.
enum LimitOption {
  private typealias Configuration = PageClient.Configuration

  private static let numbers: [String: any WritableKeyPath<Configuration, Int> & Sendable] = [
    "headerBytes": \.transferLimits.headerBytes,
    "interimResponses": \.transferLimits.interimResponses,
    "wireBytes": \.transferLimits.wireBytes,
    "decodedBytes": \.transferLimits.decodedBytes,
    "inflateRatio": \.transferLimits.inflateRatio,
    "inflateRatioFloor": \.transferLimits.inflateRatioFloor,
    "depth": \.decodingLimits.depth,
    "items": \.decodingLimits.items,
    "itemBytes": \.decodingLimits.itemBytes,
    "numberLength": \.decodingLimits.numberLength,
    "events": \.decodingLimits.events,
  ]

  private static let seconds: [String: any WritableKeyPath<Configuration, Duration> & Sendable] = [
    "connectTimeout": \.timeouts.connect,
    "headTimeout": \.timeouts.head,
    "stallTimeout": \.timeouts.stall,
    "totalTimeout": \.timeouts.total,
    "pollingTimeout": \.retry.maximumPolling,
  ]

  private static let xml: [String: any WritableKeyPath<XMLLimits, Int> & Sendable] = [
    "attributes": \.attributes,
    "namespaces": \.namespaces,
    "tagBytes": \.tagBytes,
    "commentBytes": \.commentBytes,
    "doctypeBytes": \.doctypeBytes,
    "nameBytes": \.nameBytes,
    "textBytes": \.textBytes,
  ]

  private static let pages: [String: any WritableKeyPath<Limits, Int> & Sendable] = [
    "emptyPages": \.consecutiveEmptyPages,
    "comparedPages": \.comparedPages,
  ]

  /// Every name there is.
  static let names: [String] =
    [Array(numbers.keys), Array(seconds.keys), Array(xml.keys), Array(pages.keys)].joined().sorted()

  /// Sets the limit that `text` names, such as `items=200000`.
  static func apply(_ text: String, to plan: inout ExportPlan) throws {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    let name = parts.first ?? ""
    let least = pages[name] == nil ? 1 : 0
    guard parts.count == 2, let value = Int(parts[1]), value >= least else {
      throw ValidationError("--limit \(text): expected NAME=N, N a whole number from \(least) on.")
    }
    if let path = numbers[name] {
      plan.configuration[keyPath: path] = value
    } else if let path = seconds[name] {
      plan.configuration[keyPath: path] = .seconds(value)
    } else if let path = xml[name] {
      plan.xmlLimits[keyPath: path] = value
    } else if let path = pages[name] {
      plan.limits[keyPath: path] = value
    } else {
      let hint = NearestName.find(name, in: names).map { " Did you mean \"\($0)\"?" } ?? ""
      throw ValidationError(
        "--limit \(text): there is no such limit, but \(names.joined(separator: ", ")).\(hint)")
    }
  }
}
