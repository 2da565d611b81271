import HTTPTypes
import QuireCore
import QuireHTTP

extension TransportConformance {
  /// What goes out is the request, the whole request, and nothing but the request.
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
