import QuirePagination
import CZlib
import QuireCore
import QuireHTTP

/// A streaming decoder for gzip and deflate, which proves that the stream is complete.
///
/// gzip (RFC 1952) may have several members and zero padding behind them; "deflate" may be wrapped
/// by zlib (RFC 1950), as the standard says, or raw (RFC 1951), as some servers send it. zlib
/// checks each checksum and length; this type checks the end of the stream, the bytes around its
/// members, and the limits.
struct ContentInflater: ~Copyable {
  enum Coding: String {
    case gzip
    case deflate
  }

  private enum State {
    /// Before the first byte; "deflate" waits here for the two bytes that tell its kind.
    case start
    case inflating
    /// A member has ended with its checksum.
    case between
    /// Zeros follow the last member.
    case padding
  }

  private static let sliceSize = 64 << 10

  private let coding: Coding
  private let limits: TransferLimits
  /// Whether the framing proves that an empty body is complete.
  private let mayBeEmpty: Bool
  // SAFETY: only this value, which cannot be copied, ever touches the stream. zlib keeps a pointer
  // to it, so it may not move.
  private nonisolated(unsafe) let stream: UnsafeMutablePointer<z_stream>
  private var input: [UInt8] = []
  private var offset = 0
  private var state = State.start
  /// Whether the last slice was full: zlib may have consumed all input and still hold output.
  private var mayOweOutput = false
  /// The wire bytes consumed, and the bytes made of them.
  private(set) var consumed = 0
  private(set) var produced = 0

  init(
    _ coding: Coding, limits: TransferLimits, mayBeEmpty: Bool = false
  ) throws(PageError) {
    self.coding = coding
    self.limits = limits
    self.mayBeEmpty = mayBeEmpty
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 15 bits of window; 16 more ask for gzip.
    guard quire_inflate_init(stream, coding == .gzip ? 31 : 15) == Z_OK else {
      throw PageError(.corruptEncoding, "zlib could not be started.")
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Whether the stream has ended, and all of its content was delivered.
  var isDrained: Bool {
    guard offset == input.count, !mayOweOutput else { return false }
    switch state {
    case .between, .padding: return true
    case .start, .inflating: return false
    }
  }

  /// Takes wire bytes, which follow those not consumed yet.
  mutating func receive(_ bytes: [UInt8]) {
    if offset == input.count {
      input = bytes
    } else {
      input = Array(input[offset...]) + bytes
    }
    offset = 0
  }

  /// Returns at most the next 64 KiB; nil if more wire bytes are needed.
  mutating func next() throws(PageError) -> [UInt8]? {
    while try prepare() {
      let slice = try inflateSlice()
      try judge()
      if !slice.isEmpty { return slice }
    }
    return nil
  }

  /// Checks that the stream has ended, once the transfer has.
  func finish() throws(PageError) {
    switch state {
    case .between, .padding: return
    case .start where mayBeEmpty && input.isEmpty: return
    case .start, .inflating:
      throw PageError(
        .truncated, "The \(coding.rawValue) body ends before its last byte; ask again.")
    }
  }

  static func tooMuch(_ limit: Int) -> PageError {
    PageError(
      .limitExceeded,
      "The body is longer than \(limit) bytes once decoded. Ask for smaller pages.",
      remedies: [.raise(.init("TransferLimits.decodedBytes"))])
  }

  /// Skips the bytes between members; returns false if there is nothing to inflate yet.
  private mutating func prepare() throws(PageError) -> Bool {
    while offset < input.count {
      switch state {
      case .inflating: return true
      case .start:
        guard try begin() else { return false }
      case .between where coding == .gzip && input[offset] == 0x1F:
        inflateReset(stream)
        state = .inflating
      case .between, .padding:
        guard input[offset] == 0 else { throw corrupt("other bytes follow its end") }
        state = .padding
        consumed += 1
        offset += 1
      }
    }
    return mayOweOutput
  }

  /// Tells raw deflate from zlib's by the header check of RFC 1950 §2.2; returns false if that
  /// needs a second byte.
  private mutating func begin() throws(PageError) -> Bool {
    if coding == .deflate {
      guard input.count - offset >= 2 else { return false }
      let (first, second) = (Int(input[offset]), Int(input[offset + 1]))
      let isWrapped = first & 0x0F == 8 && first >> 4 <= 7 && (first << 8 | second) % 31 == 0
      if !isWrapped, inflateReset2(stream, -15) != Z_OK { throw corrupt("zlib refused it") }
    }
    state = .inflating
    return true
  }

  private mutating func inflateSlice() throws(PageError) -> [UInt8] {
    let available = input.count - offset
    let capacity = min(Self.sliceSize, max(1024, available * 8))
    var status = Z_OK
    var used = 0
    let slice = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
      input.withUnsafeBufferPointer { input in
        // zlib does not write to its input; its type only says so since 1.3.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)?
          .advanced(by: offset)
        stream.pointee.avail_in = UInt32(available)
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(capacity)
        status = inflate(stream, Z_NO_FLUSH)
        used = available - Int(stream.pointee.avail_in)
        count = capacity - Int(stream.pointee.avail_out)
      }
    }
    offset += used
    consumed += used
    produced += slice.count
    mayOweOutput = status == Z_OK && slice.count == capacity
    switch status {
    case Z_STREAM_END: state = .between
    case Z_OK: break
    // No progress was possible, which only means that the input is used up.
    case Z_BUF_ERROR where offset == input.count: break
    default: throw corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "code \(status)")
    }
    return slice
  }

  private func judge() throws(PageError) {
    guard produced <= limits.decodedBytes else { throw Self.tooMuch(limits.decodedBytes) }
    guard
      produced <= limits.inflateRatioFloor || produced / max(1, consumed) <= limits.inflateRatio
    else {
      throw PageError(
        .limitExceeded,
        "The \(coding.rawValue) body grew to \(produced) bytes out of \(consumed), beyond "
          + "\(limits.inflateRatio) for one; it may be a bomb.",
        remedies: [.raise(.init("TransferLimits.inflateRatio"))])
    }
  }

  private func corrupt(_ why: String) -> PageError {
    PageError(
      .corruptEncoding,
      "The body is \(coding.rawValue) but damaged after \(consumed) bytes: \(why).")
  }
}
