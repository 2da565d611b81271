/// Writing parts of a page again.
extension JSONDocument {
  /// Appends the node to `output` without the white space between its tokens; every number and
  /// string stays as the server wrote it.
  func appendCompact(_ node: Int, to output: inout [UInt8]) {
    let range = range(of: node)
    let end = next(after: node)
    output.reserveCapacity(output.count + range.count)
    var position = range.lowerBound
    var index = node
    while index < end {
      let isContainer = word(at: index).kind.isContainer
      let start = word(at: index).offset
      let token = isContainer ? start..<start + 1 : self.range(of: index)
      appendPunctuation(position..<token.lowerBound, to: &output)
      output += bytes[token]
      position = token.upperBound
      index += isContainer ? 2 : 1
    }
    appendPunctuation(position..<range.upperBound, to: &output)
  }

  private func appendPunctuation(_ range: Range<Int>, to output: inout [UInt8]) {
    for byte in bytes[range] where byte > 0x20 { output.append(byte) }
  }
}
