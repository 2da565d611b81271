import Foundation
import HTTPTypes
import Quire
import QuireFeeds
import QuireFeedsSQLite
import QuireHTTP

/// An aggregator that is killed at random moments while its feeds grow: every entry is in the store once.
enum FeedKills {
  private static let feeds = 60
  /// Entries that a feed holds, and how many of them are new with each edition.
  private static let (entries, step) = (20, 5)
  /// Editions that one store takes: what is in it is read after each kill.
  private static let editions = 20

  static func measure() async throws -> [Figure] {
    let kills = ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) } ?? 1_000
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let seed = UInt64.random(in: 0...UInt64.max)
    var chance = Chance(state: seed)
    var (done, edition, wrong) = (0, 0, 0)
    // How long it takes to read an edition, in microseconds.
    var life: UInt64 = 120_000
    // Until as many kills are behind it, and the last edition was read to its end.
    while true {
      if edition.isMultiple(of: editions) {
        for end in ["", "-wal", "-shm"] {
          try? FileManager.default.removeItem(at: folder.appending(path: "feeds.sqlite" + end))
        }
      }
      try Data("\(edition)".utf8).write(to: folder.appending(path: "edition"), options: .atomic)
      // Two of three lives are killed before they have read their edition, but for the first, which shows how
      // long that takes here.
      var isWhole = false
      while !isWhole {
        let start = ContinuousClock.now
        let (process, output) = try Child.start([
          CommandLine.arguments[0], "aggregate", folder.path,
        ])
        if edition > 0, done < kills {
          try await Task.sleep(for: .microseconds(chance.next() % (life * 3 / 2)))
          kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        _ = output.fileHandleForReading.readDataToEndOfFile()
        isWhole = process.terminationReason == .exit
        guard !isWhole || process.terminationStatus == 0 else { fatalError("It failed.") }
        if !isWhole { done += 1 }
        if edition == 0 { life = UInt64(start.duration(to: .now) / .microseconds(1)) }
        wrong += try await mistakes(in: folder, edition, isWhole: isWhole)
      }
      if done >= kills { break }
      edition += 1
    }
    return [
      Figure(
        "kill -9 of the aggregator, \(done) times: entries lost or twice", Double(wrong), "",
        .atMost(0)),
      Figure(
        "  editions of \(feeds) feeds that it read meanwhile (seed \(seed))", Double(edition + 1),
        ""),
    ]
  }

  /// Entries that are in the store twice, and those that are missing where the edition was read whole.
  private static func mistakes(
    in folder: URL, _ edition: Int, isWhole: Bool
  ) async throws -> Int {
    let store = try SQLiteFeedStore(path: folder.appending(path: "feeds.sqlite").path)
    let found = try await store.entries(EntrySelection(), at: nil, limit: 10_000_000).items
    let names = found.map { "\($0.subscription) \($0.entry.id ?? "")" }
    var wrong = names.count - Set(names).count
    let expected = feeds * (entries + edition % editions * step)
    if isWhole { wrong += abs(names.count - expected) }
    return wrong
  }

  /// The aggregator's life: polls what is due, and ends.
  static func aggregate(_ folder: String) async throws {
    let text = try String(contentsOfFile: folder + "/edition", encoding: .utf8)
    guard let edition = Int(text) else { fatalError("There is no edition.") }
    let store = DueNow(base: try SQLiteFeedStore(path: folder + "/feeds.sqlite"))
    let client = PageClient(transport: Publisher(edition: edition), configuration: .feed)
    let limits = PollingLimits(hostGap: .zero)
    let aggregator = Aggregator(
      store: store, client: client, settings: AggregatorSettings(limits: limits))
    for number in 0..<feeds {
      try await aggregator.subscribe(to: "https://feed\(number).example/")
    }
    try await aggregator.pollDue()
  }

  /// Feeds of an edition, each under its validator.
  private struct Publisher: HTTPTransport {
    let edition: Int

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      let tag = "\"\(edition)\""
      if request.head.headerFields[.ifNoneMatch] == tag {
        return TransportResponse(
          head: HTTPResponse(status: .notModified, headerFields: [.eTag: tag]),
          framing: .explicit, body: .bytes([]))
      }
      return TransportResponse(
        head: HTTPResponse(status: .ok, headerFields: [.eTag: tag]), framing: .explicit,
        body: .bytes(FeedPages.rss(entries, first: edition * step)))
    }
  }
}

/// SplitMix64 (https://prng.di.unimi.it/splitmix64.c), so that a run can be repeated by its seed.
struct Chance {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
