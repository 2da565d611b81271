import CCurl

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A log of the secrets of TLS connections, for tools that read captured traffic. It is written to
/// the file that the environment's `SSLKEYLOGFILE` names, and only if a transport was asked for it.
///
/// libcurl itself reads the variable when it is initialised, and then logs for as long as the
/// process lives, whichever transport a connection belongs to. So the variable is removed before
/// libcurl sees it.
enum KeyLog {
  /// The value of the variable, which is taken out of the environment once: before libcurl is
  /// initialised, and so before there is a thread of ours.
  static let path: String? = {
    guard let value = getenv("SSLKEYLOGFILE") else { return nil }
    defer { unsetenv("SSLKEYLOGFILE") }
    return value.pointee == 0 ? nil : String(cString: value)
  }()

  /// The file's descriptor, open for appending, readable by its owner alone; nil if it cannot be
  /// opened.
  private static let file: Int32? = path.flatMap { path in
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    return descriptor < 0 ? nil : descriptor
  }

  private typealias Listener =
    @convention(c) (_ connection: OpaquePointer?, _ line: UnsafePointer<CChar>?) -> Void
  private typealias Register =
    @convention(c) (_ context: UnsafeMutableRawPointer?, _ listener: Listener?) -> Void

  /// OpenSSL's `SSL_CTX_set_keylog_callback`, found by its name: libcurl may be built with another
  /// library, and Quire links none.
  private static let register: Register? = {
    #if canImport(Darwin)
      let everywhere = UnsafeMutableRawPointer(bitPattern: -2)
    #else
      let everywhere: UnsafeMutableRawPointer? = nil
    #endif
    return dlsym(everywhere, "SSL_CTX_set_keylog_callback").map {
      unsafeBitCast($0, to: Register.self)
    }
  }()

  /// The reason why the log cannot be written; nil if it can be, or if no file is named.
  static var obstacle: String? {
    guard let path else { return nil }
    if file == nil { return "the file \(path) of SSLKEYLOGFILE cannot be opened for writing" }
    return register == nil ? "libcurl's TLS library is not OpenSSL" : nil
  }

  /// Makes a new TLS context of libcurl write to the file; has the shape of
  /// CURLOPT_SSL_CTX_FUNCTION.
  static let listen: quire_ssl_context_callback = { _, context, _ in
    register?(context) { _, line in KeyLog.write(line) }
    return CURLE_OK
  }

  private static func write(_ line: UnsafePointer<CChar>?) {
    guard let file, let line else { return }
    var bytes = Array(UnsafeBufferPointer(start: line, count: strlen(line))).map(
      UInt8.init(bitPattern:))
    bytes.append(UInt8(ascii: "\n"))
    // With one call, so that lines of several connections do not mix.
    bytes.withUnsafeBytes { bytes in
      #if canImport(Glibc)
        _ = Glibc.write(file, bytes.baseAddress, bytes.count)
      #else
        _ = Darwin.write(file, bytes.baseAddress, bytes.count)
      #endif
    }
  }
}
