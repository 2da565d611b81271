import QuireCore

/// A decoder for pages of JSON, XML, CSV or JSON Lines, whichever format the server sends.
///
/// The Content-Type decides if it names one of these formats. Otherwise the first byte that is not
/// white space does: `<` starts XML, anything else JSON. CSV and JSON Lines are read only if the
/// Content-Type names them or the context allows nothing else, because the first byte does not tell
/// them from JSON. If the context lists the formats that a page may have, a page that starts as
/// another one throws `unexpectedMediaType`. Both decoders report HTML as such.
public struct AutomaticPageDecoder<Item: Sendable>: PageDecoder {
  let json: any PageDecoder<Item>
  let xml: any PageDecoder<Item>

  /// Creates a decoder that passes each page to `xml` or `json`. Pages of CSV and JSON Lines are
  /// converted for `json`.
  public init(json: any PageDecoder<Item>, xml: any PageDecoder<Item>) {
    self.json = json
    self.xml = xml
  }

  /// Whether both decoders notice that the end of a document is missing.
  public var isSelfDelimiting: Bool { json.isSelfDelimiting && xml.isSelfDelimiting }

  /// Starts decoding a page.
  ///
  /// The format is chosen when the first byte arrives, so `receive(_:)` or `finish()` throws the
  /// errors of the chosen decoder's `begin(_:)`.
  public func begin(_ context: DecodingContext) -> any PageDecoding<Item> {
    Undecided(
      context: context, declared: MediaType.format(of: context.contentType), json: json, xml: xml)
  }

  /// Decodes a body that is a single value, as XML or JSON by the same rules.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    let format = MediaType(context.contentType).format
    let first = body.first { !$0.mayPrecedeDocument }
    let isXML = format.map { $0 == .xml } ?? (first == UInt8(ascii: "<"))
    return try (isXML ? xml : json).value(type, of: body, context)
  }

  /// A page being decoded, whose format is chosen when its first significant byte arrives.
  private struct Undecided: PageDecoding {
    let context: DecodingContext
    /// The format that the Content-Type names; nil if it names none.
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
      if let first = slice.first(where: { !$0.mayPrecedeDocument }) {
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

    /// The most leading bytes that may leave the format open, so that they cannot fill the memory.
    private static var longestSilence: Int { 64 << 10 }

    /// Returns the format of a page by its first significant byte, which is nil for an empty page.
    private func format(_ first: UInt8?) throws -> PageFormat {
      let allowed = context.formats
      if let declared, !declared.isSelfDelimiting, startsAsHTML { return .json }
      // The first byte does not tell CSV and JSON Lines from JSON, so they must be declared or be
      // the only format allowed.
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
      // HTML comes from a login page or a proxy, which the JSON decoder's error explains better.
      if startsAsHTML { return .json }
      let names = allowed.map(\.words).joined(separator: " or ")
      let start = ServerText(bytes: head).description
      // More of the page may follow. "…" marks a cut, so that redaction recognises half a secret.
      let quote = start.hasSuffix("…") ? start : start + "…"
      throw PageError(
        .unexpectedMediaType,
        "The page looks like \(Self.words(for: first, declared)), and the pages of this listing are \(names): "
          + "an error in another format, or another server, answered. If the listing comes in both, leave "
          + "\"formats\" out of its description. The page starts with \"\(quote)\".")
    }

    /// Returns the words for a format by a page's first significant byte, or the one it declares.
    private static func words(for first: UInt8, _ declared: PageFormat?) -> String {
      switch first {
      case UInt8(ascii: "<"): PageFormat.xml.words
      case UInt8(ascii: "{"), UInt8(ascii: "["): PageFormat.json.words
      default:
        declared.map { $0.isSelfDelimiting ? "something else" : $0.words } ?? "something else"
      }
    }

    /// Whether the page starts as HTML.
    private var startsAsHTML: Bool {
      head.first { !$0.mayPrecedeDocument } == UInt8(ascii: "<") && MediaType.startsAsHTML(head)
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
      // With `head` empty, the decoder has the only reference to the bytes, and need not copy them
      // to change them.
      let beginning = head
      head = []
      if !beginning.isEmpty { try session.receive(beginning) }
      chosen = session
    }

    mutating func finish() throws -> any PageDocument {
      if chosen == nil { try choose(nil) }
      // Taken out, not copied: with the only reference to its page, the decoder need not copy it.
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
