public import HTTPTypes
package import QuirePagination
import Synchronization

/// A transport, which sends one HTTP request and streams its response.
///
/// A transport never follows redirects, never interprets responses, and repeats a request only as
/// often as `TransportRequest.replays` allows. A fake takes five lines:
/// ```swift
/// struct Canned: HTTPTransport {
///   func send(_ request: TransportRequest) async throws -> TransportResponse {
///     TransportResponse(head: HTTPResponse(status: .ok), body: .bytes(Array("[1,2,3]".utf8)))
///   }
/// }
/// ```
/// Errors are `PageError`s with one of the codes `connectFailed`, `timedOut`, `tls`, `truncated`,
/// `protocolViolation`, `limitExceeded`, `corruptEncoding`, `invalidURL`, `refusedAddress` and
/// `clientClosed`. If more than one request went out, their `attempts` is the number of requests,
/// except for those that an ending HTTP/2 connection gave back, which are counted in
/// `traffic.requests`.
///
/// Cancelling the task aborts the transfer and throws `CancellationError`. Dropping a body before
/// its end aborts the transfer, too. `TransportConformance` in QuireTesting checks a transport.
public protocol HTTPTransport: Sendable {
  /// Sends `request`, and returns once the head of the final response has arrived. The body is read
  /// later.
  func send(_ request: TransportRequest) async throws -> TransportResponse

  /// Secrets that the transport adds to requests, such as the password of a proxy: errors, logs and
  /// reports show none of them. A transport that wraps another has those of that one, too. Default:
  /// none.
  var secrets: [String] { get }
}

extension HTTPTransport {
  /// None.
  public var secrets: [String] { [] }
}

/// A complete request for a transport.
public struct TransportRequest: Sendable {
  /// The method, scheme, authority, path with query, and header fields. The target must be sent
  /// byte for byte.
  public var head: HTTPRequest {
    _read { yield shared.parts.head }
    _modify { yield &parts.head }
  }

  /// The body; empty for none.
  public var body: [UInt8] {
    _read { yield shared.parts.body }
    _modify { yield &parts.body }
  }

  /// The timeouts for the phases of the request.
  public var timeouts: Timeouts {
    _read { yield shared.parts.timeouts }
    _modify { yield &parts.timeouts }
  }

  /// The limits on the size of the response.
  public var limits: TransferLimits {
    _read { yield shared.parts.limits }
    _modify { yield &parts.limits }
  }

  /// How often a transport may repeat the request without being asked, because a kept connection
  /// died during it or an HTTP/2 server refused its stream. The server may have acted on it all the
  /// same. Default: once for a safe method (RFC 9110, §9.2.1: GET, HEAD, OPTIONS; QUERY, PROPFIND,
  /// REPORT, SEARCH), never for another.
  ///
  /// In addition, a server that ends an HTTP/2 connection (GOAWAY) gives back the requests that it
  /// has not answered. As long as it answers others, a request with a safe method is then sent
  /// again, at most 32 times. All requests are counted in `TransferMetrics.wireRequests`.
  public var replays: Int {
    _read { yield shared.parts.replays }
    _modify { yield &parts.replays }
  }

  /// The addresses that may be connected to. A transport that resolves names checks each address
  /// before it connects, and the address of a connection that it uses again. Default: all.
  public var addresses: AddressGuard {
    _read { yield shared.parts.addresses }
    _modify { yield &parts.addresses }
  }

  /// The parsed scheme and authority, unless a signer has changed them.
  package var origin: Origin? { shared.parts.origin }

  /// Whether a transport may keep the connection. False for hosts that are asked once an hour,
  /// because thousands of kept connections would never be used again. Default true.
  package var keepsConnection: Bool {
    get { shared.parts.keepsConnection }
    set { parts.keepsConnection = newValue }
  }

  /// The complete target, `scheme://authority/path?query`, byte for byte.
  public var url: String {
    (head.scheme ?? "") + "://" + (head.authority ?? "") + (head.path ?? "")
  }

  /// Creates a request; by default without a body, and with the timeouts and limits of the profile
  /// for APIs.
  public init(
    head: HTTPRequest, body: [UInt8] = [], timeouts: Timeouts = .api, limits: TransferLimits = .api,
    replays: Int? = nil
  ) {
    self.init(
      Parts(
        head: head, body: body, timeouts: timeouts, limits: limits,
        replays: replays ?? (head.method.isSafe ? 1 : 0)))
  }

  init(_ parts: Parts) { shared = Shared(parts) }

  /// The stored values of a request.
  struct Parts: Sendable {
    var head: HTTPRequest
    var body: [UInt8]
    var timeouts: Timeouts
    var limits: TransferLimits
    var replays: Int
    var addresses = AddressGuard.none
    var origin: Origin?
    var keepsConnection = true
  }

  /// The parts, shared by copies until one of them changes. A struct of this size would be part of
  /// each frame of a waiting request.
  private var shared: Shared

  // SAFETY: changed only through a unique reference; see `parts`.
  private final class Shared: @unchecked Sendable {
    // Unchecked for the same reason, as the storage of arrays is.
    @exclusivity(unchecked) var parts: Parts

    init(_ parts: Parts) { self.parts = parts }
  }

  private var parts: Parts {
    get { shared.parts }
    _modify {
      if !isKnownUniquelyReferenced(&shared) { shared = Shared(shared.parts) }
      yield &shared.parts
    }
  }
}

/// A response whose head has arrived and whose body may still be arriving.
public struct TransportResponse: Sendable {
  /// The status and header fields of the final response; interim responses are skipped.
  public var head: HTTPResponse

  /// How the body's end is marked.
  public var framing: Framing

  /// The body, with its content coding removed.
  public var body: TransportBody

  /// The way in which the end of a body is marked on the wire.
  public enum Framing: Hashable, Sendable {
    /// Content-Length or chunks: the transport proves that the body is complete.
    case explicit
    /// The end of the connection, or of an HTTP/2 stream that the transport cannot tell from an
    /// aborted one. Only a format that marks its own end can prove that the body is complete.
    case untilClose
  }

  /// Creates a response from a head and a body.
  public init(head: HTTPResponse, framing: Framing = .explicit, body: TransportBody) {
    self.head = head
    self.framing = framing
    self.body = body
  }
}

/// A response body, read in slices by one reader.
///
/// Nil follows the last slice only if the body is complete: its declared length was received, its
/// chunks were closed, and the checksum of its coding was correct. Otherwise, `truncated` or
/// `corruptEncoding` is thrown.
public struct TransportBody: Sendable {
  private let pull: @Sendable () async throws -> [UInt8]?
  private let measure: @Sendable () -> TransferMetrics
  private let look: @Sendable () -> Bool

  /// Creates a body from a closure that returns slices of any size, none of them empty, then nil.
  ///
  /// `metrics` is read after the end, except for `wireRequests`, which is read with the head
  /// because requests are not repeated later. Dropping the body must abort the transfer, so let the
  /// closures own the object that does this.
  public init(
    next: @escaping @Sendable () async throws -> [UInt8]?,
    metrics: @escaping @Sendable () -> TransferMetrics = { TransferMetrics() }
  ) {
    self.init(next: next, metrics: metrics, isOver: { false })
  }

  /// Creates a body as above. `isOver` returns whether all slices were taken and the body is
  /// complete.
  package init(
    next: @escaping @Sendable () async throws -> [UInt8]?,
    metrics: @escaping @Sendable () -> TransferMetrics, isOver: @escaping @Sendable () -> Bool
  ) {
    pull = next
    measure = metrics
    look = isOver
  }

  /// Creates a body from bytes in memory.
  public static func bytes(_ bytes: [UInt8]) -> TransportBody {
    slices(bytes.isEmpty ? [] : [bytes])
  }

  /// Creates a body from slices in memory.
  public static func slices(_ slices: [[UInt8]]) -> TransportBody {
    let source = SliceSource(slices)
    return TransportBody(
      next: { source.next() }, metrics: { TransferMetrics(wireBytes: source.total) },
      isOver: { source.isEmpty })
  }

  /// Returns the next slice; nil when the body is complete.
  public func next() async throws -> [UInt8]? { try await pull() }

  /// Whether it is known, without waiting, that no slice follows.
  var isOver: Bool { look() }

  /// The cost of the transfer; complete only after the end.
  public var metrics: TransferMetrics { measure() }
}

/// Slices in memory, delivered once.
final class SliceSource: Sendable {
  private let rest: Mutex<ArraySlice<[UInt8]>>
  let total: Int

  init(_ slices: [[UInt8]]) {
    rest = Mutex(slices[...])
    total = slices.reduce(0) { $0 + $1.count }
  }

  var isEmpty: Bool { rest.withLock { $0.isEmpty } }

  func next() -> [UInt8]? {
    rest.withLock { $0.popFirst() }
  }
}

/// The cost of a transfer.
public struct TransferMetrics: Hashable, Sendable {
  /// The number of body bytes received, before content decoding.
  public var wireBytes: Int
  /// The number of requests that were sent, including silent replays after a dead connection.
  public var wireRequests: Int
  /// The number of those requests that an ending HTTP/2 connection gave back while the server
  /// answered others. They do not count as attempts.
  package var sentBack = 0
  /// Whether the transfer used an existing connection.
  public var reusedConnection: Bool
  /// The time from the start to the first byte of the response.
  public var timeToHead: Duration
  /// The time from the start to the end of the body.
  public var duration: Duration
  /// The number of requests that the transport sends concurrently to one host on this kind of
  /// connection; further ones wait. Nil if it does not say.
  public var requestsAtOnce: Int?

  /// Creates metrics; by default of one request without a body.
  public init(
    wireBytes: Int = 0, wireRequests: Int = 1, reusedConnection: Bool = false,
    timeToHead: Duration = .zero, duration: Duration = .zero
  ) {
    self.wireBytes = wireBytes
    self.wireRequests = wireRequests
    self.reusedConnection = reusedConnection
    self.timeToHead = timeToHead
    self.duration = duration
  }
}
