import CCurl
import QuireCore
import QuireHTTP
import QuirePagination

/// libcurl's result of a transfer.
struct CurlResult {
  var code: CURLcode
  /// libcurl's own message, which never has a URL in it.
  var detail: String

  init(_ code: CURLcode, detail: String = "") {
    self.code = code
    self.detail = detail
  }

  /// Whether an HTTP/2 connection broke under the request.
  var isBrokenHTTP2Connection: Bool { code == CURLE_HTTP2 }

  /// Whether the connection, or the stream, ended.
  var isBrokenConnection: Bool {
    [CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING]
      .contains(code)
  }

  /// Whether the server ended the stream because it was asked too much (RFC 9113, §7).
  fileprivate var isCallForCalm: Bool { detail.contains("ENHANCE_YOUR_CALM") }

  /// Whether the server refused the client by an alert of TLS. Servers of TLS 1.3 judge the client's
  /// certificate only after the request may have gone out. Alerts about damage to what was sent, and
  /// about a fault of the server's own, say nothing of later connections.
  fileprivate var isRefusalByTLS: Bool {
    detail.contains(" alert ")
      && !["bad record mac", "internal error", "user cancel"].contains(where: detail.contains)
  }

  /// Whether the failure is one of the proxy's answer to CONNECT. Before the request is sent, no
  /// other answer has header fields.
  fileprivate var isAnswerToCONNECT: Bool {
    detail.contains("CONNECT") || detail.contains("response headers")
  }

  /// What may be done about a refusal of CONNECT; empty if nothing is known.
  fileprivate var adviceOnProxy: String {
    detail.hasSuffix("407")
      ? " Its address needs the user and password that it asks for, or those given are wrong." : ""
  }

  /// What may be done about a refusal by TLS; empty if nothing is known.
  fileprivate var adviceOnTLS: String {
    let isAlert = detail.contains(" alert ")
    if isAlert, ["certificate", "unknown ca", "access denied"].contains(where: detail.contains) {
      return
        " It demands a certificate of the client, or does not accept the one it was shown: check that one."
    }
    if detail.contains("handshake failure") {
      return " It demands a certificate of the client, or has no cipher in common with it."
    }
    return ["version", "unsupported protocol"].contains(where: detail.contains)
      ? " It must offer TLS 1.2 or later." : ""
  }

  /// The message in brackets, to follow one of ours.
  fileprivate var reason: String { detail.isEmpty ? "" : " (\(ServerText(detail)))" }
}

/// The meaning of libcurl's results, as measured with libcurl 7.88.1; some of its codes mislead.
extension TransferMachine {
  /// Returns the error of a failed transfer; nil if libcurl found nothing wrong.
  func failure(_ result: CurlResult) -> PageError? {
    let reason = result.reason
    switch result.code {
    case CURLE_OK:
      return nil
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
      return PageError(.connectFailed, "The proxy for \(host) cannot be used\(reason).")
    case CURLE_RECV_ERROR where !wasSent && result.isAnswerToCONNECT:
      return PageError(
        .connectFailed,
        "The proxy does not connect to \(host)\(reason).\(result.adviceOnProxy)")
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT,
      CURLE_SSL_CONNECT_ERROR:
      // After the request was sent, a connection was wanted for its replay. That there is none does
      // not undo the request.
      return wasSent && parser.bytes == 0 ? dropped : unconnected(result)
    case CURLE_URL_MALFORMAT:
      return PageError(.invalidURL, "The URL on \(host) cannot be used\(reason).")
    case CURLE_OUT_OF_MEMORY where wasSent && !parser.isDone:
      // A single header line beyond libcurl's buffer ends in this code.
      return ResponseHeadParser.tooLong(host: host, limits: limits)
    case CURLE_RECV_ERROR
    where head?.isChunked == true && result.detail.contains("chunked-encoding"),
      CURLE_BAD_FUNCTION_ARGUMENT where head?.isChunked == true:
      return PageError(
        .protocolViolation,
        "\(host) sent a malformed chunk\(reason): the server, or a proxy before it, breaks the "
          + "chunked framing of its answer.")
    case CURLE_HTTP2 where result.isCallForCalm, CURLE_HTTP2_STREAM where result.isCallForCalm:
      return PageError(
        .throttled, "\(host) asked for less by ENHANCE_YOUR_CALM of HTTP/2; ask again later.")
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2,
      CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND:
      return result.isRefusalByTLS && parser.bytes == 0 ? refused(result) : lost(reason)
    default:
      return mistrust(result) ?? violation(result)
    }
  }

  private var wasSent: Bool { wireRequests > 0 }

  /// The error of a connection that died under the request. The server may have acted on it all the
  /// same.
  var dropped: PageError {
    let times = wireRequests == 1 ? "" : " \(wireRequests) times"
    let advice =
      isRepeatable ? "Ask again." : "It may have acted on it: look there before you ask again."
    return PageError(
      .truncated,
      "\(host) closed the connection under the request\(times), without an answer. \(advice)")
  }

  /// Returns the error of a broken connection. Once the request was sent, the server may have acted
  /// on it, with or without an answer; a first line that was cut looks like no answer at all.
  private func lost(_ reason: String) -> PageError {
    guard wasSent else {
      return PageError(
        .connectFailed, "\(host) closed the connection before the request was sent.")
    }
    guard parser.bytes > 0 else { return dropped }
    let place = parser.isDone ? "body" : "head"
    return PageError(
      .truncated,
      "The connection to \(host) broke inside the response \(place)\(reason); ask again.")
  }

  /// Returns the error of a connection that could not be made.
  private func unconnected(_ result: CurlResult) -> PageError {
    switch result.code {
    case CURLE_COULDNT_RESOLVE_HOST:
      return PageError(
        .connectFailed, "The name of \(host) could not be resolved; check the host.")
    case CURLE_OPERATION_TIMEDOUT:
      return PageError(
        .timedOut,
        "Connecting to \(host)\(proxy.map { " by the proxy \($0)" } ?? "") took longer than \(timeouts.connect.words).",
        remedies: [.raise(.init("Timeouts.connect"))])
    case CURLE_SSL_CONNECT_ERROR:
      return handshake(result)
    case _ where lacksDescriptors:
      return PageError.shortage(.descriptors, for: host)
    default:
      // libcurl's usual message says the same in other words.
      let reason = result.detail.hasPrefix("Failed to connect") ? "" : result.reason
      if let proxy {
        return PageError(
          .connectFailed,
          "No connection to the proxy \(proxy), by which \(host) is asked\(reason); check the proxy's host and "
            + "port, and that it runs.")
      }
      return PageError(
        .connectFailed,
        "No connection to \(host)\(reason); check host and port, and that the server runs.")
    }
  }

  /// Returns the error of a client that the server refused by TLS.
  private func refused(_ result: CurlResult) -> PageError {
    PageError(.tls, "TLS with \(host) failed\(result.reason).\(result.adviceOnTLS)")
  }

  /// Returns the error of a TLS handshake. One that the network cut may work next time; one that
  /// failed by its rules will not.
  private func handshake(_ result: CurlResult) -> PageError {
    let cuts = ["SSL_ERROR_SYSCALL", "reset by peer", "unexpected eof", "Broken pipe"]
    if cuts.contains(where: result.detail.contains) {
      return PageError(
        .connectFailed,
        "\(host) closed the connection during the TLS handshake; does it speak TLS on this port?")
    }
    if result.detail.contains("wrong version number") {
      return PageError(
        .tls, "\(host) does not speak TLS on this port; is it a server for http://?")
    }
    return refused(result)
  }

  /// Returns the error of a result that is about trust; nil for other results.
  private func mistrust(_ result: CurlResult) -> PageError? {
    switch result.code {
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_INVALIDCERTSTATUS:
      PageError(
        .tls,
        "The identity of \(host) could not be verified\(result.reason). "
          + (wasSent ? "The request had gone out before." : "Nothing was sent."))
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ENGINE_NOTFOUND,
      CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_USE_SSL_FAILED:
      PageError(
        .tls, "TLS with \(host) could not be set up\(result.reason); check the certificate files.")
    default: nil
    }
  }

  private func violation(_ result: CurlResult) -> PageError {
    let isKnown = [CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY].contains(result.code)
    return PageError(
      .protocolViolation,
      isKnown
        ? "\(host) does not answer in valid HTTP\(result.reason)."
        : "The transfer from \(host) failed with libcurl code \(result.code.rawValue)\(result.reason)."
    )
  }
}
