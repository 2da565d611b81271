import HTTPTypes
import QuireCore
import QuireHTTP

/// Reads response heads line by line, interim responses included, and refuses what HTTP forbids.
///
/// It exists because libcurl lets several of these pass in silence: a head cut in its middle, two
/// lengths, a length too long for a number (RFC 9112 §6.3, RFC 9110 §5.5).
struct ResponseHeadParser {
  /// What a line amounted to.
  enum Progress {
    case more
    /// The end of the final head.
    case final(ResponseHead)
    /// A line after the final head: a trailer, which nobody may rely on.
    case trailer
  }

  private enum State {
    case statusLine
    case fields(status: Int, isHTTP2: Bool)
    case done
  }

  private let host: String
  private let isHead: Bool
  private let limits: TransferLimits
  private var state = State.statusLine
  private var fields = HTTPFields()
  private var pending: (name: HTTPField.Name, value: [UInt8])?
  private var interimResponses = 0

  /// Header bytes so far, trailers included.
  private(set) var bytes = 0

  init(host: String, isHead: Bool, limits: TransferLimits) {
    self.host = host
    self.isHead = isHead
    self.limits = limits
  }

  var isDone: Bool {
    if case .done = state { true } else { false }
  }

  /// Takes one line with its line end.
  mutating func line(_ raw: UnsafeRawBufferPointer) throws(TransferFailure) -> Progress {
    bytes += raw.count
    guard bytes <= limits.headerBytes else { throw Self.tooLong(host: host, limits: limits) }
    if case .done = state { return .trailer }
    var line = raw[...]
    if line.last == 0x0A { line.removeLast() }
    if line.last == 0x0D { line.removeLast() }
    guard line.allSatisfy({ $0 != 0 && $0 != 0x0D && $0 != 0x0A }) else {
      throw violation("a line break or NUL inside a header line")
    }
    switch state {
    case .statusLine:
      let (status, isHTTP2) = try statusLine(line)
      state = .fields(status: status, isHTTP2: isHTTP2)
      return .more
    case .fields(let status, let isHTTP2) where line.isEmpty:
      return try endOfHead(status: status, isHTTP2: isHTTP2)
    case .fields:
      try field(line)
      return .more
    case .done:
      return .trailer
    }
  }

  static func tooLong(host: String, limits: TransferLimits) -> TransferFailure {
    TransferFailure(
      .limitExceeded,
      "The response head of \(host) is longer than \(limits.headerBytes) bytes; raise "
        + "TransferLimits.headerBytes if that is legitimate.")
  }

  private func violation(_ what: String) -> TransferFailure {
    TransferFailure(
      .protocolViolation, "\(host) broke HTTP: \(what). The response cannot be trusted.")
  }

  private func statusLine(
    _ line: Slice<UnsafeRawBufferPointer>
  ) throws(TransferFailure) -> (status: Int, isHTTP2: Bool) {
    let parts = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0].starts(with: "HTTP/".utf8), parts[1].count == 3,
      let status = Int(String(decoding: parts[1], as: UTF8.self))
    else { throw violation("its status line is malformed") }
    guard (100..<600).contains(status) else {
      throw violation("its status is \(status), which HTTP does not know")
    }
    guard status != 101 else {
      throw violation("it switched protocols without having been asked to")
    }
    return (status, parts[0].starts(with: "HTTP/2".utf8))
  }

  private mutating func field(_ line: Slice<UnsafeRawBufferPointer>) throws(TransferFailure) {
    if line.first == 0x20 || line.first == 0x09 {
      // An obsolete continuation line (RFC 9112 §5.2) stands for one space.
      guard pending != nil else { throw violation("its head begins with a continuation line") }
      pending?.value.append(0x20)
      pending?.value.append(contentsOf: Self.trimmed(line))
      return
    }
    flush()
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
      let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
    else { throw violation("a header line has no valid name") }
    pending = (name, Array(Self.trimmed(line[line.index(after: colon)...])))
  }

  private mutating func flush() {
    if let (name, value) = pending {
      fields.append(HTTPField(name: name, lenientValue: value))
    }
    pending = nil
  }

  private static func trimmed(
    _ bytes: Slice<UnsafeRawBufferPointer>
  ) -> Slice<UnsafeRawBufferPointer> {
    var bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return bytes
  }

  private mutating func endOfHead(
    status: Int, isHTTP2: Bool
  ) throws(TransferFailure) -> Progress {
    flush()
    defer { fields = HTTPFields() }
    if status < 200 {
      interimResponses += 1
      guard interimResponses <= limits.interimResponses else {
        throw TransferFailure(
          .limitExceeded,
          "\(host) sent more than \(limits.interimResponses) interim responses before its answer.")
      }
      state = .statusLine
      return .more
    }
    state = .done
    return .final(try head(status: status, isHTTP2: isHTTP2))
  }

  private func head(status: Int, isHTTP2: Bool) throws(TransferFailure) -> ResponseHead {
    let isChunked = isHTTP2 ? false : try chunked()
    let length = try contentLength()
    return ResponseHead(
      response: HTTPResponse(status: .init(code: status), headerFields: fields),
      isHTTP2: isHTTP2, contentLength: isChunked ? nil : length, isChunked: isChunked,
      hasConflictingFraming: isChunked && length != nil,
      canHaveBody: !isHead && status != 204 && status != 304)
  }

  private func chunked() throws(TransferFailure) -> Bool {
    var codings = fields[values: .transferEncoding].flatMap { $0.split(separator: ",") }
      .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
    codings.removeAll { $0.isEmpty || $0 == "identity" }
    guard codings.isEmpty || codings == ["chunked"] else {
      throw violation("it used a transfer coding that was not offered")
    }
    return !codings.isEmpty
  }

  private func contentLength() throws(TransferFailure) -> Int? {
    var length: Int?
    for value in fields[values: .contentLength] {
      for part in value.split(separator: ",", omittingEmptySubsequences: false) {
        var digits = part.drop { $0 == " " || $0 == "\t" }
        while digits.last == " " || digits.last == "\t" { digits.removeLast() }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
          let parsed = Int(digits)
        else { throw violation("its Content-Length is not a length") }
        guard length == nil || length == parsed else {
          throw violation("it declared two different lengths")
        }
        length = parsed
      }
    }
    return length
  }
}
