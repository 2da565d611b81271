import CZlib

/// A compressor for one gzip member (RFC 1952). Each commit is a member; readers concatenate the
/// text of all members, so a file that is cut after a member remains readable.
///
/// Uses level 6, zlib's default. A member costs 18 bytes and starts with an empty dictionary; with
/// a megabyte or more in each, this is less than a percent.
final class GzipMember {
  private var stream = z_stream()

  /// Creates a compressor at the start of a member.
  init() throws(SinkError) {
    // A window of 15 bits; adding 16 selects gzip's header and trailer.
    try Self.check(quire_deflate_init(&stream, 6, 15 + 16))
  }

  deinit { deflateEnd(&stream) }

  /// Compresses bytes, and returns the output available so far. If the member `ends`, returns the
  /// rest of it.
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

/// A decompressor for files of gzip members.
final class GzipReader {
  private var stream = z_stream()
  /// Whether the bytes so far are complete members.
  private(set) var isAtEnd = true

  /// Creates a decompressor at the start of a file.
  init() throws(SinkError) {
    guard quire_inflate_init(&stream, 15 + 16) == Z_OK else {
      throw SinkError(.writeFailed, "zlib has no room to decompress.")
    }
  }

  deinit { inflateEnd(&stream) }

  /// Decompresses the next bytes, which may be cut anywhere, and passes the text to `use` in
  /// pieces.
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

  /// Returns whether the text of a file ends with a line feed or is empty; nil if the file does not
  /// consist of complete members.
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
