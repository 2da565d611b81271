import Quire

/// An item as an export writes it.
enum ExportItem: Sendable {
  /// A line of JSON.
  case line(RawItem)
  /// JSON with the server's own white space.
  case json(RawItem)
  /// An element.
  case element(XMLItem)

  /// Appends the item, without a line end behind it.
  func append(to output: inout [UInt8]) {
    switch self {
    case .line(let item): item.appendCompact(to: &output)
    case .json(let item): output += item.bytes
    case .element(let item): output += item.bytes
    }
  }
}

extension ExportItem {
  /// What reads the pages: one format, or whichever comes.
  static func decoder(
    for format: RequestArguments.Format, raw isRaw: Bool, xmlLimits: XMLLimits
  ) -> any PageDecoder<ExportItem> {
    let json = MappedPageDecoder(JSONRawPageDecoder()) { isRaw ? .json($0) : ExportItem.line($0) }
    let xml: any PageDecoder<ExportItem> =
      isRaw
      ? MappedPageDecoder(XMLItemPageDecoder(limits: xmlLimits)) { .element($0) }
      : MappedPageDecoder(XMLRawPageDecoder(limits: xmlLimits)) { .line($0) }
    return switch format {
    case .auto: AutomaticPageDecoder(json: json, xml: xml)
    case .json: json
    case .xml: xml
    }
  }
}
