import QuireJSON
import QuireXML
import Quire
import QuirePagination

extension RawItem {
  /// Returns the decoder for one format, or for any with `auto`. With `isRaw`, items keep their
  /// white space, and items of XML are elements. XML is decoded in all known encodings, because the
  /// server's declaration says everything that an option could.
  static func decoder(
    for format: FormatArguments.Format, raw isRaw: Bool, xmlLimits: XMLLimits
  ) -> any PageDecoder<RawItem> {
    let json: any PageDecoder<RawItem> =
      isRaw
      ? MappedPageDecoder(JSONRawPageDecoder()) { RawItem(VerbatimItem(bytes: $0.bytes), node: 0) }
      : JSONRawPageDecoder()
    let xml: any PageDecoder<RawItem> =
      isRaw
      ? MappedPageDecoder(XMLItemPageDecoder(limits: xmlLimits, leniency: .legacyEncodings)) {
        RawItem(VerbatimItem(bytes: $0.bytes[...]), node: 0)
      } : XMLRawPageDecoder(limits: xmlLimits, leniency: .legacyEncodings)
    return switch format {
    case .auto: AutomaticPageDecoder(json: json, xml: xml)
    case .json: json
    case .xml: xml
    case .csv: RowsPageDecoder(.csv, json: json)
    case .jsonl: RowsPageDecoder(.jsonLines, json: json)
    }
  }
}

/// An item that is written as it was received.
private struct VerbatimItem: RawItemStorage {
  let bytes: ArraySlice<UInt8>

  func bytes(of node: Int) -> ArraySlice<UInt8> { bytes }

  func value(at path: PagePath, of node: Int) throws -> JSONValue? {
    try RawItem(Array(bytes)).value(at: path)
  }

  func compact(at path: PagePath, of node: Int) throws -> [UInt8]? {
    try RawItem(Array(bytes)).compact(at: path)
  }
}
