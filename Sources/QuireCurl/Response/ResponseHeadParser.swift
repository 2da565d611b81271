import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

/// Reads response heads line by line, interim responses included, and refuses what HTTP forbids.
///
/// It exists because libcurl accepts several violations silently: a head cut in its middle, two
/// lengths, a length too large for a number (RFC 9112 §6.3, RFC 9110 §5.5).
struct ResponseHeadParser {
  /// The result of a line.
  enum Progress {
    case more
    /// The end of the final head.
    case final(ResponseHead)
    /// A line after the final head: a trailer, which is not to be relied on (RFC 9110, §6.5.1).
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
  /// The value of the last field, if further lines have continued it.
  private var unfolded: [UInt8]?
  private var interimResponses = 0
  private let memory: HeadMemory?
  /// Whether all lines so far have the names of those in the memory, which then holds the fields.
  private var matchesMemory: Bool
  private var fieldLines = 0

  /// The header bytes so far, trailers included.
  private(set) var bytes = 0

  /// Creates a parser. `memory` belongs to the handle, whose transfers come one after the other.
  init(host: String, isHead: Bool, limits: TransferLimits, memory: HeadMemory? = nil) {
    self.memory = memory
    matchesMemory = memory != nil
    self.host = host
    self.isHead = isHead
    self.limits = limits
  }

  var isDone: Bool {
    if case .done = state { true } else { false }
  }

  /// Takes one line, with its line end.
  mutating func line(_ raw: UnsafeRawBufferPointer) throws(PageError) -> Progress {
    bytes += raw.count
    guard bytes <= limits.headerBytes else { throw Self.tooLong(host: host, limits: limits) }
    if case .done = state { return .trailer }
    var end = raw.count
    if end > 0, raw[end - 1] == 0x0A { end -= 1 }
    if end > 0, raw[end - 1] == 0x0D { end -= 1 }
    let line = UnsafeRawBufferPointer(rebasing: raw[..<end])
    if matchesMemory, case .fields = state, !line.isEmpty,
      memory?.holds(line, at: fieldLines) == true
    {
      fieldLines += 1
      return .more
    }
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

  static func tooLong(host: String, limits: TransferLimits) -> PageError {
    PageError(
      .limitExceeded,
      "The response head of \(host) is longer than \(limits.headerBytes) bytes.",
      remedies: [.raise(.init("TransferLimits.headerBytes"))])
  }

  private func violation(_ what: String) -> PageError {
    PageError(
      .protocolViolation, "\(host) broke HTTP: \(what). The response cannot be trusted.")
  }

  private func statusLine(
    _ line: UnsafeRawBufferPointer
  ) throws(PageError) -> (status: Int, isHTTP2: Bool) {
    guard line.starts(with: "HTTP/".utf8), let space = line.firstIndex(of: 0x20) else {
      throw violation("its status line is malformed")
    }
    let digits = line[(space + 1)...].prefix { $0 != 0x20 }
    guard digits.count == 3, let status = Int(String(decoding: digits, as: UTF8.self)) else {
      throw violation("its status line is malformed")
    }
    guard (100..<600).contains(status) else {
      throw violation("its status is \(status), which HTTP does not know")
    }
    guard status != 101 else {
      throw violation("it switched protocols without having been asked to")
    }
    return (status, line.starts(with: "HTTP/2".utf8))
  }

  /// Reads on without the memory, because the head differs from the last one from this line on.
  private mutating func leaveMemory() {
    guard matchesMemory, let memory else { return }
    matchesMemory = false
    memory.forget(from: fieldLines)
    fields = memory.fields
  }

  private mutating func field(_ line: UnsafeRawBufferPointer) throws(PageError) {
    if line[0] == 0x20 || line[0] == 0x09 {
      leaveMemory()
      return try unfold(line)
    }
    endUnfolding()
    let known = matchesMemory ? memory?.name(fieldLines, line) : nil
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
      let name = known
        ?? HTTPField.Name(
          String(decoding: UnsafeRawBufferPointer(rebasing: line[..<colon]), as: UTF8.self))
    else { throw violation("a header line has no valid name") }
    let value = Self.trimmed(line[(colon + 1)...])
    // A lenient value is slower to make, so it is used only for bytes outside of printable ASCII.
    let isText = value.allSatisfy { (0x20...0x7E).contains($0) }
    let field =
      isText
      ? HTTPField(name: name, value: String(decoding: value, as: UTF8.self))
      : HTTPField(name: name, lenientValue: value)
    if known == nil || memory?.replace(fieldLines, line, nameLength: colon, field) == false {
      leaveMemory()
      fields.append(field)
      memory?.add(fieldLines, line, nameLength: colon, field)
    }
    fieldLines += 1
  }

  /// Takes an obsolete continuation line (RFC 9112 §5.2): its line break stands for one space.
  private mutating func unfold(_ line: UnsafeRawBufferPointer) throws(PageError) {
    guard let field = fields.last else {
      throw violation("its head begins with a continuation line")
    }
    var value = unfolded.take() ?? field.withUnsafeBytesOfValue { Array($0) }
    value.append(0x20)
    value.append(contentsOf: Self.trimmed(line[...]))
    unfolded = value
  }

  private mutating func endUnfolding() {
    guard let value = unfolded.take(), let field = fields.popLast() else { return }
    fields.append(HTTPField(name: field.name, lenientValue: value))
  }

  private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> UnsafeRawBufferPointer {
    var bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return UnsafeRawBufferPointer(rebasing: bytes)
  }

  private mutating func endOfHead(
    status: Int, isHTTP2: Bool
  ) throws(PageError) -> Progress {
    endUnfolding()
    // A head that is shorter than the last one differs from it, too.
    leaveMemory()
    defer { (fields, fieldLines, matchesMemory) = (HTTPFields(), 0, memory != nil) }
    if status < 200 {
      interimResponses += 1
      guard interimResponses <= limits.interimResponses else {
        throw PageError(
          .limitExceeded,
          "\(host) sent more than \(limits.interimResponses) interim responses before its answer.")
      }
      state = .statusLine
      return .more
    }
    state = .done
    return .final(try head(status: status, isHTTP2: isHTTP2))
  }

  private func head(status: Int, isHTTP2: Bool) throws(PageError) -> ResponseHead {
    let isChunked = isHTTP2 ? false : try chunked()
    let length = try contentLength()
    return ResponseHead(
      response: HTTPResponse(status: .init(code: status), headerFields: fields),
      isHTTP2: isHTTP2, contentLength: isChunked ? nil : length, isChunked: isChunked,
      hasConflictingFraming: isChunked && length != nil,
      canHaveBody: !isHead && status != 204 && status != 304)
  }

  private func chunked() throws(PageError) -> Bool {
    let values = fields[values: .transferEncoding]
    guard !values.isEmpty else { return false }
    let codings = values.flatMap { $0.split(separator: ",") }
      .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      .filter { !$0.isEmpty && $0 != "identity" }
    guard codings.isEmpty || codings == ["chunked"] else {
      throw violation("it used a transfer coding that was not offered")
    }
    return !codings.isEmpty
  }

  private func contentLength() throws(PageError) -> Int? {
    var length: Int?
    let values = fields[values: .contentLength]
    // Nearly always there is one short number, which has no other spelling and cannot overflow.
    if values.count == 1, values[0].utf8.count < 19,
      values[0].utf8.allSatisfy({ (0x30...0x39).contains($0) })
    {
      if let plain = Int(values[0]) { return plain }
    }
    for value in values {
      let parts = value.utf8.split(
        separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      for part in parts {
        var digits = part.drop { $0 == 0x20 || $0 == 0x09 }
        while digits.last == 0x20 || digits.last == 0x09 { digits.removeLast() }
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }),
          let parsed = Int(Substring(digits))
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

/// The head of a final response, and what it says about the body.
struct ResponseHead: Sendable {
  var response: HTTPResponse
  var isHTTP2: Bool
  /// The declared length; nil if there is none, or if chunks overrule it.
  var contentLength: Int?
  var isChunked: Bool
  /// Whether both a length and chunks were declared. That is a trick to smuggle requests, so the
  /// connection is not used again (RFC 9112 §6.3).
  var hasConflictingFraming: Bool
  /// Whether the response can have a body: not if it answers HEAD, or has a status without a body.
  var canHaveBody: Bool

  /// How the end of the body is known. The end of an HTTP/2 stream proves nothing: libcurl before
  /// 8.0 reports a stream that was reset in mid-body without an error as one that ended.
  var framing: TransportResponse.Framing {
    contentLength != nil || isChunked || !canHaveBody ? .explicit : .untilClose
  }
}
