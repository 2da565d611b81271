#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// iconv from one encoding to UTF-8. Used by one parser; keeps the shift state of encodings that
/// have one.
final class SystemConverter {
  private let descriptor: iconv_t

  /// Nil where the system does not know the encoding.
  init?(_ encoding: String) {
    guard let descriptor = iconv_open("UTF-8", encoding), descriptor != iconv_t(bitPattern: -1)
    else { return nil }
    self.descriptor = descriptor
  }

  deinit { iconv_close(descriptor) }

  /// Appends what `bytes` hold, and returns how many bytes were whole characters; nil when they are
  /// not in the encoding.
  func convert(_ bytes: [UInt8], into output: inout XMLBuffer<UInt8>) -> Int? {
    var input = bytes.map { CChar(bitPattern: $0) }
    var room = [CChar](repeating: 0, count: 4 << 10)
    var used = 0
    while used < input.count {
      var left = input.count - used
      var space = room.count
      let (result, failure) = input.withUnsafeMutableBufferPointer { input in
        room.withUnsafeMutableBufferPointer { room in
          var from = input.baseAddress.map { $0 + used }
          var to = room.baseAddress
          errno = 0
          return (iconv(descriptor, &from, &left, &to, &space), errno)
        }
      }
      output.append(contentsOf: room[..<(room.count - space)].lazy.map { UInt8(bitPattern: $0) })
      used = input.count - left
      if result == Int(bitPattern: UInt.max), failure != E2BIG {
        return failure == EINVAL ? used : nil
      }
    }
    return used
  }
}
