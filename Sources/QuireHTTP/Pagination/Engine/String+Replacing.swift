extension String {
  /// Every occurrence of `part` replaced, byte by byte: an accent behind it belongs to what follows.
  func replacing(_ part: String, by other: String) -> String {
    let part = Array(part.utf8)
    guard !part.isEmpty else { return self }
    let bytes = Array(utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == part[0], bytes[index...].starts(with: part) {
        result += other.utf8
        index += part.count
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
