public import HTTPTypes
package import QuirePagination
import Synchronization

/// The door to the wire: something that sends one HTTP request and streams back one response.
///
/// A transport never follows redirects, never decides what a response means, and sends a request again
/// only as often as its `TransportRequest.replays` allows; pages are made above it. A fake takes five lines:
/// ```swift
/// struct Canned: HTTPTransport {
///   func send(_ request: TransportRequest) async throws -> TransportResponse {
///     TransportResponse(head: HTTPResponse(status: .ok), body: .bytes(Array("[1,2,3]".utf8)))
///   }
/// }
/// ```
/// Failures are `PageError`s with the codes of `PageError.Code` that name the wire:
/// `connectFailed`, `timedOut`, `tls`, `truncated`, `protocolViolation`, `limitExceeded`,
/// `corruptEncoding`, `invalidURL`, `refusedAddress`, `clientClosed`; their `attempts` says how many requests went out
/// on the wire, if it was more than one, without those that an ending HTTP/2 connection gave back, which
/// are in `traffic.requests`. Cancelling the task aborts the transfer and throws
/// `CancellationError`, and so does dropping a body before its end. `TransportConformance` in
/// QuireTesting checks a transport.
public protocol HTTPTransport: Sendable {
  /// Sends `request` and returns once the final response head has arrived; the body follows.
  func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// One request, ready for the wire.
public struct TransportRequest: Sendable {
  /// Method, scheme, authority, path with query, and header fields. The target goes out byte for
  /// byte.
  public var head: HTTPRequest {
    _read { yield shared.parts.head }
    _modify { yield &parts.head }
  }

  /// The body; empty for none.
  public var body: [UInt8] {
    _read { yield shared.parts.body }
    _modify { yield &parts.body }
  }

  /// How long each phase may take.
  public var timeouts: Timeouts {
    _read { yield shared.parts.timeouts }
    _modify { yield &parts.timeouts }
  }

  /// How much may be read.
  public var limits: TransferLimits {
    _read { yield shared.parts.limits }
    _modify { yield &parts.limits }
  }

  /// How often a transport may send the request again by itself, because a kept connection died under
  /// it or an HTTP/2 server refused its stream; the server may have acted on it all the same. A server
  /// that renews an HTTP/2 connection (GOAWAY) gives back what it has not answered, and as long as it
  /// answers others, a request of such a method goes out again, up to 32 times, beside this number. What
  /// goes out is counted in `TransferMetrics.wireRequests`. Default: once for a method that only asks
  /// (RFC 9110, §9.2.1: GET, HEAD, OPTIONS; QUERY, PROPFIND, REPORT, SEARCH), never for another.
  public var replays: Int {
    _read { yield shared.parts.replays }
    _modify { yield &parts.replays }
  }

  /// Which addresses may be connected to. A transport that resolves names asks it before it connects, and
  /// for the address of a connection that it uses again. Default: any.
  public var addresses: AddressGuard {
    _read { yield shared.parts.addresses }
    _modify { yield &parts.addresses }
  }

  /// Scheme and authority taken apart, unless a signer has changed them since.
  package var origin: Origin? { shared.parts.origin }

  /// Whether a transport that keeps connections may keep this one. Not where its host is asked once an hour: of
  /// thousands of such connections none would be used again. Default: yes.
  package var keepsConnection: Bool {
    get { shared.parts.keepsConnection }
    set { parts.keepsConnection = newValue }
  }

  /// The whole target, `scheme://authority/path?query`, byte for byte.
  public var url: String {
    (head.scheme ?? "") + "://" + (head.authority ?? "") + (head.path ?? "")
  }

  /// A request; no body, and the timeouts and limits of the profile for APIs unless told otherwise.
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

  /// What a request is made of.
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

  /// The parts, shared between copies until one of them is changed: as a value they would lie in each frame of
  /// a request that waits.
  private var shared: Shared

  // SAFETY: changed only through a unique reference; see `parts`.
  private final class Shared: @unchecked Sendable {
    var parts: Parts

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

/// A response whose head has arrived and whose body is on its way.
public struct TransportResponse: Sendable {
  /// Status and header fields of the final response, interim responses skipped.
  public var head: HTTPResponse

  /// How the end of the body shows.
  public var framing: Framing

  /// The body, content coding removed.
  public var body: TransportBody

  /// How the end of a body shows on the wire.
  public enum Framing: Hashable, Sendable {
    /// By Content-Length or by chunks: the transport proves the body whole.
    case explicit
    /// By the end of the connection, or of an HTTP/2 stream that the transport cannot tell from one
    /// that was cut: only a format that shows its own end can prove the body whole.
    case untilClose
  }

  /// A response with this head, followed by this body.
  public init(head: HTTPResponse, framing: Framing = .explicit, body: TransportBody) {
    self.head = head
    self.framing = framing
    self.body = body
  }
}

/// A response body, pulled in slices by one reader.
///
/// The last slice is followed by nil only if the body is complete: its declared length was
/// received, its chunks were closed, its coding's checksum held. Anything less throws `truncated`
/// or `corruptEncoding`.
public struct TransportBody: Sendable {
  private let pull: @Sendable () async throws -> [UInt8]?
  private let measure: @Sendable () -> TransferMetrics
  private let look: @Sendable () -> Bool

  /// A body that `next` delivers in slices of any size, none of them empty, then nil.
  ///
  /// `metrics` is read after the end, but for its `wireRequests`, which is read with the head: nothing
  /// is repeated later. Dropping the body must abort the transfer: let the closures own what does.
  public init(
    next: @escaping @Sendable () async throws -> [UInt8]?,
    metrics: @escaping @Sendable () -> TransferMetrics = { TransferMetrics() }
  ) {
    self.init(next: next, metrics: metrics, isOver: { false })
  }

  /// As above; `isOver` tells whether all slices were taken and the end is here.
  package init(
    next: @escaping @Sendable () async throws -> [UInt8]?,
    metrics: @escaping @Sendable () -> TransferMetrics, isOver: @escaping @Sendable () -> Bool
  ) {
    pull = next
    measure = metrics
    look = isOver
  }

  /// A body that is already here.
  public static func bytes(_ bytes: [UInt8]) -> TransportBody {
    slices(bytes.isEmpty ? [] : [bytes])
  }

  /// A body that is already here, in these slices.
  public static func slices(_ slices: [[UInt8]]) -> TransportBody {
    let source = SliceSource(slices)
    return TransportBody(
      next: { source.next() }, metrics: { TransferMetrics(wireBytes: source.total) },
      isOver: { source.isEmpty })
  }

  /// The next slice, or nil when the body is complete.
  public func next() async throws -> [UInt8]? { try await pull() }

  /// Whether it is known without waiting that no slice follows; false where that is not known.
  var isOver: Bool { look() }

  /// What the transfer took; whole only after the end.
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

/// What a transfer took on the wire.
public struct TransferMetrics: Hashable, Sendable {
  /// Body bytes as received, before content coding was removed.
  public var wireBytes: Int
  /// Requests the transport put on the wire, silent replays on a dead connection included.
  public var wireRequests: Int
  /// Those of them that the end of an HTTP/2 connection gave back, while the server answered others: they
  /// are no attempts for the page.
  package var sentBack = 0
  /// Whether the transfer went over a connection that already existed.
  public var reusedConnection: Bool
  /// From the start to the first byte of the response.
  public var timeToHead: Duration
  /// From the start to the end of the body.
  public var duration: Duration
  /// How many requests the transport sends to one host at the same time, over what this one went over;
  /// further ones wait. Nil where it does not say.
  public var requestsAtOnce: Int?

  /// Metrics; nothing received by one request unless told otherwise.
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
