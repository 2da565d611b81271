import CZlib
import Foundation
@testable import QuireExport
import Testing

@Suite("The sum of a file")
struct FileSumTests {
  /// Bytes without a pattern that a step could hide.
  private let bytes = (0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ $0 >> 5) }

  @Test("The sum of bytes is zlib's, however many there are and wherever they begin in memory")
  func isOfZlib() {
    for start in [0, 1, 63, 100] {
      for count in Array(0...130) + [255, 256, 257, 320, 511, 512, 600, 4096, 8191, 8800] {
        var sum = FileSum()
        bytes[..<start].withUnsafeBytes { sum.add($0) }
        bytes[start..<start + count].withUnsafeBytes { sum.add($0) }
        let known = bytes.withUnsafeBufferPointer { crc32_z(0, $0.baseAddress, start + count) }
        #expect(sum.text == String(format: "%08x", known), "\(count) bytes behind \(start)")
      }
    }
  }

  #if arch(x86_64)
    /// Whether this machine has what steps of 64 bytes need; where it takes longer ones, only this test does.
    private static let hasNarrowSteps =
      (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)).map {
        $0.contains("pclmulqdq") && $0.contains(" avx ")
      } ?? false

    @Test("A processor with steps of 64 bytes finds the same sum", .enabled(if: hasNarrowSteps))
    func hasTheSameByShortSteps() {
      bytes.withUnsafeBufferPointer { bytes in
        guard let first = bytes.baseAddress else { return }
        for count in stride(from: 64, through: 8896, by: 64) {
          for (start, before) in [(0, 0), (1, 0xCBF4_3926), (33, 0xFFFF_FFFF)] as [(Int, UInt)] {
            let sum = quire_crc32_by_64(before, first + start, count)
            #expect(sum == crc32_z(before, first + start, count), "\(count) bytes behind \(start)")
          }
        }
      }
    }
  #endif
}
