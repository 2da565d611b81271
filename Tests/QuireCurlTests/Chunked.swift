/// Chunked responses, piece by piece.
enum Chunked {
  static let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
  static let end = Array("0\r\n\r\n".utf8)

  /// The bytes in chunks of at most `size`, without the end.
  static func chunks(_ bytes: [UInt8], of size: Int) -> [UInt8] {
    stride(from: 0, to: bytes.count, by: max(size, 1)).flatMap { start in
      let chunk = bytes[start..<min(start + size, bytes.count)]
      return Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
    }
  }
}
