import Foundation

/// What a demo style needs to know about a request.
struct DemoRequest: Sendable {
  /// Where the API was reached, such as `http://127.0.0.1:8080`.
  var origin: String
  /// The path, such as `/link-header`.
  var path: String
  /// The query parameters, percent-decoded; the last one wins.
  var query: [String: String]
  /// The request body; empty for none.
  var body: Data

  /// Splits a raw target's query. Nothing but `%XX` is decoded: a `+` is a plus.
  static func parameters(_ query: String) -> [String: String] {
    var result: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0]).removingPercentEncoding ?? String(parts[0])
      let value = parts.count > 1 ? String(parts[1]) : ""
      result[name] = value.removingPercentEncoding ?? value
    }
    return result
  }

  /// A whole number from the query, `fallback` where it is absent.
  func number(_ name: String, or fallback: Int) throws -> Int {
    guard let text = query[name] else { return fallback }
    guard let value = Int(text), value >= 0 else {
      throw DemoFailure("The parameter \(name) is no whole number.")
    }
    return value
  }

  /// The page size asked for in `name`, between 1 and 1,000.
  func size(_ name: String) throws -> Int {
    min(max(try number(name, or: DemoSlice.defaultSize), 1), DemoSlice.largestSize)
  }

  /// A URL of this API that a server would put into a next link.
  func link(_ query: String) -> String { "\(origin)\(path)?\(query)" }
}

/// A request the demo API cannot answer; it becomes a 400.
struct DemoFailure: Error {
  var message: String
  init(_ message: String) { self.message = message }
}

/// What a demo style answers.
struct DemoAnswer: Sendable {
  var status = 200
  var headers: [(name: String, value: String)] = []
  var mediaType = "application/json"
  var body: String
}
