import Foundation
import Quire
import QuirePagination

#if canImport(Glibc)
  import Glibc
#endif

/// Walks whose names nothing resolves; `run` gives this row a network and a resolv.conf of its own.
enum Names {
  private static let walks = 1_000

  /// Cancelling 1,000 walks that wait for the addresses of 1,000 names, five times.
  static func measureDeadResolver() async throws -> [Figure] {
    try listenInSilence()
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    let client = PageClient(configuration: configuration)
    // Refused without a look-up: the transport and the runtime have started their threads, which are not counted.
    _ = try? await client.cursor(
      at: "http://127.0.0.1:1/", pagination: .linkHeader, decoder: BytesPageDecoder()
    ).walk().next()
    let threads = ProcessStatus.threads
    var times: [Double] = []
    var mostThreads = 0
    for round in 0..<5 {
      let tasks = (0..<walks).map { number in
        Task {
          try await client.cursor(
            at: "https://dead\(round)-\(number).example/", pagination: .linkHeader,
            decoder: BytesPageDecoder()
          ).walk().next()
        }
      }
      // All are under way by then, and a look-up takes a minute.
      try await Task.sleep(for: .seconds(1))
      mostThreads = max(mostThreads, ProcessStatus.threads)
      let begin = ContinuousClock.now
      for task in tasks { task.cancel() }
      for task in tasks {
        guard case .failure(is CancellationError) = await task.result else {
          fatalError("A walk ended before it was cancelled: a resolver answers here.")
        }
      }
      times.append(begin.duration(to: .now) / .milliseconds(1))
    }
    return [
      Figure("1,000 walks under dead DNS, cancelled", Measurement.median(times), "ms", .atMost(50)),
      Figure("  threads that look names up", Double(mostThreads - threads), "", .atMost(16)),
    ]
  }

  /// Takes what is asked on port 53 and answers nothing.
  private static func listenInSilence() throws {
    let server = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(53).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let bound = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }
}
