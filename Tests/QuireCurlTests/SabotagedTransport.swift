import HTTPTypes
import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import Synchronization

/// A transport with one flaw, to show that the conformance suite finds it.
final class SabotagedTransport: HTTPTransport {
  /// Each flaw with the promise it breaks.
  enum Flaw: String, CaseIterable {
    case tidiesTargets = "A target goes out byte for byte."
    case addsFields = "Only the request's own fields are sent, and what framing needs."
    case losesBodies = "Method and body go out as they are."
    case stripsControlCharacters = "A target with control characters or blanks is refused."
    case remembersCookies = "A transport remembers no cookies."
    case losesLastByte = "A body arrives whole and decoded."
    case losesRestedBytes = "A body that rested arrives whole."
    case goesOnAfterTheEnd = "After the end, a body stays at its end."
    case followsRedirects = "A redirect is handed over, not followed."
    case hidesTruncation = "A body that was cut throws truncated."
    case ignoresCancellation = "A cancelled transfer throws CancellationError."
    case keepsDroppedBodies = "A dropped body closes its connection."
  }

  private let base: CurlTransport
  private let flaw: Flaw
  private let cookies = Mutex<[String]>([])
  private let kept = Mutex<[TransportResponse]>([])

  init(_ base: CurlTransport, _ flaw: Flaw) {
    self.base = base
    self.flaw = flaw
  }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    try await answer(to: flawed(request))
  }

  private func flawed(_ request: TransportRequest) -> TransportRequest {
    var request = request
    switch flaw {
    case .tidiesTargets: request.head.path = request.head.path?.replacing("/./", with: "/")
    case .addsFields: request.head.headerFields[.referer] = "http://elsewhere.test/"
    case .losesBodies: request.body = []
    case .stripsControlCharacters:
      request.head.path = request.head.path.map { path in
        String(path.unicodeScalars.filter { $0.value > 32 && $0.value != 127 })
      }
    case .remembersCookies:
      for cookie in cookies.withLock({ $0 }) { request.head.headerFields[.cookie] = cookie }
    default: break
    }
    return request
  }

  private func answer(to request: TransportRequest) async throws -> TransportResponse {
    if flaw == .ignoresCancellation {
      return try await Task.detached { [base] in try await base.send(request) }.value
    }
    var response = try await base.send(request)
    if let cookie = response.head.headerFields[.setCookie] {
      cookies.withLock { $0.append(cookie) }
    }
    if flaw == .keepsDroppedBodies { kept.withLock { [response] in $0.append(response) } }
    if flaw == .followsRedirects, response.head.status.kind == .redirection {
      var next = request
      next.head.path = response.head.headerFields[.location]
      return try await base.send(next)
    }
    response.body = flawed(response.body, of: request.head.path ?? "")
    return response
  }

  private func flawed(_ body: TransportBody, of path: String) -> TransportBody {
    let flaw = flaw
    let ended = Atomic(false)
    return TransportBody(
      next: {
        do {
          let slice = try await body.next()
          if flaw == .losesLastByte, path == "/bytes/1000", let slice { return slice.dropLast() }
          if flaw == .losesRestedBytes, path == "/bytes/3000000", let slice {
            return slice.count == 1 ? slice : slice.dropLast()
          }
          let hadEnded = ended.exchange(slice == nil, ordering: .relaxed)
          return flaw == .goesOnAfterTheEnd && hadEnded ? [0] : slice
        } catch let error as PageError where flaw == .hidesTruncation && error.code == .truncated {
          return nil
        }
      }, metrics: { body.metrics })
  }
}
