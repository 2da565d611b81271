import QuireCore

/// Decodes pages of JSON or XML, whichever a server sends.
///
/// The Content-Type decides where it names one of the two, and the page's first byte where it does
/// not: `<` starts XML. A page of HTML is neither, and both decoders say so.
public struct AutomaticPageDecoder<Item: Sendable>: PageDecoder {
  let json: any PageDecoder<Item>
  let xml: any PageDecoder<Item>

  /// A decoder that hands each page to one of these two.
  public init(json: any PageDecoder<Item>, xml: any PageDecoder<Item>) {
    self.json = json
    self.xml = xml
  }

  /// Whether both decoders notice that the end of a document is missing.
  public var isSelfDelimiting: Bool { json.isSelfDelimiting && xml.isSelfDelimiting }

  /// Starts one page.
  ///
  /// Throws what the chosen decoder throws; where the first byte chooses, `receive(_:)` does.
  public func begin(_ context: DecodingContext) throws -> any PageDecoding<Item> {
    switch Self.format(of: context.contentType) {
    case .json?: return try json.begin(context)
    case .xml?: return try xml.begin(context)
    case nil: return Undecided(context: context, json: json, xml: xml)
    }
  }

  private enum Format { case json, xml }

  /// The format that a Content-Type names (RFC 8259, section 11; RFC 7303, section 9).
  private static func format(of contentType: String?) -> Format? {
    let type = (contentType ?? "").lowercased().prefix { $0 != ";" }.filter { $0 != " " }
    if type.hasSuffix("/json") || type.hasSuffix("+json") { return .json }
    if type.hasSuffix("/xml") || type.hasSuffix("+xml") { return .xml }
    return nil
  }

  /// A page whose first byte that means something has not come yet.
  private struct Undecided: PageDecoding {
    let context: DecodingContext
    let json: any PageDecoder<Item>
    let xml: any PageDecoder<Item>
    var head: [UInt8] = []
    var chosen: (any PageDecoding<Item>)?

    mutating func receive(_ slice: [UInt8]) throws {
      guard chosen == nil else {
        try chosen?.receive(slice)
        return
      }
      head += slice
      if let first = slice.first(where: { !Self.isSilent($0) }) {
        try choose(first)
      } else if head.count > Self.longestSilence {
        throw PageError(
          .malformed,
          """
          The page begins with more than \(Self.longestSilence) bytes of white space; that is \
          neither JSON nor XML as anyone means it.
          """)
      }
    }

    /// Bytes in which a format should have shown itself.
    private static var longestSilence: Int { 64 << 10 }

    /// White space, the bytes of a byte order mark, and the zeros of UTF-16.
    private static func isSilent(_ byte: UInt8) -> Bool {
      [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0].contains(byte)
    }

    private mutating func choose(_ first: UInt8?) throws {
      let decoder = first == UInt8(ascii: "<") ? xml : json
      var session = try decoder.begin(context)
      if !head.isEmpty { try session.receive(head) }
      head = []
      chosen = session
    }

    mutating func finish() throws -> any PageDocument {
      if chosen == nil { try choose(nil) }
      guard var session = chosen else {
        preconditionFailure("finish() has chosen a decoder just before.")
      }
      let document = try session.finish()
      chosen = session
      return document
    }

    mutating func readyItems() throws -> DecodedItems<Item> {
      try chosen?.readyItems() ?? DecodedItems([])
    }

    mutating func items() throws -> DecodedItems<Item> {
      guard var session = chosen else {
        preconditionFailure("items() was called before finish(), which makes the document.")
      }
      return try session.items()
    }
  }
}
