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

  /// Reads from the beginning.
  init() throws(SinkError) {
    guard quire_inflate_init(&stream, 15 + 16) == Z_OK else {
      throw SinkError(.writeFailed, "zlib has no room to decompress.")
    }
  }

  deinit { inflateEnd(&stream) }

  /// The text of the next bytes; they may be cut anywhere.
  func add(_ bytes: [UInt8]) throws(SinkError) -> [UInt8] {
    var bytes = bytes
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    let isWhole = bytes.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = uInt(input.count)
      while true {
        let (result, left) = chunk.withUnsafeMutableBufferPointer { chunk in
          stream.next_out = chunk.baseAddress
          stream.avail_out = uInt(chunk.count)
          return (inflate(&stream, Z_NO_FLUSH), Int(stream.avail_out))
        }
        output += chunk[..<(chunk.count - left)]
        if result == Z_STREAM_END {
          inflateReset(&stream)
        } else if result != Z_OK, result != Z_BUF_ERROR {
          return false
        }
        if stream.avail_in == 0, left > 0 { return true }
      }
    }
    guard isWhole else { throw SinkError(.damaged, "The compressed file is damaged.") }
    return output
  }
}
