import CZlib

/// Compresses bytes into a member of gzip (RFC 1952). A file is as many members as there were commits, one
/// behind the other, and every reader takes them for one text: what is cut off behind a member costs
/// nothing in front of it.
///
/// Level 6, zlib's own default. A member costs 18 bytes, and a dictionary that begins anew; at a
/// megabyte and more in each, less than a percent.
final class GzipMember {
  private var stream = z_stream()

  /// Begins a member.
  init() throws(SinkError) {
    // 15 bits of window, and 16 more for gzip's head and foot.
    try Self.check(quire_deflate_init(&stream, 6, 15 + 16))
  }

  deinit { deflateEnd(&stream) }

  /// Adds bytes, and returns what there is of the member so far and was not returned before; all of it
  /// where it `ends`.
  func add(_ bytes: [UInt8], ends: Bool) throws(SinkError) -> [UInt8] {
    var bytes = bytes
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    let result = bytes.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = uInt(input.count)
      while true {
        let (result, left) = chunk.withUnsafeMutableBufferPointer { chunk in
          stream.next_out = chunk.baseAddress
          stream.avail_out = uInt(chunk.count)
          return (deflate(&stream, ends ? Z_FINISH : Z_NO_FLUSH), Int(stream.avail_out))
        }
        output += chunk[..<(chunk.count - left)]
        if left > 0 || result < 0 { return result == Z_BUF_ERROR ? Z_OK : result }
      }
    }
    try Self.check(result)
    return output
  }

  private static func check(_ result: Int32) throws(SinkError) {
    guard result < 0 else { return }
    throw SinkError(.writeFailed, "zlib cannot compress: its error \(result).")
  }
}

/// Reads the text of a file of gzip members.
final class GzipReader {
  private var stream = z_stream()
  /// Whether what came so far are whole members.
  private(set) var isAtEnd = true

  /// Reads from the beginning.
  init() throws(SinkError) {
    guard quire_inflate_init(&stream, 15 + 16) == Z_OK else {
      throw SinkError(.writeFailed, "zlib has no room to decompress.")
    }
  }

  deinit { inflateEnd(&stream) }

  /// Hands over the text of the next bytes, in pieces; they may be cut anywhere.
  func add(_ bytes: [UInt8], _ use: ([UInt8]) throws -> Void) throws {
    var bytes = bytes
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    try bytes.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = uInt(input.count)
      var left = 0
      while stream.avail_in > 0 || left == 0 {
        let result = chunk.withUnsafeMutableBufferPointer { chunk in
          stream.next_out = chunk.baseAddress
          stream.avail_out = uInt(chunk.count)
          return inflate(&stream, Z_NO_FLUSH)
        }
        left = Int(stream.avail_out)
        switch result {
        case Z_STREAM_END:
          isAtEnd = true
          inflateReset(&stream)
        case Z_OK: isAtEnd = false
        case Z_BUF_ERROR: break
        default: throw SinkError(.damaged, "The compressed file is damaged.")
        }
        try use(Array(chunk[..<(chunk.count - left)]))
      }
    }
  }

  /// Whether the text of a file ends with a line, or is empty; nil where the file is not made of whole members.
  static func endsLine(_ file: SinkFile) throws -> Bool? {
    let reader = try GzipReader()
    var (offset, last) = (0, UInt8(ascii: "\n"))
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while case let count = try file.read(&buffer, at: offset), count > 0 {
      offset += count
      do {
        try reader.add(Array(buffer[..<count])) { last = $0.last ?? last }
      } catch SinkError.Code.damaged {
        return nil
      }
    }
    return reader.isAtEnd ? last == UInt8(ascii: "\n") : nil
  }
}
