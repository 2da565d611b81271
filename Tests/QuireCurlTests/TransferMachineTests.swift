import CCurl
import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireCurl

/// A machine played by hand, on a clock that only moves when told to.
private struct Play {
  var machine: TransferMachine
  var now = ContinuousClock.now

  init(
    isHead: Bool = false, timeouts: Timeouts = .api, limits: TransferLimits = .api,
    isSent: Bool = true, replays: Int = 1
  ) {
    machine = TransferMachine(
      host: "example.com", isHead: isHead, timeouts: timeouts, limits: limits, replays: replays,
      isRepeatable: replays > 0)
    if isSent { _ = machine.requestSent(at: now) }
  }

  mutating func head(_ lines: String...) -> TransferMachine.Verdict {
    var verdict = TransferMachine.Verdict.proceed
    for line in lines where verdict != .abort {
      let bytes = Array((line + "\r\n").utf8)
      verdict = bytes.withUnsafeBytes { machine.headLine($0, at: now) }
    }
    return verdict
  }

  mutating func body(_ count: Int) -> TransferMachine.Verdict { machine.body(count, at: now) }

  /// The code the transfer fails with; nil when it is whole.
  mutating func end(_ code: CURLcode = CURLE_OK, _ detail: String = "") -> PageError.Code? {
    guard case .failed(let error) = machine.ended(CurlResult(code, detail: detail)) else {
      return nil
    }
    return error.code
  }

  mutating func asksForRetry(_ code: CURLcode) -> Bool {
    if case .again = machine.ended(CurlResult(code)) { true } else { false }
  }
}

@Suite("TransferMachine")
struct TransferMachineTests {
  @Test("a response of the declared length is complete, over any version of HTTP")
  func complete() {
    for line in ["HTTP/1.0 200 OK", "HTTP/1.1 200", "HTTP/2 200 "] {
      var play = Play()
      #expect(play.head(line, "content-length: 5", "") == .proceed)
      #expect(play.machine.head?.framing == .explicit)
      #expect([play.body(2), play.body(3)] == [.proceed, .proceed])
      #expect(play.end() == nil)
    }
  }

  @Test("H1: libcurl's OK does not make a body of another length complete")
  func wrongLength() {
    for count in [0, 4, 6] {
      var play = Play()
      _ = play.head("HTTP/1.1 200 OK", "Content-Length: 5", "")
      _ = play.body(count)
      #expect(play.end() == .truncated)
    }
  }

  @Test("N5: libcurl's OK inside a head is truncated, after an interim response too")
  func cutHead() {
    var play = Play()
    _ = play.head("HTTP/1.1 200 OK", "Content-Type: application/json")
    #expect(play.end() == .truncated)
    var interim = Play()
    _ = interim.head("HTTP/1.1 103 Early Hints", "", "HTTP/1.1 200 OK")
    #expect(interim.end() == .truncated)
  }

  @Test("the end of the connection frames a body only when nothing else does")
  func framing() {
    var open = Play()
    _ = open.head("HTTP/1.1 200 OK", "")
    #expect(open.machine.head?.framing == .untilClose)
    var chunked = Play()
    _ = chunked.head("HTTP/1.1 200 OK", "Transfer-Encoding: Chunked", "")
    #expect(chunked.machine.head?.framing == .explicit)
    var streamed = Play()
    _ = streamed.head("HTTP/2 200", "")
    #expect(streamed.machine.head?.framing == .untilClose)
    var empty = Play()
    _ = empty.head("HTTP/1.1 204 No Content", "")
    #expect(empty.machine.head?.framing == .explicit)
    var answerToHead = Play(isHead: true)
    _ = answerToHead.head("HTTP/1.1 200 OK", "Content-Length: 5", "")
    #expect(answerToHead.machine.head?.framing == .explicit)
    #expect(answerToHead.end() == nil)
  }

  @Test("H4: chunks overrule a length, and the connection is not used again")
  func lengthAndChunks() {
    var play = Play()
    #expect(
      play.head("HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: chunked", "")
        == .proceedThenClose)
    _ = play.body(17)
    #expect(play.end() == nil)
  }

  @Test(
    "H3, H5, H9, H10, H14, H25: a head that breaks HTTP is refused",
    arguments: [
      ["HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 3", ""],
      ["HTTP/1.1 200 OK", "Content-Length: 5, 3", ""],
      ["HTTP/1.1 200 OK", "Content-Length: -1", ""],
      ["HTTP/1.1 200 OK", "Content-Length: 0x10", ""],
      ["HTTP/1.1 200 OK", "Content-Length:", ""],
      ["HTTP/1.1 200 OK", "Content-Length: 99999999999999999999", ""],
      ["HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked", ""],
      ["HTTP/1.1 200 OK", "X: a\0b", ""], ["HTTP/1.1 200 OK", "X: a\rb", ""],
      ["HTTP/1.1 200 OK", "no colon", ""], ["HTTP/1.1 200 OK", " folded first", ""],
      ["HTTP/1.1 200 OK", "b@d: 1", ""],
      ["HTTP/1.1 101 Switching Protocols", ""], ["HTTP/1.1 600 Odd", ""],
      ["HTTP/1.1 999 Odd", ""], ["HTTP/1.1 20 Odd", ""], ["SSH-2.0-OpenSSH_9.2"],
    ])
  func violations(_ lines: [String]) {
    var play = Play()
    let verdicts = lines.map { play.head($0) }
    #expect(verdicts.contains(.abort))
    #expect(play.end(CURLE_WRITE_ERROR) == .protocolViolation)
  }

  @Test("H3: the same length said twice is one length")
  func sameLength() {
    var play = Play()
    #expect(
      play.head("HTTP/1.1 200 OK", "Content-Length: 5, 5", "Content-Length: 5", "") == .proceed)
    #expect(play.machine.head?.contentLength == 5)
  }

  @Test("H10: folded lines are unfolded, and repeated fields stay apart")
  func fields() throws {
    var play = Play()
    _ = play.head("HTTP/1.1 200 OK", "Link: <a>", "\t rel=next", "Link: <b>; rel=prev", "")
    let link = try #require(HTTPField.Name("Link"))
    #expect(
      play.machine.head?.response.headerFields[values: link] == [
        "<a> rel=next", "<b>; rel=prev",
      ])
  }

  @Test("H10: a value folded several times and in other bytes than text comes whole")
  func foldedBytes() throws {
    var play = Play()
    _ = play.head("HTTP/1.1 200 OK", "X-Long: a\u{1}", " \u{E9}b \t", "\tc", "X-Short:", " d", "")
    let fields = try #require(play.machine.head?.response.headerFields)
    #expect(fields.map(\.name.rawName) == ["X-Long", "X-Short"])
    #expect(fields.map(\.value) == ["a\u{1} \u{E9}b c", " d"])
  }

  @Test("H11, H12, H13: heads beyond their limits are limitExceeded")
  func headLimits() {
    let limits = TransferLimits(headerBytes: 100, interimResponses: 2)
    var long = Play(limits: limits)
    #expect(long.head("HTTP/1.1 200 OK", "X: " + String(repeating: "x", count: 100)) == .abort)
    #expect(long.end(CURLE_WRITE_ERROR) == .limitExceeded)
    var unseen = Play(limits: limits)
    _ = unseen.head("HTTP/1.1 200 OK")
    #expect(unseen.end(CURLE_OUT_OF_MEMORY) == .limitExceeded)
    var interim = Play(limits: limits)
    for _ in 0..<2 { #expect(interim.head("HTTP/1.1 100 Continue", "") == .proceed) }
    #expect(interim.head("HTTP/1.1 100 Continue", "") == .abort)
    #expect(interim.end(CURLE_WRITE_ERROR) == .limitExceeded)
  }

  @Test("H29: trailers change nothing but the count of header bytes")
  func trailers() {
    var play = Play()
    _ = play.head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "")
    _ = play.body(3)
    #expect(play.head("Content-Length: 99", "X-Checksum: 1", "") == .proceed)
    #expect(play.machine.head?.response.headerFields.count == 1)
    #expect(play.end() == nil)
  }

  @Test("a body beyond its limit is refused when it is declared, and else when it comes")
  func bodyLimit() {
    let limits = TransferLimits(wireBytes: 10)
    var declared = Play(limits: limits)
    #expect(declared.head("HTTP/1.1 200 OK", "Content-Length: 11", "") == .abort)
    #expect(declared.end(CURLE_WRITE_ERROR) == .limitExceeded)
    var streamed = Play(limits: limits)
    _ = streamed.head("HTTP/1.1 200 OK", "")
    #expect([streamed.body(10), streamed.body(1)] == [.proceed, .abort])
    #expect(streamed.end(CURLE_WRITE_ERROR) == .limitExceeded)
  }

  @Test("N9: one silent replay is allowed and counted, a second is not")
  func replays() {
    var play = Play()
    #expect(play.machine.requestSent(at: play.now) == .proceed)
    #expect(play.machine.wireRequests == 2)
    #expect(play.machine.requestSent(at: play.now) == .abort)
    guard case .failed(let error) = play.machine.ended(CurlResult(CURLE_ABORTED_BY_CALLBACK))
    else {
      Issue.record("a third request was let through")
      return
    }
    #expect(error.attempts == 2)
  }

  @Test(
    "P14: what the end of an HTTP/2 connection gives back is no attempt while others are answered")
  func sentBack() {
    var play = Play()
    for answers in 1...TransferMachine.mostSentBack {
      #expect(play.machine.requestSent(at: play.now, answers: answers) == .proceed)
    }
    // Its one replay is left, also where no other was answered.
    #expect(play.machine.returnedRequests == 32 && play.machine.wireRequests == 33)
    #expect(play.machine.requestSent(at: play.now, answers: 99) == .proceed)
    #expect(play.machine.requestSent(at: play.now, answers: 999) == .abort)
    guard case .failed(let error) = play.machine.ended(CurlResult(CURLE_ABORTED_BY_CALLBACK))
    else {
      Issue.record("it goes on without end")
      return
    }
    #expect(error.attempts == 2 && error.traffic.requests == 32)
    // libcurl gives up before, and is asked again.
    var lost = Play()
    guard case .again(isFresh: false) = lost.machine.ended(CurlResult(CURLE_SEND_ERROR), answers: 1)
    else {
      Issue.record("it is not sent again")
      return
    }
    #expect(lost.machine.requestSent(at: lost.now, answers: 1) == .proceed)
    #expect(lost.end(CURLE_SEND_ERROR) == .truncated)
    // What is not safe to repeat, and what an answer has begun for, is not sent again.
    var once = Play(replays: 0)
    #expect(once.machine.requestSent(at: once.now, answers: 1) == .abort)
    var begun = Play()
    _ = begun.head("HTTP/2 200")
    guard case .failed = begun.machine.ended(CurlResult(CURLE_RECV_ERROR), answers: 1) else {
      Issue.record("an answer had begun")
      return
    }
  }

  @Test("12-S1, N9: what is not safe to repeat is never sent again, over no new connection either")
  func unsafeToRepeat() {
    var play = Play(replays: 0)
    #expect(play.machine.requestSent(at: play.now) == .abort)
    #expect(play.machine.wireRequests == 1)
    #expect(play.end(CURLE_ABORTED_BY_CALLBACK) == .truncated)
    var poisoned = Play(replays: 0)
    #expect(poisoned.asksForRetry(CURLE_HTTP2) == false)
    #expect(poisoned.machine.wireRequests == 1)
    // Before it was sent, a new connection does no harm.
    var unsent = Play(isSent: false, replays: 0)
    #expect(unsent.asksForRetry(CURLE_HTTP2) == true)
    #expect(unsent.machine.requestSent(at: unsent.now) == .proceed)
  }

  @Test("12-S1, P1: replays of libcurl and connections begun afresh add up to one, not to three")
  func sum() {
    var play = Play()
    #expect(play.asksForRetry(CURLE_HTTP2) == true)
    #expect(play.machine.requestSent(at: play.now) == .proceed)
    #expect(play.machine.requestSent(at: play.now) == .abort)
    #expect(play.machine.wireRequests == 2)
  }

  @Test("a connection broken before a header byte gets one fresh one, and only one")
  func poisoned() {
    var play = Play()
    #expect(play.asksForRetry(CURLE_HTTP2) == true)
    #expect(play.machine.requestSent(at: play.now) == .proceed)
    #expect(play.end(CURLE_HTTP2) == .truncated)
    var answered = Play()
    _ = answered.head("HTTP/2 200")
    #expect(answered.end(CURLE_HTTP2) == .truncated)
  }

  @Test("N10: a connection that has spoken before the request is left for a fresh one")
  func unsolicited() {
    var play = Play(isSent: false)
    #expect(play.machine.connectionIsSpent() == .abort)
    #expect(play.asksForRetry(CURLE_ABORTED_BY_CALLBACK) == true)
    #expect(play.machine.wireRequests == 0)
  }
}

@Suite("TransferMachine: time")
struct TransferMachineTimeTests {
  static let timeouts = Timeouts(
    connect: .seconds(1), head: .seconds(3), stall: .seconds(2), total: .seconds(10))

  @Test("no deadline runs before the request goes out: waiting for a connection is not its fault")
  func queued() {
    let play = Play(timeouts: Self.timeouts, isSent: false)
    #expect(play.machine.deadline == nil)
    #expect(play.machine.expired(at: play.now + .seconds(3600)) == nil)
  }

  @Test("N7: a head that drips is cut off at its deadline, however busy it looks")
  func head() {
    var play = Play(timeouts: Self.timeouts)
    let start = play.now
    for second in 0..<3 {
      play.now = start + .seconds(second)
      _ = play.head(second == 0 ? "HTTP/1.1 200 OK" : "X: \(second)")
      #expect(play.machine.expired(at: play.now) == nil)
    }
    let error = play.machine.expired(at: start + .seconds(3))
    #expect(error?.code == .timedOut)
    #expect(error?.description.contains("Timeouts.head") == true)
  }

  @Test("N6: a body that stops is cut off a stall after its last burst")
  func stall() {
    var play = Play(timeouts: Self.timeouts)
    let start = play.now
    _ = play.head("HTTP/1.1 200 OK", "")
    play.now = start + .seconds(1)
    _ = play.body(100_000)
    #expect(play.machine.expired(at: start + .milliseconds(2999)) == nil)
    let error = play.machine.expired(at: start + .seconds(3))
    #expect(error?.description.contains("Timeouts.stall") == true)
  }

  @Test("N6 N8: no deadline runs while the body waits for its reader")
  func pause() {
    var play = Play(timeouts: Self.timeouts)
    let start = play.now
    _ = play.head("HTTP/1.1 200 OK", "")
    play.now = start + .seconds(1)
    _ = play.body(100_000)
    play.machine.paused(at: play.now)
    #expect(play.machine.deadline == nil)
    #expect(play.machine.expired(at: start + .seconds(3600)) == nil)
    play.now = start + .seconds(3600)
    play.machine.resumed(at: play.now)
    // As if the hour had not been: one second of ten is over, and the body is good as of now.
    #expect(play.machine.expired(at: play.now + .milliseconds(1999)) == nil)
    #expect(
      play.machine.expired(at: play.now + .seconds(2))?.description.contains("Timeouts.stall")
        == true)
    for second in 1...8 {
      play.now = start + .seconds(3600 + second)
      _ = play.body(1000)
      #expect(play.machine.expired(at: play.now) == nil)
    }
    play.now = start + .seconds(3609)
    _ = play.body(1000)
    #expect(play.machine.expired(at: play.now)?.description.contains("Timeouts.total") == true)
  }

  @Test("a trickle below 64 bytes a second is a stall, one above it is not")
  func trickle() {
    for (bytes, expires) in [(20, true), (70, false)] {
      var play = Play(timeouts: Self.timeouts)
      let start = play.now
      _ = play.head("HTTP/1.1 200 OK", "")
      for second in 1...4 {
        play.now = start + .seconds(second)
        _ = play.body(bytes)
      }
      #expect((play.machine.expired(at: play.now) != nil) == expires)
    }
  }

  @Test("N8: a body fast enough for ever is cut off at the total")
  func total() {
    var play = Play(timeouts: Self.timeouts)
    let start = play.now
    _ = play.head("HTTP/1.1 200 OK", "")
    for second in 1...9 {
      play.now = start + .seconds(second)
      _ = play.body(1000)
      #expect(play.machine.expired(at: play.now) == nil)
    }
    play.now = start + .seconds(10)
    _ = play.body(1000)
    #expect(play.machine.expired(at: play.now)?.description.contains("Timeouts.total") == true)
  }
}

@Suite("CurlResult")
struct CurlResultTests {
  private func code(_ code: CURLcode, _ detail: String = "", sent: Bool = true) -> PageError.Code? {
    var play = Play(isSent: sent)
    return play.end(code, detail)
  }

  @Test("what libcurl says becomes the code that tells whether to try again")
  func codes() {
    #expect(code(CURLE_COULDNT_CONNECT, sent: false) == .connectFailed)
    #expect(code(CURLE_COULDNT_RESOLVE_HOST, sent: false) == .connectFailed)
    #expect(code(CURLE_OPERATION_TIMEDOUT, sent: false) == .timedOut)
    #expect(code(CURLE_PEER_FAILED_VERIFICATION, sent: false) == .tls)
    #expect(code(CURLE_SSL_CACERT_BADFILE, sent: false) == .tls)
    #expect(code(CURLE_SSL_CONNECT_ERROR, "unsupported protocol", sent: false) == .tls)
    #expect(code(CURLE_SSL_CONNECT_ERROR, "SSL_ERROR_SYSCALL", sent: false) == .connectFailed)
    #expect(code(CURLE_UNSUPPORTED_PROTOCOL) == .protocolViolation)
    #expect(code(CURLE_WEIRD_SERVER_REPLY) == .protocolViolation)
    #expect(code(CURLE_GOT_NOTHING) == .truncated)
    #expect(code(CURLE_RECV_ERROR) == .truncated)
    #expect(code(CURLE_URL_MALFORMAT, sent: false) == .invalidURL)
  }

  @Test(
    "N21: a client that TLS 1.3 refuses after the handshake is refused, and not a connection lost")
  func refusedByTLS() {
    let read = "OpenSSL SSL_read: OpenSSL/3.0.0: error:0A00045C:SSL routines::"
    #expect(code(CURLE_RECV_ERROR, read + "tlsv13 alert certificate required, errno 0") == .tls)
    #expect(code(CURLE_RECV_ERROR, read + "tlsv1 alert unknown ca, errno 0") == .tls)
    #expect(code(CURLE_RECV_ERROR, read + "sslv3 alert bad record mac, errno 0") == .truncated)
    var begun = Play()
    _ = begun.head("HTTP/1.1 200 OK", "Content-Length: 9", "")
    #expect(begun.end(CURLE_RECV_ERROR, read + "tlsv1 alert access denied") == .truncated)
  }

  @Test("N21: the version of TLS is blamed only where it is the reason")
  func blamesVersion() {
    let machine = Play(isSent: false).machine
    for (detail, words, other) in [
      ("unsupported protocol", "TLS 1.2", "certificate"),
      ("tlsv1 alert protocol version", "TLS 1.2", "certificate"),
      ("sslv3 alert handshake failure", "certificate of the client", "TLS 1.2"),
      ("tlsv13 alert certificate required", "certificate of the client", "TLS 1.2"),
    ] {
      let message = machine.failure(CurlResult(CURLE_SSL_CONNECT_ERROR, detail: detail))?.message
      #expect(message?.contains(words) == true && message?.contains(other) == false, "\(detail)")
    }
  }

  @Test("H7: a malformed chunk is told from a lost connection")
  func chunks() {
    var play = Play()
    _ = play.head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "")
    #expect(
      play.end(CURLE_RECV_ERROR, "Malformed encoding found in chunked-encoding")
        == .protocolViolation)
    // libcurl's code for a size that it cannot read.
    let failure = play.machine.failure(CurlResult(CURLE_BAD_FUNCTION_ARGUMENT))
    #expect(failure?.code == .protocolViolation)
    #expect(failure?.message.contains("chunked framing") == true)
    var lost = Play()
    _ = lost.head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "")
    #expect(lost.end(CURLE_RECV_ERROR, "Recv failure: Connection reset by peer") == .truncated)
  }

  @Test("A proxy that does not connect is blamed, and not the server; 407 asks for a password")
  func refusedCONNECT() {
    let machine = Play(isSent: false).machine
    for detail in [
      "CONNECT tunnel failed, response 407", "CONNECT response too large",
      "Too large response headers: 307201 > 307200",
    ] {
      let failure = machine.failure(CurlResult(CURLE_RECV_ERROR, detail: detail))
      #expect(failure?.code == .connectFailed)
      #expect(failure?.message.hasPrefix("The proxy does not connect") == true)
      #expect(failure?.message.contains("password") == detail.hasSuffix("407"))
    }
  }
}
