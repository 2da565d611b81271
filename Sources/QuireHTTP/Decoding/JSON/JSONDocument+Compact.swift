/// Writing parts of a page again.
extension JSONDocument {
  /// Appends the node to `output` without the white space between its tokens; every number and
  /// string stays as the server wrote it. Runs without white space are copied at once.
  func appendCompact(_ node: Int, to output: inout [UInt8]) {
    let range = range(of: node)
    let end = next(after: node)
    var run = range.lowerBound
    var position = run
    var index = node
    while index < end {
      let word = word(at: index)
      let token = word.kind.isContainer ? word.offset..<word.offset + 1 : self.range(of: index)
      skipWhiteSpace(in: position..<token.lowerBound, run: &run, output: &output)
      position = token.upperBound
      index += word.kind.isContainer ? 2 : 1
    }
    skipWhiteSpace(in: position..<range.upperBound, run: &run, output: &output)
    append(run..<range.upperBound, to: &output)
  }

  /// Looks through punctuation; at white space, writes the run that ends there and starts another.
  private func skipWhiteSpace(in gap: Range<Int>, run: inout Int, output: inout [UInt8]) {
    for index in gap where bytes[index] <= 0x20 {
      append(run..<index, to: &output)
      run = index + 1
    }
  }

  private func append(_ range: Range<Int>, to output: inout [UInt8]) {
    guard !range.isEmpty else { return }
    bytes.withUnsafeBufferPointer { output.append(contentsOf: $0[range]) }
  }
}
