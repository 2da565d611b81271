import CCurl
import QuireHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One libcurl easy handle, kept for many transfers: what never changes is set once.
///
/// Only the driver's thread uses it.
final class EasyHandle {
  let raw: UnsafeMutableRawPointer
  /// The transfer that the callbacks feed.
  var transfer: Transfer?

  let ledger: Ledger
  /// Sockets opened for this transfer, none of which has become its connection yet.
  var attempts: [SocketTable.Attempt] = []
  /// The socket of the transfer's connection, once the request is about to go out.
  var connection: Int32?
  private let errorText: UnsafeMutablePointer<CChar>
  /// The header fields that are set, for libcurl and as they came.
  private var fields: UnsafeMutablePointer<curl_slist>?
  private var fieldLines: [UInt8] = []

  init?(configuration: CurlTransport.Configuration, ledger: Ledger) {
    guard let raw = curl_easy_init() else { return nil }
    self.raw = raw
    self.ledger = ledger
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    ledger.handleMade()
    setInvariants(configuration)
    setCallbacks(ledger)
    quire_easy_set_pointer(raw, CURLOPT_ERRORBUFFER, errorText)
  }

  deinit {
    curl_easy_cleanup(raw)
    curl_slist_free_all(fields)
    errorText.deallocate()
    ledger.handleFreed()
  }

  /// What libcurl wrote about the last failure.
  var detail: String { String(cString: errorText) }

  /// Whether the transfer went over a connection that already existed.
  var reusedConnection: Bool {
    var connections = 0
    quire_easy_get_long(raw, CURLINFO_NUM_CONNECTS, &connections)
    return connections == 0
  }

  /// Binds the handle to a transfer.
  func prepare(for transfer: Transfer) {
    self.transfer = transfer
    errorText.pointee = 0
    let request = transfer.exchange.request
    set(CURLOPT_FRESH_CONNECT, 0)
    set(CURLOPT_FORBID_REUSE, 0)
    set(CURLOPT_CONNECTTIMEOUT_MS, max(1, request.timeouts.connect.milliseconds))
    quire_easy_set_string(raw, CURLOPT_URL, request.origin)
    quire_easy_set_string(raw, CURLOPT_REQUEST_TARGET, request.target)
    setMethod(request)
    setFields(request.lines)
  }

  /// Lets go of the transfer.
  func release() {
    transfer = nil
    connection = nil
    abandonAttempts()
    quire_easy_set_pointer(raw, CURLOPT_POSTFIELDS, nil)
  }

  func set(_ option: CURLoption, _ value: Int) {
    quire_easy_set_long(raw, option, value)
  }

  private func setMethod(_ request: WireRequest) {
    set(CURLOPT_HTTPGET, 1)
    if request.method == "HEAD" { set(CURLOPT_NOBODY, 1) }
    if request.carriesBody {
      setBody(request.body)
      quire_easy_set_string(raw, CURLOPT_CUSTOMREQUEST, request.method)
    } else {
      quire_easy_set_string(raw, CURLOPT_CUSTOMREQUEST, nil)
    }
  }

  /// libcurl copies the body, because an array's storage may move.
  private func setBody(_ body: [UInt8]) {
    set(CURLOPT_POST, 1)
    quire_easy_set_size(raw, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
    _ = body.withUnsafeBytes { bytes in
      quire_easy_set_pointer(
        raw, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress ?? UnsafeRawPointer(raw))
    }
  }

  /// Most requests of a walk carry the same fields, which then stay where they are.
  private func setFields(_ lines: [UInt8]) {
    guard lines != fieldLines else { return }
    quire_easy_set_list(raw, CURLOPT_HTTPHEADER, nil)
    curl_slist_free_all(fields)
    fields = nil
    lines.withUnsafeBytes { bytes in
      guard var line = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
      let end = line + bytes.count
      while line < end {
        fields = curl_slist_append(fields, line)
        line += strlen(line) + 1
      }
    }
    quire_easy_set_list(raw, CURLOPT_HTTPHEADER, fields)
    fieldLines = lines
  }
}

extension Duration {
  /// Whole milliseconds, rounded up.
  var milliseconds: Int {
    let (seconds, attoseconds) = components
    let (product, overflow) = Int(seconds).multipliedReportingOverflow(by: 1000)
    guard !overflow, product < Int(Int32.max) else { return Int(Int32.max) }
    return product + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
