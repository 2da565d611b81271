package import QuirePagination

/// A parser of one page as it arrives, for decoders that read elements by hand.
package struct XMLPageParser {
  private let parser: XMLPushParser

  /// Creates a parser of one page. `charset` is the encoding by HTTP, `boundsEntries` whether the
  /// page is a feed whose entries must keep to `decoding` as they arrive.
  package init(
    limits: XMLLimits = .api, decoding: DecodingLimits = .api, leniency: XMLLeniency = [],
    charset: String? = nil, boundsEntries: Bool = false
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

  /// Receives the next bytes of a page that was refused, as text to be mended.
  package func receiveText(_ slice: ArraySlice<UInt8>) throws(XMLFault) {
    try parser.receiveText(slice)
  }

  /// The number of bytes of text received.
  package var textCount: Int { parser.state.pointee.tape.source.count }

  /// Calls `body` with the text received so far, in UTF-8, without copying it.
  package func withTextSoFar(_ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
    let source = parser.state.pointee.tape.source
    try body(UnsafeBufferPointer(start: source.base, count: source.count))
  }

  /// Ends a page that was refused, and returns its text in UTF-8.
  package func finishText() throws(XMLFault) -> [UInt8] {
    try parser.finishText()
    return parser.text
  }

  /// The breaches that leniency accepted in the bytes, before parsing.
  package var textRepairs: [(breach: XMLLeniency, count: Int)] { parser.textRepairs }
}

/// Conversion of a page's bytes to UTF-8 without parsing them.
package enum XMLPageText {
  /// Returns the page's text in UTF-8, without a byte order mark, and the breaches that leniency
  /// accepted.
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
