import CCurl
import QuireHTTP
import QuirePagination

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A libcurl easy handle, kept for many transfers: options that never change are set once.
///
/// Only the driver's thread uses it.
final class EasyHandle {
  let raw: UnsafeMutableRawPointer
  /// The transfer that the callbacks feed.
  var transfer: Transfer?

  let ledger: Ledger
  /// The lines of the last head.
  let headMemory = HeadMemory()
  /// Sockets opened for this transfer, none of which has become its connection yet.
  var attempts: [SocketTable.Attempt] = []
  /// The socket of the transfer's connection, once the request is about to go out.
  var connection: Int32?
  private let errorText: UnsafeMutablePointer<CChar>
  /// The header fields that are set: as libcurl's list, and as they were given.
  private var fields: UnsafeMutablePointer<curl_slist>?
  private var fieldLines: [UInt8] = []
  /// The addresses that libcurl knows. Each handle has its own: common ones would be searched for
  /// old entries after every transfer, which takes long with thousands of hosts, and pinned ones
  /// would stay for ever.
  private let addresses = quire_address_cache()
  /// The pinned addresses: as libcurl's list, and as they were given.
  fileprivate var route: UnsafeMutablePointer<curl_slist>?
  fileprivate var routeLines: [String] = []
  fileprivate var proxy: Proxy.Server?
  fileprivate let certificate: ClientCertificate?
  fileprivate var hasCertificate = false

  init?(configuration: CurlTransport.Configuration, ledger: Ledger) {
    guard let raw = curl_easy_init() else { return nil }
    self.raw = raw
    self.ledger = ledger
    certificate = configuration.clientCertificate
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    ledger.handleMade()
    quire_easy_set_pointer(raw, CURLOPT_SHARE, addresses)
    setInvariants(configuration)
    setCallbacks(ledger)
    quire_easy_set_pointer(raw, CURLOPT_ERRORBUFFER, errorText)
  }

  deinit {
    curl_easy_cleanup(raw)
    curl_share_cleanup(addresses)
    curl_slist_free_all(fields)
    curl_slist_free_all(route)
    errorText.deallocate()
    ledger.handleFreed()
  }

  /// libcurl's message about the last failure.
  var detail: String { String(cString: errorText) }

  /// Whether the transfer used a connection that already existed.
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
    // So that most pages take one system call. Only the part of a buffer that is written takes
    // memory.
    set(CURLOPT_BUFFERSIZE, min(256 << 10, transfer.readAhead))
    quire_easy_set_string(raw, CURLOPT_URL, request.origin)
    quire_easy_set_string(raw, CURLOPT_REQUEST_TARGET, request.target)
    // Over TLS, the handshake tells whether a connection takes more requests at once. Without TLS
    // only an answer would, and all other requests would wait for it.
    set(CURLOPT_PIPEWAIT, request.origin.hasPrefix("https:") ? 1 : 0)
    setMethod(request)
    setFields(request.lines)
    set(transfer.exchange.route, for: request)
  }

  /// Unbinds the handle from its transfer.
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

  /// Sets the header fields. Most requests of a walk carry the same ones, which then stay as they
  /// are.
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

// The route of a request: pinned addresses, proxy and client certificate.
extension EasyHandle {
  /// Sets the route of a request. Names are pinned to the addresses that were found, so that
  /// libcurl asks no resolver; a proxy and a client certificate are used if the request has them.
  fileprivate func set(_ way: RequestRoute, for request: WireRequest) {
    let (name, port) = (way.proxy?.host ?? request.name, way.proxy?.port ?? request.port)
    let lines = way.addresses.isEmpty ? [] : [Self.pin(name, port, way.addresses)]
    if lines != routeLines {
      quire_easy_set_list(raw, CURLOPT_RESOLVE, nil)
      curl_slist_free_all(route)
      route = nil
      // Entries of the last transfer that may not hold for this one: `-NAME:PORT` removes an entry.
      let old = routeLines.map { "-" + $0.split(separator: ":").prefix(2).joined(separator: ":") }
      for line in old + lines { route = curl_slist_append(route, line) }
      routeLines = lines
    }
    // libcurl drops the list once it has used it.
    quire_easy_set_list(raw, CURLOPT_RESOLVE, route)
    // A proxy that is asked for a page over plain http needs the whole URL.
    if let proxy = way.proxy, proxy.scheme != "socks5h", request.origin.hasPrefix("http:") {
      quire_easy_set_string(
        raw, CURLOPT_REQUEST_TARGET, String(request.origin.dropLast()) + request.target)
    }
    setProxy(way.proxy)
    setCertificate(for: request.origin)
  }

  private static func pin(_ name: String, _ port: Int, _ addresses: [IPAddress]) -> String {
    let texts = addresses.map { $0.isIPv6 ? "[\($0)]" : "\($0)" }
    return "\(name):\(port):\(texts.joined(separator: ","))"
  }

  private func setProxy(_ server: Proxy.Server?) {
    guard server != proxy else { return }
    proxy = server
    quire_easy_set_string(raw, CURLOPT_PROXY, server?.url ?? "")
    quire_easy_set_string(raw, CURLOPT_PROXYUSERNAME, server?.user)
    quire_easy_set_string(raw, CURLOPT_PROXYPASSWORD, server?.password)
    // Without this, the proxy would receive the request's own fields.
    set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
    // Basic: libcurl's other methods were found to leak from one connection into another.
    set(CURLOPT_PROXYAUTH, 1)
  }

  private func setCertificate(for origin: String) {
    guard let certificate else { return }
    let isWanted = certificate.origin == (try? Origin(url: origin))
    guard isWanted != hasCertificate else { return }
    hasCertificate = isWanted
    quire_easy_set_string(raw, CURLOPT_SSLCERT, isWanted ? certificate.file : nil)
    quire_easy_set_string(raw, CURLOPT_SSLKEY, isWanted ? certificate.keyFile : nil)
    quire_easy_set_string(raw, CURLOPT_KEYPASSWD, isWanted ? certificate.password : nil)
  }
}

extension IPAddress {
  /// Creates the address of a socket; nil if it is neither of IPv4 nor of IPv6.
  fileprivate init?(of address: UnsafeMutablePointer<curl_sockaddr>) {
    // An IPv6 address is longer than the field that C declares for it.
    guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
    let family = address.pointee.family
    guard
      family != AF_INET6 || Int(address.pointee.addrlen) >= MemoryLayout<sockaddr_in6>.size
    else { return nil }
    self.init(socket: UnsafeRawPointer(address) + offset, family: family)
  }
}

extension Duration {
  /// Whole milliseconds, rounded up, and at most `Int32.max`.
  var milliseconds: Int {
    let (seconds, attoseconds) = components
    let (product, overflow) = Int(seconds).multipliedReportingOverflow(by: 1000)
    guard !overflow, product < Int(Int32.max) else { return Int(Int32.max) }
    return product + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

extension EasyHandle {
  /// Sets the options that hold for every transfer: libcurl takes none from the environment, and
  /// does nothing that was not asked for.
  func setInvariants(_ configuration: CurlTransport.Configuration) {
    set(CURLOPT_NOSIGNAL, 1)
    // Without this, removing a handle that still resolves a name waits for its resolver thread.
    set(CURLOPT_QUICK_EXIT, 1)
    set(CURLOPT_NOPROGRESS, 1)
    // Names are pinned to addresses, and hosts that are addresses need no cache.
    set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
    set(CURLOPT_FOLLOWLOCATION, 0)
    quire_easy_set_string(raw, CURLOPT_PROTOCOLS_STR, "http,https")
    quire_easy_set_string(raw, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    quire_easy_set_string(raw, CURLOPT_PROXY, "")
    // The route says which hosts are reached directly: libcurl would take them from the
    // environment.
    quire_easy_set_string(raw, CURLOPT_NOPROXY, "")
    set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    set(CURLOPT_PATH_AS_IS, 1)
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    set(CURLOPT_HTTP09_ALLOWED, 0)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_TCP_NODELAY, 1)
    set(CURLOPT_MAXAGE_CONN, max(1, configuration.idleTimeout.milliseconds / 1000))
    set(CURLOPT_MAXLIFETIME_CONN, max(1, configuration.connectionLifetime.milliseconds / 1000))
    setSecurity(configuration)
  }

  private func setSecurity(_ configuration: CurlTransport.Configuration) {
    let version =
      switch configuration.httpVersion {
      case .negotiated: CURL_HTTP_VERSION_2TLS
      case .http1: CURL_HTTP_VERSION_1_1
      }
    set(CURLOPT_HTTP_VERSION, Int(version))
    set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, 2)
    if case .file(let path) = configuration.certificateAuthorities {
      quire_easy_set_string(raw, CURLOPT_CAINFO, path)
      quire_easy_set_string(raw, CURLOPT_CAPATH, nil)
    }
    if configuration.writesKeyLog, KeyLog.path != nil {
      quire_easy_set_ssl_context_callback(raw, KeyLog.listen)
    }
  }

  func setCallbacks(_ ledger: Ledger) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    quire_easy_set_data_callback(raw, CURLOPT_WRITEFUNCTION, receiveBody)
    quire_easy_set_pointer(raw, CURLOPT_WRITEDATA, context)
    quire_easy_set_data_callback(raw, CURLOPT_HEADERFUNCTION, receiveHeadLine)
    quire_easy_set_pointer(raw, CURLOPT_HEADERDATA, context)
    quire_easy_set_prereq_callback(raw, requestIsAboutToGo)
    quire_easy_set_pointer(raw, CURLOPT_PREREQDATA, context)
    quire_easy_set_pointer(raw, CURLOPT_PRIVATE, context)
    quire_easy_set_opensocket_callback(raw, openSocketFor)
    quire_easy_set_pointer(raw, CURLOPT_OPENSOCKETDATA, context)
    // Connections outlive handles; the driver keeps the ledger until the last one is closed.
    let account = Unmanaged.passUnretained(ledger).toOpaque()
    quire_easy_set_closesocket_callback(raw, closeSocket)
    quire_easy_set_pointer(raw, CURLOPT_CLOSESOCKETDATA, account)
  }
}

/// Returns the transfer of the handle behind a callback's context; nil if none is bound to it.
private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
  context.flatMap { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue().transfer }
}

private let receiveBody: quire_data_callback = { bytes, size, count, context in
  let length = size * count
  guard let transfer = transfer(context) else { return length + 1 }
  switch transfer.received(UnsafeRawBufferPointer(start: bytes, count: length)) {
  case .taken: return length
  case .later: return Int(CURL_WRITEFUNC_PAUSE)
  case .refused: return length + 1
  }
}

private let receiveHeadLine: quire_data_callback = { bytes, size, count, context in
  let length = size * count
  guard let transfer = transfer(context) else { return length + 1 }
  let line = UnsafeRawBufferPointer(start: bytes, count: length)
  return transfer.receivedHeadLine(line) ? length : length + 1
}

private let requestIsAboutToGo: curl_prereq_callback = {
  context, remoteAddress, localAddress, remotePort, localPort in
  guard let remoteAddress, let localAddress else { return CURL_PREREQFUNC_ABORT }
  let route = SocketTable.Route(
    localAddress: String(cString: localAddress), localPort: localPort,
    remoteAddress: String(cString: remoteAddress), remotePort: remotePort)
  return transfer(context)?.requestIsAboutToGo(along: route) == true
    ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private let openSocketFor: curl_opensocket_callback = { context, _, address in
  guard let context, let address else { return CURL_SOCKET_BAD }
  let handle = Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
  guard handle.transfer?.mayConnect(to: IPAddress(of: address)) != false else {
    return CURL_SOCKET_BAD
  }
  return handle.openSocket(address.pointee)
}

private let closeSocket: curl_closesocket_callback = { context, socket in
  if let context {
    Unmanaged<Ledger>.fromOpaque(context).takeUnretainedValue().withSockets { $0.close(socket) }
  }
  return close(socket)
}

extension EasyHandle {
  /// Opens a socket for an attempt to connect, if the transfer may connect.
  func openSocket(_ wanted: curl_sockaddr) -> Int32 {
    connection = nil
    guard let transfer, transfer.mayConnect else { return CURL_SOCKET_BAD }
    guard DescriptorReserve.isFree else {
      transfer.machine.lackedDescriptors()
      return CURL_SOCKET_BAD
    }
    #if canImport(Glibc)
      let descriptor = socket(
        wanted.family, wanted.socktype | Int32(SOCK_CLOEXEC.rawValue), wanted.protocol)
    #else
      let descriptor = socket(wanted.family, wanted.socktype, wanted.protocol)
      if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    #endif
    if descriptor >= 0 {
      attempts.append(ledger.withSockets { $0.open(descriptor) })
    } else if [EMFILE, ENFILE].contains(errno) {
      transfer.machine.lackedDescriptors()
    }
    return descriptor
  }

  /// Notes the transfer's connection, new or kept.
  func connected(along route: SocketTable.Route) {
    if reusedConnection {
      connection = ledger.withSockets { $0.descriptor(along: route) }
      return
    }
    connection =
      attempts.last { attempts.count == 1 || Self.localPort(of: $0.descriptor) == route.localPort }?
      .descriptor
    if let connection { ledger.withSockets { $0.connect(connection, along: route) } }
    abandonAttempts()
  }

  /// Forgets the attempts that did not become the connection, because libcurl does not report that
  /// it closes their sockets.
  func abandonAttempts() {
    let lost = attempts.filter { $0.descriptor != connection }
    attempts = []
    ledger.withSockets { sockets in
      for attempt in lost { sockets.abandon(attempt) }
    }
  }

  /// Notes which HTTP version the head has shown.
  func headArrived(isHTTP2: Bool) {
    guard let connection else { return }
    ledger.withSockets { $0.note(connection, speaksHTTP1: !isHTTP2) }
  }

  /// Whether a kept HTTP/1 connection cannot be used: it was closed since libcurl looked, or holds
  /// bytes that were not requested, which libcurl 7.88.1 would take for the answer to the next
  /// request.
  var connectionIsSpent: Bool {
    guard reusedConnection, let connection else { return false }
    guard ledger.withSockets({ $0.speaksHTTP1(connection) }) else { return false }
    var byte: UInt8 = 0
    let count = recv(connection, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count >= 0 || ![EAGAIN, EWOULDBLOCK, EINTR].contains(errno)
  }

  private static func localPort(of descriptor: Int32) -> Int32? {
    // The port has the same offset in an IPv4 and an IPv6 address.
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length)
      }
    }
    return result == 0 ? Int32(UInt16(bigEndian: address.sin6_port)) : nil
  }
}
