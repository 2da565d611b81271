/// Decodes pages of JSON into items as the server wrote them, for export and for shapes that no
/// type fits.
public struct JSONRawPageDecoder: PageDecoder {
  /// A decoder of pages.
  public init() {}

  /// True: a document that is not closed is an error.
  public var isSelfDelimiting: Bool { true }

  /// Starts one page.
  public func begin(_ context: DecodingContext) -> any PageDecoding<RawItem> {
    JSONPageDecoding(
      context,
      .init(
        item: { document, node in RawItem(document: document, node: node) },
        list: { document, node in
          document.elements(of: node).map { RawItem(document: document, node: $0) }
        },
        ignoresSurrogates: true))
  }
}
