import CCurl

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension EasyHandle {
  /// What holds for every transfer: nothing from the environment, nothing behind our back.
  func setInvariants(_ configuration: CurlTransport.Configuration) {
    set(CURLOPT_NOSIGNAL, 1)
    // Without this, removing a handle that still resolves a name waits for its resolver thread.
    set(CURLOPT_QUICK_EXIT, 1)
    set(CURLOPT_NOPROGRESS, 1)
    set(CURLOPT_FOLLOWLOCATION, 0)
    quire_easy_set_string(raw, CURLOPT_PROTOCOLS_STR, "http,https")
    quire_easy_set_string(raw, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    quire_easy_set_string(raw, CURLOPT_PROXY, "")
    set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    set(CURLOPT_PATH_AS_IS, 1)
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    set(CURLOPT_HTTP09_ALLOWED, 0)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_PIPEWAIT, 1)
    set(CURLOPT_TCP_NODELAY, 1)
    set(CURLOPT_BUFFERSIZE, Self.bufferSize)
    set(CURLOPT_MAXAGE_CONN, max(1, configuration.idleTimeout.milliseconds / 1000))
    set(CURLOPT_MAXLIFETIME_CONN, max(1, configuration.connectionLifetime.milliseconds / 1000))
    setSecurity(configuration)
  }

  /// Bytes that libcurl reads at a time. It hands over 16 KiB at most anyway, and each transfer in
  /// flight has a buffer: 64 KiB saved 0.4 % of the instructions for pages of 23 KB, nothing in time.
  static let bufferSize = 16 << 10

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

/// The handle behind a callback's context, while a transfer is bound to it.
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
  return Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().openSocket(address.pointee)
}

private let closeSocket: curl_closesocket_callback = { context, socket in
  if let context {
    Unmanaged<Ledger>.fromOpaque(context).takeUnretainedValue().withSockets { $0.close(socket) }
  }
  return close(socket)
}
