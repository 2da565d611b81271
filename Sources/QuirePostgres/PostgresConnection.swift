import CPostgreSQL
import Dispatch
import Foundation
import QuireCore
import QuireExport
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A connection to PostgreSQL, used on its own queue, because libpq blocks while it waits for the
/// server.
///
/// SAFETY: `handle` and `failureState` are used only in work that `run` and `closeLater` put on the
/// queue, which is serial, and in `deinit`.
package final class PostgresConnection: @unchecked Sendable {
  private let target: String
  private let queue = DispatchQueue(label: "quire.postgres")
  private var handle: OpaquePointer?
  /// The SQLSTATE of the last failure since the last success; empty if the server gave none.
  private var failureState = ""
  /// A descriptor of our own for the connection's socket, and whether the work on the queue was
  /// given up. The descriptor is negative if there is none.
  private let link = Mutex<(socket: Int32, isGivenUp: Bool)>((-1, false))

  init(_ target: String) { self.target = target }

  deinit { finish() }

  /// How long a server may take to answer once the export was asked to stop: long enough for a
  /// commit.
  static let stopPatience: Duration = .seconds(5)

  /// Performs work on the queue, where the calls below may block.
  ///
  /// Gives it up and throws `CancellationError` if it is not done `stopPatience` after `isStopping`
  /// has become true: a server that does not answer blocks libpq for ever. Its connection is cut, so
  /// that the work soon fails.
  func run<Value: Sendable>(
    isStopping: @escaping @Sendable () -> Bool = { false },
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let answer = Suspension<Value>()
    let watch = Task {
      while !isStopping() { try await Task.sleep(for: .milliseconds(100)) }
      try await Task.sleep(for: Self.stopPatience)
      giveUp()
      answer.resume(throwing: CancellationError())
    }
    queue.async { [self] in
      let result = Result { try work() }
      watch.cancel()
      link.withLock { $0.isGivenUp = false }
      answer.resume(with: result)
    }
    // A cancelled task waits on: the work must be over, or given up, before another follows.
    return try await answer.value {}
  }

  /// Whether work is still on the queue that was given up.
  var isGivenUp: Bool { link.withLock { $0.isGivenUp } }

  private func giveUp() {
    link.withLock { link in
      link.isGivenUp = true
      // The descriptor is our own: libpq may have closed its own, and the system given it away.
      if link.socket >= 0 { shutdown(link.socket, Int32(SHUT_RDWR)) }
    }
  }

  /// Closes the connection after the work on the queue, without waiting for that.
  func closeLater() { queue.async { [self] in close() } }

  /// Frees what the connection has, and its socket.
  private func finish() {
    PQfinish(handle)
    handle = nil
    link.withLock { link in
      if link.socket >= 0 { _ = Foundation.close(link.socket) }
      link.socket = -1
    }
  }

  /// Whether the connection is open, as far as libpq knows without asking the server.
  var isOpen: Bool { handle != nil && PQstatus(handle) == CONNECTION_OK }

  /// Whether the last failure was a conflict between transactions, which may not recur: a deadlock,
  /// or a failed serialization.
  var isConflict: Bool { failureState == "40P01" || failureState == "40001" }

  /// Whether the last failure was a lock of another program, which was waited for.
  var isLocked: Bool { failureState == "55P03" }

  /// Whether the last failure was a column that a table does not have, or one without the index
  /// that `ON CONFLICT` needs.
  var lacksColumn: Bool { failureState == "42703" || failureState == "42P10" }

  /// The longest wait for a lock by one statement. It is short, because nothing can end it.
  static let lockWait: Duration = .seconds(2)

  /// Closes any connection, and opens another. Throws `SinkError`.
  func connect() throws {
    finish()
    guard Self.isWellFormed(target) else {
      throw SinkError(
        .writeFailed,
        "The address of the database cannot be taken apart. In a URL, write @ : / ? # % in a user's name or a "
          + "password as %40 %3A %2F %3F %23 %25; in a list of keywords, put what has blanks in '.")
    }
    // Of a keyword that occurs twice, libpq uses the last: `target` overrides those before it. The
    // keepalives detect within a minute, not hours, that a server has vanished.
    handle = Self.withKeywords(keywords) { PQconnectdbParams($0, $1, 1) }
    guard isOpen else {
      let message = trimmed(PQerrorMessage(handle))
      close()
      throw SinkError(.writeFailed, "The database cannot be connected to: \(message)")
    }
    let socket = fcntl(PQsocket(handle), F_DUPFD_CLOEXEC, 0)
    link.withLock { $0.socket = socket }
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    // As in pg_dump: a commit that takes longer than the server's queries may would fail each time.
    try execute(
      "SET lock_timeout = '\(Self.lockWait.components.seconds)s'; SET statement_timeout = 0; "
        + "SET client_min_messages = warning")
  }

  private var keywords: [(String, String)] {
    [
      ("connect_timeout", "10"), ("keepalives_idle", "30"), ("keepalives_interval", "10"),
      ("keepalives_count", "3"), ("tcp_user_timeout", "60000"), ("dbname", target),
      ("fallback_application_name", "quire"), ("client_encoding", "UTF8"),
    ]
  }

  /// Asks whether the server accepts connections, or the address does not name one. If so, waiting
  /// does not help a connection that fails: the user, the password or the database is wrong.
  func waitsInVain() -> Bool {
    guard Self.isWellFormed(target) else { return true }
    return [PQPING_OK, PQPING_NO_ATTEMPT].contains(
      Self.withKeywords(keywords) { PQpingParams($0, $1, 1) })
  }

  /// Whether libpq can parse an address, and each of its ports is a number. For any other address,
  /// libpq's message may quote a part of the password.
  private static func isWellFormed(_ target: String) -> Bool {
    let isURL = ["postgres://", "postgresql://"].contains { target.hasPrefix($0) }
    // libpq also accepts the name of a database alone.
    guard isURL || target.contains("=") else { return !target.contains("://") }
    var message: UnsafeMutablePointer<CChar>?
    let options = PQconninfoParse(target, &message)
    PQfreemem(message)
    PQconninfoFree(options)
    guard options != nil else { return false }
    guard isURL, let start = target.range(of: "://")?.upperBound else { return true }
    let rest = target[start...]
    // As in libpq, user and password end at the first @ before any slash.
    let user = rest.firstIndex { $0 == "@" || $0 == "/" }.flatMap { rest[$0] == "@" ? $0 : nil }
    let hosts = (user.map { rest[rest.index(after: $0)...] } ?? rest)
      .prefix { $0 != "/" && $0 != "?" }
    return !hosts.contains("@")
      && hosts.split(separator: ",").allSatisfy { host in
        let name = host.lastIndex(of: "]") ?? host.startIndex
        guard let colon = host[name...].firstIndex(of: ":") else { return true }
        return host[colon...].dropFirst().allSatisfy { "0"..."9" ~= $0 }
      }
  }

  func close() {
    // The server may notice the end of the connection only later. Unlocking spares the next run
    // that wait.
    if PQtransactionStatus(handle) == PQTRANS_IDLE {
      PQclear(PQexec(handle, "SELECT pg_advisory_unlock_all()"))
    }
    finish()
  }

  private static func withKeywords<Result>(
    _ words: [(String, String)],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let names = words.map { strdup($0.0) }
    let values = words.map { strdup($0.1) }
    defer { for text in names + values { free(text) } }
    return body(
      names.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil])
  }

  // MARK: Statements

  /// Runs statements that return no rows.
  func execute(_ sql: String) throws {
    let result = PQexec(handle, sql)
    defer { PQclear(result) }
    try check(result)
  }

  /// Runs a statement with values for its parameters, and returns its rows as text.
  @discardableResult
  package func query(_ sql: String, _ values: [String?] = []) throws -> [[String?]] {
    let texts = values.map { $0.map { strdup($0) } ?? nil }
    defer { for text in texts { free(text) } }
    let result = PQexecParams(
      handle, sql, Int32(values.count), nil, texts.map { UnsafePointer($0) }, nil, nil, 0)
    defer { PQclear(result) }
    try check(result)
    return (0..<PQntuples(result)).map { row in
      (0..<PQnfields(result)).map { column in
        PQgetisnull(result, row, column) == 1
          ? nil : String(cString: PQgetvalue(result, row, column))
      }
    }
  }

  /// Copies rows into a table: `rows` returns text in the format of `COPY`, piece by piece, and nil
  /// at the end.
  func copy(_ sql: String, _ rows: () throws -> [UInt8]?) throws {
    let begun = PQexec(handle, sql)
    defer { PQclear(begun) }
    guard PQresultStatus(begun) == PGRES_COPY_IN else { return try check(begun) }
    do {
      while let piece = try rows() {
        let sent = piece.withUnsafeBytes {
          PQputCopyData(
            handle, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
        }
        if sent != 1 { throw failure(nil) }
      }
    } catch {
      PQputCopyEnd(handle, "The export gave up.")
      while let result = PQgetResult(handle) { PQclear(result) }
      throw error
    }
    if PQputCopyEnd(handle, nil) != 1 { throw failure(nil) }
    var failed: SinkError?
    while let result = PQgetResult(handle) {
      if PQresultStatus(result) != PGRES_COMMAND_OK { failed = failure(result) }
      PQclear(result)
    }
    if let failed { throw failed }
  }

  private func check(_ result: OpaquePointer?) throws {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK: failureState = ""
    default: throw failure(result)
    }
  }

  private func failure(_ result: OpaquePointer?) -> SinkError {
    let state = PQresultErrorField(result, 67).map { String(cString: $0) } ?? ""
    failureState = state
    let message =
      PQresultErrorField(result, 77).map { String(cString: $0) } ?? trimmed(PQerrorMessage(handle))
    let text = "\(ServerText(message, limit: 500))"
    switch state {
    case "53100", "53200", "53300", "53400":
      return SinkError(.writeFailed, "PostgreSQL has no room left: \(text). Make room, and go on.")
    case "55P03":
      return SinkError(
        .inUse, "Another program keeps the table locked. End it, and go on.")
    case "25006":
      return SinkError(
        .writeFailed,
        "PostgreSQL takes no changes: \(text). It is a standby or was set to be read-only: name the server "
          + "that can be written, and go on.")
    case "54000", "54001", "54011", "22P05", "21000":
      return SinkError(.unfit, "PostgreSQL cannot hold an item: \(text) (\(state)).")
    case "0A000", "2BP01":
      return SinkError(
        .unsupported,
        "PostgreSQL cannot change the table: \(text) (\(state)). Drop what depends on its columns, and go "
          + "on.")
    case "": return SinkError(.writeFailed, "PostgreSQL: \(text)")
    default: return SinkError(.writeFailed, "PostgreSQL: \(text) (\(state)).")
    }
  }

  private func trimmed(_ text: UnsafePointer<CChar>?) -> String {
    guard let text else { return "out of memory" }
    // Lines after the first begin with a tab.
    let words = String(cString: text).split { $0 == "\n" || $0 == "\t" }
    return "\(ServerText(words.joined(separator: " "), limit: 500))"
  }
}
