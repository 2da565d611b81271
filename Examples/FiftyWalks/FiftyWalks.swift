import Foundation
import Quire
import Synchronization

/// Reads fifty listings of one server at the same time, with one client.
///
/// `FiftyWalks URL` takes the address of a listing, such as one that `quire demo` serves. Each walk
/// adds its number to the address, as a query parameter.
///
/// The walks share a limit of twenty requests a second, and the limits that the server states. The
/// client waits and retries, so the program does not.
@main
struct FiftyWalks {
  static func main() async throws {
    guard CommandLine.arguments.count == 2 else { fatalError("usage: FiftyWalks URL") }
    try await drain(CommandLine.arguments[1])
  }

  @concurrent static func drain(_ url: String) async throws {
    let waits = Mutex(0)
    var configuration = PageClient.Configuration()
    configuration.retry = .export
    configuration.budget.rate = .init(20, per: .seconds(1), burst: 50)
    configuration.onEvent = { event in
      if case .pause = event { waits.withLock { $0 += 1 } }
    }
    let client = PageClient(configuration: configuration)

    let reports = try await withThrowingTaskGroup(of: WalkReport.self) { group in
      for number in 1...50 {
        let walk = client.cursor(
          of: RawItem.self, at: url, pagination: .linkHeader.items(at: "/items"),
          request: .init(parameters: ["walk": "\(number)"])
        ).walk()
        group.addTask {
          for try await _ in walk {}
          return walk.report
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }

    let items = reports.reduce(0) { $0 + $1.items }
    let requests = reports.reduce(0) { $0 + $1.traffic.requests }
    print("\(reports.count) walks, \(items) items, \(requests) requests")
    print(waits.withLock { $0 } > 0 ? "some waited for the budget they share" : "none had to wait")
  }
}
