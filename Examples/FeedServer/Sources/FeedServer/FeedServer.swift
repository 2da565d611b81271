import Foundation
import Hummingbird
import Quire
import QuireFeeds
import QuireFeedsSQLite
import QuireServing
import ServiceLifecycle

/// Polls feeds, merges their entries, and serves these as a web page, as JSON with sealed cursors,
/// and as Atom.
///
/// `FeedServer [PORT [FILE]]`: the page is at http://127.0.0.1:PORT/, by default 8080, and the
/// entries are stored in FILE, by default `feeds.sqlite`. The server subscribes to fifty feeds of
/// the example's own, which it serves at the next port.
@main
struct FeedServer {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let port = arguments.first.flatMap { Int($0) } ?? 8080
    let store = try SQLiteFeedStore(path: arguments.dropFirst().first ?? "feeds.sqlite")
    let metrics = Metrics()
    let aggregator = makeAggregator(store, metrics)
    let site = Site(
      store: store, aggregator: aggregator, metrics: metrics,
      listing: PagedListing(style: .cursor, keys: try keys(), pageSize: 30, maxPageSize: 100))

    let origin = Origin()
    let originPort = port + 1
    let feeds = Application(
      router: origin.router,
      configuration: .init(address: .hostname("127.0.0.1", port: originPort)))
    var server = Application(
      router: site.router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { _ in
        print("Feeds to read: http://127.0.0.1:\(port)/")
        print("Their health:  http://127.0.0.1:\(port)/feeds")
        fflush(nil)  // into a pipe or a file as well, at once
      })
    server.addServices(
      feeds,
      PollingService(aggregator: aggregator) {
        // Subscribe at each start, because an earlier one may have been interrupted. Existing
        // subscriptions stay.
        let list = try OPML(Array(origin.list(port: originPort).utf8))
        _ = try await aggregator.add(list)
      })
    try await server.runService()
  }

  private static func makeAggregator(_ store: SQLiteFeedStore, _ metrics: Metrics) -> Aggregator {
    var configuration = PageClient.Configuration.feed
    // Publishers can find out here who polls their feeds, and why.
    configuration.headers[.userAgent] = "QuireFeedServer/1 (+https://example.org/feeds)"
    let settings = AggregatorSettings(
      // All fifty feeds are on one host, which is the example's own. For hosts of publishers, keep
      // the defaults: one poll at a time, and two seconds between polls.
      limits: PollingLimits(concurrentPerHost: 8, hostGap: .milliseconds(20)),
      options: FeedOptions(html: .sanitized), pagesAtFirst: 10)
    return Aggregator(
      store: store, client: PageClient(configuration: configuration), settings: settings
    ) { metrics.note($0) }
  }

  /// Returns the key from the environment, in hexadecimal digits, so that cursors remain valid
  /// after a restart; otherwise a random key.
  private static func keys() throws -> PageToken.Keys {
    guard let text = ProcessInfo.processInfo.environment["FEED_SERVER_SECRET"] else {
      return PageToken.Keys(try .random())
    }
    let digits = Array(text.utf8)
    let secret = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
    }
    return PageToken.Keys(try PageToken.Key(secret: secret))
  }
}

/// A service that prepares and runs the aggregator until the server shuts down.
struct PollingService: Service {
  let aggregator: Aggregator
  let prepare: @Sendable () async throws -> Void

  func run() async throws {
    try await cancelWhenGracefulShutdown {
      do {
        try await prepare()
        try await aggregator.run()
      } catch is CancellationError {}
    }
  }
}
