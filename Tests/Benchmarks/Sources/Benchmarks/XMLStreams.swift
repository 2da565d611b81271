import Foundation
import Quire
import QuireHTTP
import QuireXML

/// Pages whose items are wanted before the page has come.
enum XMLStreams {
  /// 50 MB that arrive at 50 MB/s.
  static func measureFirstItem() async throws -> [Figure] {
    var times: [Double] = []
    for _ in 0..<5 {
      let cursor = cursor(PacedTransport(bytes: 50_000_000, bytesPerSecond: 50_000_000))
      let start = ContinuousClock.now
      for try await _ in cursor.items {
        times.append(start.duration(to: .now) / .milliseconds(1))
        break
      }
    }
    return [
      Figure(
        "first item of a 50 MB page at 50 MB/s", Measurement.median(times), "ms", .atMost(50))
    ]
  }

  /// 200 MB, as fast as they are taken.
  static func measureMemory() async throws -> [Figure] {
    // What a small page needs is the base.
    for try await _ in cursor(PacedTransport(bytes: 100_000)).items {}
    let base = ProcessStatus.residentBytes
    var items = 0
    let time = try await Measurement.time {
      for try await _ in cursor(PacedTransport(bytes: 200_000_000)).items { items += 1 }
    }
    precondition(items > 400_000)
    let growth = Double(ProcessStatus.peakResidentBytes - base) / 1024 / 1024
    return [
      Figure("200 MB page in parts: memory above the base", growth, "MiB", .atMost(16)),
      Figure("  items in parts", 200 / (time / .seconds(1)), "MB/s"),
    ]
  }

  private static func cursor(_ transport: PacedTransport) -> Cursor<BucketObject> {
    var configuration = PageClient.Configuration()
    configuration.decodingLimits.items = .max
    configuration.decodingLimits.events = .max
    return PageClient(transport: transport, configuration: configuration).cursor(
      at: "https://bucket.test/",
      pagination: Pagination(
        next: .body("/ListBucketResult/NextContinuationToken"),
        send: .query("continuation-token"), items: "/ListBucketResult/Contents"),
      decoder: XMLPageDecoder<BucketObject>(), delivery: .asItArrives)
  }
}

/// Answers with one page of about this size, made while it is read.
private struct PacedTransport: HTTPTransport {
  let bytes: Int
  /// nil for as fast as it is read.
  var bytesPerSecond: Double?

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    let objects = Array((0..<160).map(BucketPage.object).joined().utf8)
    let body = PacedBody(slice: objects, transport: self)
    return TransportResponse(
      head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/xml"]),
      body: TransportBody(next: { try await body.next() }))
  }

  /// About 64 KB a slice.
  private actor PacedBody {
    private let slice: [UInt8]
    private let transport: PacedTransport
    private let start = ContinuousClock.now
    private var sent = 0
    private var isOver = false

    init(slice: [UInt8], transport: PacedTransport) {
      self.slice = slice
      self.transport = transport
    }

    func next() async throws -> [UInt8]? {
      if isOver { return nil }
      if sent == 0 {
        sent += slice.count
        try await pace()
        return Array(BucketPage.head.utf8) + slice
      }
      if sent >= transport.bytes {
        isOver = true
        return Array(BucketPage.tail.utf8)
      }
      sent += slice.count
      try await pace()
      return slice
    }

    /// Waits until this much could have come.
    private func pace() async throws {
      guard let rate = transport.bytesPerSecond else { return }
      try await Task.sleep(until: start + .seconds(Double(sent) / rate))
    }
  }
}
