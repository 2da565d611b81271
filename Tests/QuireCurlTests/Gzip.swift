import CZlib

/// Compressed fixtures, made by zlib.
enum Gzip {
  /// One gzip member.
  static func member(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: 15 + 16) }

  /// Deflate in the zlib format, which is what HTTP calls `deflate`.
  static func zlibWrapped(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: 15) }

  /// Bare deflate, which some servers call `deflate` as well.
  static func bare(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: -15) }

  /// `count` zero bytes, compressed about a thousandfold.
  static func bomb(_ count: Int) -> [UInt8] { member([UInt8](repeating: 0, count: count)) }

  private static func deflated(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    var result = deflateInit2_(
      &stream, Z_BEST_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      size)
    precondition(result == Z_OK, "deflateInit2 failed with \(result)")
    defer { deflateEnd(&stream) }
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
    var input = bytes
    let produced = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        result = deflate(&stream, Z_FINISH)
        return Int(stream.total_out)
      }
    }
    precondition(result == Z_STREAM_END, "deflate failed with \(result)")
    return Array(output[..<produced])
  }
}
