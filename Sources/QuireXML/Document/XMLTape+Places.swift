extension XMLTape {
  /// The line and the column, in bytes, of a byte in the source; both from 1. Linear in the page:
  /// only for messages.
  func lineAndColumn(of offset: Int) -> (line: Int, column: Int) {
    var line = 1
    var lineStart = 0
    for index in 0..<min(offset, source.count) where source.base[index] == UInt8(ascii: "\n") {
      line += 1
      lineStart = index + 1
    }
    return (line, offset - lineStart + 1)
  }
}
