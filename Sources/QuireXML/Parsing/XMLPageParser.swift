package import QuirePagination

/// A parser of one page as it arrives, for decoders that read elements by hand.
package struct XMLPageParser {
  private let parser: XMLPushParser

  /// Creates a parser of one page. `charset` is the encoding by HTTP, `boundsEntries` whether the
  /// page is a feed whose entries must keep to `decoding` as they arrive.
  package init(
    limits: XMLLimits, decoding: DecodingLimits, leniency: XMLLeniency, charset: String?,
    boundsEntries: Bool
  ) throws {
    parser = try XMLPushParser(
      limits: limits, decoding: decoding, leniency: leniency, charset: charset,
      boundsEntries: boundsEntries)
  }

  /// Parses the next bytes.
  package func receive(_ slice: ArraySlice<UInt8>) throws(XMLFault) { try parser.receive(slice) }

  /// Ends the page and returns it. Throws `truncated` when its root element is not closed.
  package func finish() throws(XMLFault) -> XMLDocument {
    try parser.finish()
    return XMLDocument(index: parser.takeIndex())
  }

  /// The breaches that leniency has accepted so far, with their number.
  package var repairs: [(breach: XMLLeniency, count: Int)] { parser.repairCounts }

  // MARK: Text

  /// Receives the next bytes as text to be mended, without parsing them.
  package func receiveText(_ slice: ArraySlice<UInt8>) throws(XMLFault) {
    try parser.receiveText(slice)
  }

  /// The number of bytes of text received.
  package var textCount: Int { parser.state.pointee.tape.source.count }

  /// Calls `body` with the text received so far, in UTF-8, without copying it.
  package func withTextSoFar(_ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
    try body(parser.state.pointee.tape.source.elements)
  }

  /// Ends the text, and returns it in UTF-8, without a byte order mark.
  package func finishText() throws(XMLFault) -> [UInt8] {
    try parser.finishText()
    return parser.text
  }

  /// The breaches that leniency accepted in the bytes, before parsing.
  package var textRepairs: [(breach: XMLLeniency, count: Int)] { parser.textRepairs }
}
