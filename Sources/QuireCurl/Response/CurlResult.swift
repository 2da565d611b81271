import CCurl
import QuireCore
import QuireHTTP
import QuirePagination

/// How libcurl ended a transfer, and what that means.
///
/// The meanings were measured with libcurl 7.88.1; some of its codes mislead.
struct CurlResult {
  /// What the transfer had come to.
  struct Facts {
    var host: String
    var timeouts: Timeouts
    var limits: TransferLimits
    var headBytes: Int
    var isHeadDone: Bool
    var isChunked: Bool
    var wireRequests: Int
    /// Whether it does no harm to ask again.
    var isRepeatable: Bool

    var wasSent: Bool { wireRequests > 0 }

    /// The connection died under the request. The server may have acted on it all the same.
    var dropped: TransferFailure {
      let times = wireRequests == 1 ? "" : " \(wireRequests) times"
      let advice =
        isRepeatable
        ? "Ask again."
        : "It may have acted on it: look there before you ask again."
      return TransferFailure(
        .truncated,
        "\(host) closed the connection under the request\(times), without an answer. \(advice)")
    }
  }

  var code: CURLcode
  /// libcurl's own sentence, never with a URL in it.
  var detail: String

  init(_ code: CURLcode, detail: String = "") {
    self.code = code
    self.detail = detail
  }

  /// An HTTP/2 connection that broke under the request before it was answered.
  var isPoisonedConnection: Bool { code == CURLE_HTTP2 }

  /// The connection, or the stream, ended.
  var isBrokenConnection: Bool {
    [CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING]
      .contains(code)
  }

  /// Nil when libcurl found nothing wrong.
  func failure(_ facts: Facts) -> TransferFailure? {
    switch code {
    case CURLE_OK:
      return nil
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
      return connection("The proxy for \(facts.host) cannot be used\(reason).")
    case CURLE_RECV_ERROR where !facts.wasSent && detail.contains("CONNECT"):
      return connection("The proxy does not connect to \(facts.host)\(reason).")
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT,
      CURLE_SSL_CONNECT_ERROR:
      // After the request went out, a connection was wanted for its replay; that there is none does not
      // undo the request.
      return facts.wasSent && facts.headBytes == 0 ? facts.dropped : unconnected(facts)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_INVALIDCERTSTATUS:
      return TransferFailure(
        .tls,
        "The identity of \(facts.host) could not be verified\(reason). "
          + (facts.wasSent ? "The request had gone out before." : "Nothing was sent."))
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ENGINE_NOTFOUND,
      CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_USE_SSL_FAILED:
      return TransferFailure(
        .tls, "TLS with \(facts.host) could not be set up\(reason); check the certificate files.")
    case CURLE_URL_MALFORMAT:
      return TransferFailure(.invalidURL, "The URL on \(facts.host) cannot be used\(reason).")
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
      return TransferFailure(
        .protocolViolation, "\(facts.host) does not answer in valid HTTP\(reason).")
    case CURLE_OUT_OF_MEMORY where facts.wasSent && !facts.isHeadDone:
      // A single header line beyond libcurl's buffer ends in this code.
      return ResponseHeadParser.tooLong(host: facts.host, limits: facts.limits)
    case CURLE_RECV_ERROR where facts.isChunked && detail.contains("chunked-encoding"):
      return TransferFailure(
        .protocolViolation, "\(facts.host) sent a malformed chunk\(reason).")
    case CURLE_HTTP2 where isCallForCalm, CURLE_HTTP2_STREAM where isCallForCalm:
      return TransferFailure(
        .throttled, "\(facts.host) asked for less by ENHANCE_YOUR_CALM of HTTP/2; ask again later.")
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2,
      CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND:
      return lost(facts)
    default:
      return TransferFailure(
        .protocolViolation,
        "The transfer from \(facts.host) failed with libcurl code \(code.rawValue)\(reason).")
    }
  }

  /// Whether the server ended the stream because it was asked too much (RFC 9113, §7).
  private var isCallForCalm: Bool { detail.contains("ENHANCE_YOUR_CALM") }

  private var reason: String { detail.isEmpty ? "" : " (\(ServerText(detail)))" }

  /// There is no connection.
  private func unconnected(_ facts: Facts) -> TransferFailure {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST:
      return connection("The name of \(facts.host) could not be resolved; check the host.")
    case CURLE_OPERATION_TIMEDOUT: return timedOut(facts)
    case CURLE_SSL_CONNECT_ERROR: return handshake(facts)
    default:
      // libcurl's usual sentence says the same with other words.
      let reason = detail.hasPrefix("Failed to connect") ? "" : reason
      return connection(
        "No connection to \(facts.host)\(reason); check host and port, and that the server runs.")
    }
  }

  private func connection(_ message: String) -> TransferFailure {
    TransferFailure(.connectFailed, message)
  }

  private func timedOut(_ facts: Facts) -> TransferFailure {
    TransferFailure(
      .timedOut,
      "Connecting to \(facts.host) took longer than \(facts.timeouts.connect).",
      limit: .init("Timeouts.connect"))
  }

  /// A handshake that the network cut may work next time; one that failed by its rules will not.
  private func handshake(_ facts: Facts) -> TransferFailure {
    let cuts = ["SSL_ERROR_SYSCALL", "reset by peer", "unexpected eof", "Broken pipe"]
    if cuts.contains(where: detail.contains) {
      return connection(
        "\(facts.host) closed the connection during the TLS handshake; does it speak TLS on this port?"
      )
    }
    if detail.contains("wrong version number") {
      return TransferFailure(
        .tls, "\(facts.host) does not speak TLS on this port; is it a server for http://?")
    }
    return TransferFailure(
      .tls, "TLS with \(facts.host) failed\(reason); it must offer TLS 1.2 or later.")
  }

  /// The connection broke. Once the request was sent the server may have acted on it, answer or
  /// not; a first line that was cut looks like none at all.
  private func lost(_ facts: Facts) -> TransferFailure {
    guard facts.wasSent else {
      return connection("\(facts.host) closed the connection before the request was sent.")
    }
    guard facts.headBytes > 0 else {
      return facts.dropped
    }
    let place = facts.isHeadDone ? "body" : "head"
    return TransferFailure(
      .truncated,
      "The connection to \(facts.host) broke inside the response \(place)\(reason); ask again.")
  }
}

/// Why a transfer cannot be whole, before it is known how many requests it took.
struct TransferFailure: Error, Equatable {
  var code: PageError.Code
  var message: String
  /// The limit that was reached, by its name.
  var limit: Remedy.Setting?
  var remedies: [Remedy] = []

  init(
    _ code: PageError.Code, _ message: String, limit: Remedy.Setting? = nil,
    remedies: [Remedy] = []
  ) {
    self.remedies = remedies
    self.code = code
    self.message = message
    self.limit = limit
  }
}
