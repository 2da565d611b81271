import ArgumentParser

/// Times on the command line: `90`, `90s`, `15m`, `2h`.
enum DurationOption {
  private static let units = ["": 1, "s": 1, "m": 60, "h": 3600]

  /// The time that `text` stands for, or a usage error that names the option.
  static func duration(_ text: String, for option: String) throws -> Duration {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let count = Int32(digits), let unit = units[String(text.dropFirst(digits.count))] else {
      throw ValidationError(
        "\(option) \(text): not a time. Write seconds, or such as 90s, 15m or 2h.")
    }
    return .seconds(Int(count) * unit)
  }
}
