import Dispatch
import Foundation
import Quire

/// Runs one hot path so many times, for valgrind to count: `Instructions PATH TIMES SERVER`.
///
/// What it costs once is the difference of two runs, so that start and end cancel out.
/// `Instructions pages FOLDER` writes the pages for the server.
@main
struct Instructions {
  private static let paths: [String: @Sendable (Int, String) async throws -> Void] = [
    "page": Walks.page, "scripted": { times, _ in try await Walks.scripted(times) },
    "ahead": { times, _ in try await Walks.ahead(times) },
    "typed": { times, _ in try Pages.decode(times) },
    "raw": { times, _ in try Pages.export(times) },
    "index": { times, _ in try Pages.index(times) },
  ]

  // Not async: valgrind does not survive a main thread that serves the queues.
  static func main() throws {
    let arguments = CommandLine.arguments
    if arguments.count == 3, arguments[1] == "pages" { return try Pages.write(to: arguments[2]) }
    guard arguments.count == 4, let path = paths[arguments[1]], let times = Int(arguments[2]) else {
      fatalError("Instructions \(paths.keys.sorted().joined(separator: "|")) TIMES SERVER")
    }
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
      try await path(times, arguments[3])
      isDone.signal()
    }
    isDone.wait()
  }
}
