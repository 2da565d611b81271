import ArgumentParser
import Foundation
import HTTPTypes

/// One `-H 'Name: value'`, where the value may be `env:VARIABLE` or `@file`.
///
/// Everyone on the machine can read a command line; nobody else can read the environment or a
/// private file. No message here repeats a value.
enum HeaderOption {
  /// The field that the option's text stands for.
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
    let given = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    let value = try self.value(given, for: "-H \(written)", environment: environment)
    guard HTTPField.isValidValue(value) else {
      throw ValidationError(
        "-H \(written): the value has characters that no header field may have.")
    }
    return HTTPField(name: name, value: value)
  }

  /// The value that an option's text stands for: itself, or what is in a variable or a file.
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
