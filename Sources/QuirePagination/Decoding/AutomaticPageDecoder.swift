import QuireCore

/// Decodes pages of JSON or XML, whichever a server sends, and of CSV and JSON Lines.
///
/// The Content-Type decides where it names one of the two, and the page's first byte where it does
/// not: `<` starts XML. A page of HTML is neither, and both decoders say so. Where the context says
/// which formats a page may be in, the first byte has to agree: what starts as another one is
/// `unexpectedMediaType`.
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
  /// What the chosen decoder throws, `receive(_:)` throws: nothing is chosen before the first byte.
  public func begin(_ context: DecodingContext) -> any PageDecoding<Item> {
    Undecided(
      context: context, declared: MediaType.format(of: context.contentType), json: json, xml: xml)
  }

  /// Reads a body that is one value, of JSON or XML as a page would be.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    let format = MediaType(context.contentType).format
    let first = body.first { !Undecided.isSilent($0) }
    let isXML = format.map { $0 == .xml } ?? (first == UInt8(ascii: "<"))
    return try (isXML ? xml : json).value(type, of: body, context)
  }

  /// A page whose first byte that means something has not come yet.
  private struct Undecided: PageDecoding {
    let context: DecodingContext
    /// What the Content-Type says.
    let declared: PageFormat?
    let json: any PageDecoder<Item>
    let xml: any PageDecoder<Item>
    var head: [UInt8] = []
    var chosen: (any PageDecoding<Item>)?

    mutating func receive(_ slice: [UInt8]) throws {
      guard chosen == nil else {
        try chosen?.receive(slice)
        return
      }
      if head.isEmpty { head = slice } else { head += slice }
      if let first = slice.first(where: { !Self.isSilent($0) }) {
        try choose(first)
      } else if declared == nil, head.count > Self.longestSilence {
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
    fileprivate static func isSilent(_ byte: UInt8) -> Bool {
      [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0].contains(byte)
    }

    /// The format of a page that begins so.
    private func format(_ first: UInt8?) throws -> PageFormat {
      let allowed = context.formats
      if let declared, !declared.isSelfDelimiting, startsAsHTML { return .json }
      // Neither can be told from JSON by its first byte.
      if let rows = [declared, allowed.count == 1 ? allowed.first : nil].lazy.compactMap({ $0 })
        .first(where: { !$0.isSelfDelimiting && (allowed.isEmpty || allowed.contains($0)) }),
        !startsAsHTML
      {
        return rows
      }
      guard let first else { return declared ?? (allowed == [.xml] ? .xml : .json) }
      let looks: PageFormat = first == UInt8(ascii: "<") ? .xml : .json
      guard !allowed.isEmpty else { return declared ?? looks }
      if allowed.contains(looks) {
        return declared.map { allowed.contains($0) ? $0 : looks } ?? looks
      }
      // What came from a login page or a proxy, the decoder of JSON says in better words.
      if startsAsHTML { return .json }
      let names = allowed.map(\.words).joined(separator: " or ")
      throw PageError(
        .unexpectedMediaType,
        "The page looks like \(looks.words), and the pages of this listing are \(names): an error in "
          + "another format, or another server, answered. If the listing comes in both, leave "
          + "\"formats\" out of its description.")
    }

    /// Whether the page is HTML; a row or a text may well hold some.
    private var startsAsHTML: Bool {
      guard head.first(where: { !Self.isSilent($0) }) == UInt8(ascii: "<") else { return false }
      let start = String(decoding: head.prefix(1024), as: UTF8.self).lowercased()
      return start.contains("<html") || start.contains("<!doctype html")
    }

    private mutating func choose(_ first: UInt8?) throws {
      let format = try format(first)
      context.note?.bind(format)
      let decoder: any PageDecoder<Item> =
        switch format {
        case .xml: xml
        case .json: json
        case .csv, .jsonLines: RowsPageDecoder(format, json: json)
        }
      var session = try decoder.begin(context)
      // It is the decoder's alone, which would else have to copy it before it changes it.
      let beginning = head
      head = []
      if !beginning.isEmpty { try session.receive(beginning) }
      chosen = session
    }

    mutating func finish() throws -> any PageDocument {
      if chosen == nil { try choose(nil) }
      // Taken, not copied: a decoder that is alone with its page needs no other for it.
      guard var session = chosen.take() else {
        preconditionFailure("finish() has chosen a decoder just before.")
      }
      defer { chosen = session }
      return try session.finish()
    }

    mutating func readyItems() throws -> DecodedItems<Item> {
      try chosen?.readyItems() ?? DecodedItems([])
    }

    mutating func itemCount() throws -> Int? { try chosen?.itemCount() }

    mutating func items() throws -> DecodedItems<Item> {
      guard var session = chosen else {
        preconditionFailure("items() was called before finish(), which makes the document.")
      }
      return try session.items()
    }
  }
}
