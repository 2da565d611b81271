import Foundation

/// Another process: a reader of another language, or this program again with memory of its own.
enum Child {
  /// Runs a command to its end, and returns what it printed.
  static func output(of command: [String]) throws -> String {
    let (process, pipe) = try start(command)
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      fatalError("\(command) failed: \(process.terminationStatus)")
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// Runs this program once more, and returns the numbers that it printed, each behind its name.
  static func numbers(of arguments: [String]) throws -> [String: Double] {
    let lines = try output(of: [CommandLine.arguments[0]] + arguments).split(separator: "\n")
    return Dictionary(
      uniqueKeysWithValues: lines.compactMap { line in
        let parts = line.split(separator: "=")
        return parts.count == 2 ? Double(parts[1]).map { (String(parts[0]), $0) } : nil
      })
  }

  /// Starts a command.
  static func start(_ command: [String]) throws -> (process: Process, output: Pipe) {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(filePath: command[0])
    process.arguments = Array(command.dropFirst())
    process.standardOutput = pipe
    try process.run()
    return (process, pipe)
  }
}
