import HTTPTypes
import QuireCore
public import QuireHTTP
import QuirePagination

/// Checks the promises that every `HTTPTransport` makes, against an origin on loopback.
///
/// ```swift
/// @Test func transportKeepsItsPromises() async throws {
///   try await TransportConformance.check(MyTransport(), origin: "http://127.0.0.1:8080")
/// }
/// ```
/// The origin is any HTTP/1.1 server that answers these targets on at least 32 connections:
///
/// | Target | Answer |
/// |---|---|
/// | `/echo…`, anything after `/echo` | 200; the body is the request: its line as `METHOD TARGET`, a line `name: value` for each field with its name in lower case, an empty line, the body. Lines end with LF. |
/// | `/bytes/N` | 200, Content-Length N; byte i of the body is i modulo 251. |
/// | `/chunked/N` | 200; the same body, chunked. |
/// | `/gzip/N` | 200, Content-Encoding gzip; the same body, gzipped. |
/// | `/status/N` | The status N, an empty body. |
/// | `/redirect` | 302, Location `/bytes/1`, an empty body. |
/// | `/cookie` | 200, Set-Cookie `crumb=1`, an empty body. |
/// | `/cut/N` | 200, Content-Length N; one byte less, then the connection is closed. |
/// | `/cut-chunked/N` | 200, chunked; N bytes in a chunk, then the connection is closed. |
/// | `/stall/head` | Nothing, until the client closes the connection. |
/// | `/stall/body` | 200, Content-Length 1000; 10 bytes, then nothing until the client closes. |
/// | `/arrived/N` | 200 with an empty body, as soon as N requests for `/stall/…` have arrived in all. |
/// | `/left/N` | 200 with an empty body, as soon as the clients of N such requests have gone. |
public struct TransportConformance: Sendable {
  let transport: any HTTPTransport
  let origin: String

  /// Checks every promise in turn.
  ///
  /// - Parameters:
  ///   - transport: The transport, which is not shut down.
  ///   - origin: The origin with the targets above, such as `http://127.0.0.1:8080`. It must have
  ///     been started for this check alone, because stalled requests are counted from its start.
  /// - Throws: The first `ConformanceFailure`.
  public static func check(_ transport: some HTTPTransport, origin: String) async throws {
    let suite = TransportConformance(transport: transport, origin: origin)
    try await suite.checkRequests()
    try await suite.checkBodies()
    try await suite.checkEndings()
    try await suite.checkCancellation()
  }
}

extension TransportConformance {
  /// Checks that answers are complete, in order and decoded.
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

  /// Checks that an unread body does not hold up others. It is longer than a transport should read
  /// ahead.
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

extension TransportConformance {
  /// Checks that a truncated body throws instead of ending.
  func checkEndings() async throws {
    for target in ["/cut/10", "/cut/100000", "/cut-chunked/10"] {
      try await expectFailure("A body that was cut throws truncated.", codes: [.truncated]) {
        _ = try await body(of: request(target))
      }
    }
  }

  /// Checks that cancelling or releasing a transfer closes its socket.
  func checkCancellation() async throws {
    try await checkCancelledBeforeStart()
    try await checkCancelled(at: "/stall/head", stalls: 1)
    try await checkCancelled(at: "/stall/body", stalls: 2)
    try await checkDropped(stalls: 3)
  }

  private func checkCancelledBeforeStart() async throws {
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await transport.send(stalling("/stall/head"))
    }
    task.cancel()
    try await expectCancellation(of: task)
  }

  private func checkCancelled(at target: String, stalls: Int) async throws {
    let task = Task { try await body(of: stalling(target)) }
    _ = try await body(of: request("/arrived/\(stalls)"))
    task.cancel()
    try await expectCancellation(of: task)
    try await expectDeparture("A cancelled transfer closes its connection.", stalls: stalls)
  }

  private func checkDropped(stalls: Int) async throws {
    func takeOneSlice() async throws {
      _ = try await transport.send(request("/stall/body")).body.next()
    }
    try await takeOneSlice()
    try await expectDeparture("A dropped body closes its connection.", stalls: stalls)
  }

  /// Returns a request whose answer never arrives or never ends. The timeouts end it if the
  /// transport does not support cancellation.
  private func stalling(_ target: String) -> TransportRequest {
    var request = request(target)
    request.timeouts = Timeouts(head: patience, stall: patience, total: patience)
    return request
  }

  private func expectDeparture(_ promise: String, stalls: Int) async throws {
    var left = request("/left/\(stalls)")
    left.timeouts.head = patience
    do {
      _ = try await body(of: left)
    } catch let error as PageError where error.code == .timedOut {
      throw ConformanceFailure(promise, evidence: "The server still waits after \(patience).")
    }
  }

  /// The longest wait: far longer than closing a connection takes, and short enough for a failing
  /// test.
  private var patience: Duration { .seconds(5) }

  private func expectCancellation<Success: Sendable>(
    of task: Task<Success, any Error>
  ) async throws {
    let promise = "A cancelled transfer throws CancellationError."
    do {
      _ = try await task.value
    } catch is CancellationError {
      return
    } catch {
      throw ConformanceFailure(promise, evidence: "It threw \(error)")
    }
    throw ConformanceFailure(promise, evidence: "It went on to its end.")
  }
}

extension TransportConformance {
  /// A request as the origin received it.
  struct Echo {
    var line: String
    var fields: [String]
    var body: [UInt8]
  }

  func request(_ target: String) -> TransportRequest {
    TransportRequest(head: head(of: origin + target))
  }

  /// Splits a URL at the first `://` and at the first `/` after it.
  func head(of url: String) -> HTTPRequest {
    let parts = url.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = parts.last ?? ""
    let authority = rest.prefix { $0 != "/" }
    return HTTPRequest(
      method: .get, scheme: String(parts[0]), authority: String(authority),
      path: String(rest.dropFirst(authority.count)))
  }

  func body(of request: TransportRequest) async throws -> [UInt8] {
    let response = try await transport.send(request)
    var bytes: [UInt8] = []
    while let slice = try await response.body.next() { bytes += slice }
    return bytes
  }

  func echo(_ request: TransportRequest) async throws -> Echo {
    let bytes = try await body(of: request)
    let newline = UInt8(ascii: "\n")
    var lines: [String] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: newline), end > rest.startIndex {
      lines.append(String(decoding: rest[..<end], as: UTF8.self))
      rest = rest[(end + 1)...]
    }
    return Echo(
      line: lines.first ?? "", fields: Array(lines.dropFirst()), body: Array(rest.dropFirst()))
  }

  /// Returns the body of `/bytes/count`.
  func pattern(_ count: Int) -> [UInt8] {
    let block = Array(UInt8(0)..<251)
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += block }
    return Array(bytes.prefix(count))
  }

  func expectFailure(
    _ promise: String, codes: Set<PageError.Code>, _ operation: () async throws -> Void
  ) async throws {
    do {
      try await operation()
    } catch let error as PageError where codes.contains(error.code) {
      return
    } catch {
      throw ConformanceFailure(promise, evidence: "It threw \(error)")
    }
    throw ConformanceFailure(promise, evidence: "It succeeded.")
  }
}

extension TransportConformance {
  /// Checks that requests are sent completely and unchanged.
  func checkRequests() async throws {
    try await checkTarget()
    try await checkFields()
    try await checkRequestBody()
    try await checkRefusals()
    try await checkMemory()
  }

  private func checkTarget() async throws {
    let target = "/echo/a%2fB/./x/../%7euser//y?q=a+b%20c&&empty=&q=%c3%a9"
    let line = try await echo(request(target)).line
    try expect(
      line == "GET \(target)", "A target goes out byte for byte.",
      evidence: "The server received '\(line)' for '\(target)'.")
  }

  private func checkFields() async throws {
    var request = request("/echo/fields")
    request.head.headerFields.append(HTTPField(name: .accept, value: "a/b"))
    for (name, value) in [("X-Twice", "1"), ("X-Twice", "2"), ("X-Empty", "")] {
      guard let name = HTTPField.Name(name) else { continue }
      request.head.headerFields.append(HTTPField(name: name, value: value))
    }
    let fields = try await echo(request).fields
    let sent = fields.filter { $0.hasPrefix("x-") || $0.hasPrefix("accept:") }.sorted()
    try expect(
      sent.map { $0.filter { $0 != " " } } == ["accept:a/b", "x-empty:", "x-twice:1", "x-twice:2"],
      "All fields of the request are sent, empty and repeated ones too.", evidence: "Sent: \(sent)."
    )
    let own: Set<Substring> = [
      "host", "connection", "accept-encoding", "content-length", "user-agent",
    ]
    let uninvited = try await echo(self.request("/echo/bare")).fields.filter {
      !own.contains($0.prefix { $0 != ":" })
    }
    try expect(
      uninvited.isEmpty, "Only the request's own fields are sent, and what framing needs.",
      evidence: "Sent as well: \(uninvited).")
  }

  private func checkRequestBody() async throws {
    for method in [HTTPRequest.Method.post, .put, .patch] {
      var request = request("/echo/body")
      request.head.method = method
      request.body = pattern(20_000)
      let echo = try await echo(request)
      try expect(
        echo.body == request.body && echo.line == "\(method.rawValue) /echo/body",
        "Method and body go out as they are.",
        evidence: "'\(echo.line)' with \(echo.body.count) bytes came for \(method) with 20000.")
    }
  }

  private func checkRefusals() async throws {
    for character in ["\r", "\n", "\0", " ", "\u{7F}"] {
      var hostile = request("/echo")
      hostile.head.path = "/echo?a=\(character)b"
      try await expectFailure(
        "A target with control characters or blanks is refused.", codes: [.invalidURL]
      ) { _ = try await transport.send(hostile) }
    }
    for url in ["ftp://127.0.0.1/", "file:///etc/hostname", "http://user:pass@127.0.0.1/"] {
      try await expectFailure(
        "Other schemes than http and https, and user names, are refused.", codes: [.invalidURL]
      ) { _ = try await transport.send(TransportRequest(head: head(of: url))) }
    }
  }

  private func checkMemory() async throws {
    _ = try await body(of: request("/cookie"))
    let cookies = try await echo(request("/echo/cookie")).fields.filter { $0.hasPrefix("cookie") }
    try expect(
      cookies.isEmpty, "A transport remembers no cookies.", evidence: "Sent: \(cookies).")
  }
}
