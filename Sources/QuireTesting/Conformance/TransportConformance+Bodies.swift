import HTTPTypes
import QuireHTTP

extension TransportConformance {
  /// What comes back is whole, in order, and without content coding.
  func checkBodies() async throws {
    for style in ["bytes", "chunked", "gzip"] {
      for count in [0, 1, 1_000, 100_000] { try await checkBody("/\(style)/\(count)", count) }
    }
    try await checkConcurrentBodies()
    try await checkRestingBody()
    for status in [204, 404, 410, 429, 500, 503] {
      let response = try await transport.send(request("/status/\(status)"))
      try expect(
        response.head.status.code == status, "A status is handed over, not judged.",
        evidence: "\(response.head.status) came for \(status).")
    }
    let redirect = try await transport.send(request("/redirect"))
    try expect(
      redirect.head.status.code == 302 && redirect.head.headerFields[.location] == "/bytes/1",
      "A redirect is handed over, not followed.", evidence: "\(redirect.head) came.")
  }

  private func checkBody(_ target: String, _ count: Int) async throws {
    let response = try await transport.send(request(target))
    var received: [UInt8] = []
    while let slice = try await response.body.next() {
      try expect(!slice.isEmpty, "No slice is empty.", evidence: "\(target) came with one.")
      received += slice
    }
    try expect(
      received == pattern(count), "A body arrives whole and decoded.",
      evidence: "\(target) came with \(received.count) bytes, or others.")
    try expect(
      response.framing == .explicit, "Length, chunks and streams are explicit framing.",
      evidence: "\(target) came as \(response.framing).")
    let afterTheEnd = try await response.body.next()
    try expect(
      afterTheEnd == nil, "After the end, a body stays at its end.",
      evidence: "\(target) went on with \(afterTheEnd?.count ?? 0) bytes.")
    try expect(
      response.body.metrics.wireRequests >= 1
        && (count == 0 || response.body.metrics.wireBytes > 0),
      "A body knows what it took on the wire.", evidence: "\(response.body.metrics)")
  }

  /// Long enough to be more than a transport should read ahead.
  private func checkRestingBody() async throws {
    let count = 3_000_000
    let resting = try await transport.send(request("/bytes/\(count)")).body
    var received = try await resting.next() ?? []
    for _ in 0..<8 {
      let other = try await body(of: request("/bytes/1000"))
      try expect(
        other == pattern(1_000), "A body that rests holds up no other.",
        evidence: "\(other.count) bytes, or others, came for 1000.")
    }
    while let slice = try await resting.next() { received += slice }
    try expect(
      received == pattern(count), "A body that rested arrives whole.",
      evidence: "\(received.count) bytes, or others, came for \(count).")
  }

  private func checkConcurrentBodies() async throws {
    let counts = (1...24).map { $0 * 499 }
    try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
      for count in counts {
        group.addTask { (count, try await body(of: request("/bytes/\(count)"))) }
      }
      for try await (count, received) in group {
        try expect(
          received == pattern(count), "Requests at the same time get their own answers.",
          evidence: "\(received.count) bytes, or others, came for \(count).")
      }
    }
  }
}
