import Foundation
import Quire
import QuirePagination

/// What long walks and many walks cost in memory and threads.
enum Memory {
  private static let mebibyte = 1024.0 * 1024

  /// One walk over 100,000 pages.
  static func measureLongWalk(_ server: Server) async throws -> [Figure] {
    let byNumber = Pagination(next: .pageNumber, send: .query("number"), end: [.emptyPage])
    var cursor = PageClient().cursor(
      at: server.base + "/page", pagination: byNumber, decoder: BytesPageDecoder())
    cursor.limits.pages = 100_000
    var start = 0
    var largest = 0
    for try await page in cursor where page.index % 1000 == 999 {
      let resident = ProcessStatus.residentBytes
      if start == 0 { start = resident }
      largest = max(largest, resident)
    }
    let growth = Double(largest - start) / mebibyte
    return [
      Figure("100,000 pages: memory gained after the first 1,000", growth, "MiB", .atMost(2))
    ]
  }

  /// 1,000 walks at once on one client.
  static func measureManyCursors(_ server: Server) async throws -> [Figure] {
    await startRuntimeThreads()
    let memory = ProcessStatus.residentBytes
    let threads = ProcessStatus.threads
    let client = PageClient()
    let mostThreads = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<1000 {
        group.addTask {
          var cursor = server.pages(client)
          cursor.limits.pages = 20
          for try await _ in cursor {}
          return ProcessStatus.threads
        }
      }
      return try await group.reduce(0, max)
    }
    let growth = Double(ProcessStatus.peakResidentBytes - memory) / mebibyte
    return [
      Figure("1,000 cursors at once: memory gained at the peak", growth, "MiB", .atMost(64)),
      Figure("  threads beyond the runtime's own", Double(mostThreads - threads), "", .atMost(8)),
    ]
  }

  /// Cursors that live at the same time: each reads a page, waits until all have one, and reads another.
  static func measureLiveCursors(_ server: Server) async throws -> [Figure] {
    await startRuntimeThreads()
    let count = 10_000
    let memory = ProcessStatus.residentBytes
    let client = PageClient()
    let (arrivals, arrived) = AsyncStream<CheckedContinuation<Void, Never>>.makeStream()
    async let all: Void = {
      var waiting: [CheckedContinuation<Void, Never>] = []
      for await waiter in arrivals {
        waiting.append(waiter)
        if waiting.count == count { break }
      }
      for waiter in waiting { waiter.resume() }
    }()
    let (failures, threads) = await withTaskGroup(of: (hasFailed: Bool, threads: Int).self) {
      group in
      for _ in 0..<count {
        group.addTask {
          var pages = server.pages(client).makeAsyncIterator()
          // Only the cursor lives on, not its page.
          let hasFirst = await (try? pages.next()) != nil
          await withCheckedContinuation { _ = arrived.yield($0) }
          let hasSecond = await (try? pages.next()) != nil
          return (!(hasFirst && hasSecond), ProcessStatus.threads)
        }
      }
      return await group.reduce(into: (0, 0)) { total, outcome in
        total = (total.0 + (outcome.hasFailed ? 1 : 0), max(total.1, outcome.threads))
      }
    }
    await all
    let growth = Double(ProcessStatus.peakResidentBytes - memory) / mebibyte
    return [
      Figure("10,000 live cursors: memory gained at the peak", growth, "MiB", .atMost(200)),
      Figure("  threads", Double(threads), "", .atMost(16)),
      Figure("  that failed", Double(failures), "", .atMost(0)),
    ]
  }

  /// Keeps all processors busy for a moment, so that the runtime has started all its threads and
  /// they are not counted as ours.
  private static func startRuntimeThreads() async {
    await withTaskGroup { group in
      for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
        group.addTask {
          let end = ContinuousClock.now + .milliseconds(100)
          while ContinuousClock.now < end {}
        }
      }
    }
  }
}
