package import QuirePagination

/// Parses one page as it arrives, for decoders that read elements by hand.
package struct XMLPageParser {
  private let parser: XMLPushParser

  /// A parser of one page; `charset` is what HTTP says about its encoding, `boundsEntries` whether the page is
  /// a feed whose entries must be within `decoding` while they arrive.
  package init(
    limits: XMLLimits = .api, decoding: DecodingLimits = .api, leniency: XMLLeniency = [],
    charset: String? = nil, boundsEntries: Bool = false
  ) throws {
    parser = try XMLPushParser(
      limits: limits, decoding: decoding, leniency: leniency, charset: charset,
      boundsEntries: boundsEntries)
  }

  /// Takes the next bytes.
  package func receive(_ slice: ArraySlice<UInt8>) throws(XMLFault) { try parser.receive(slice) }

  /// Says that all bytes have come, and returns the page.
  package func finish() throws(XMLFault) -> XMLDocument {
    try parser.finish()
    return XMLDocument(index: parser.takeIndex())
  }

  /// What had to be forgiven so far, and how often.
  package var repairs: [(breach: XMLLeniency, count: Int)] { parser.repairCounts }

  // MARK: Text

  /// Takes the next bytes of a page that was refused, as text to be mended.
  package func receiveText(_ slice: ArraySlice<UInt8>) throws(XMLFault) {
    try parser.receiveText(slice)
  }

  /// How much text has come.
  package var textCount: Int { parser.state.pointee.tape.source.count }

  /// Shows the text that has come, in UTF-8, without a copy of it.
  package func withTextSoFar(_ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
    let source = parser.state.pointee.tape.source
    try body(UnsafeBufferPointer(start: source.base, count: source.count))
  }

  /// Says that all bytes of a page that was refused have come, and returns its text in UTF-8.
  package func finishText() throws(XMLFault) -> [UInt8] {
    try parser.finishText()
    return parser.text
  }

  /// What had to be forgiven of the bytes, before they were parsed.
  package var textRepairs: [(breach: XMLLeniency, count: Int)] { parser.textRepairs }
}

/// Turns the bytes of a page into UTF-8 without parsing them.
package enum XMLPageText {
  /// The page's text in UTF-8, without a byte order mark, and what had to be forgiven.
  package static func utf8(
    of bytes: [UInt8], charset: String?, leniency: XMLLeniency
  ) throws(XMLFault) -> (text: [UInt8], repairs: [(breach: XMLLeniency, count: Int)]) {
    var input = XMLInput(charset: charset, leniency: leniency)
    var output = XMLBuffer<UInt8>(capacity: bytes.count)
    defer { output.release() }
    do {
      try input.receive(bytes, into: &output)
      try input.finish(into: &output)
    } catch {
      throw XMLFault(error)
    }
    return (
      Array(UnsafeBufferPointer(start: output.base, count: output.count)), input.repairCounts
    )
  }
}
