/// Takes a page's whole body as its one item, whatever it holds; an empty body has no item.
///
/// There is no document to ask for a cursor: pages must lead on by header, link header, offset or
/// page number.
public struct BytesPageDecoder: PageDecoder {
  /// A decoder of pages.
  public init() {}

  /// Starts one page.
  public func begin(_ context: DecodingContext) -> any PageDecoding<[UInt8]> { Session() }

  private struct Session: PageDecoding {
    var bytes: [UInt8] = []

    mutating func receive(_ slice: [UInt8]) {
      if bytes.isEmpty { bytes = slice } else { bytes += slice }
    }

    mutating func finish() -> any PageDocument { EmptyDocument() }

    mutating func items() -> DecodedItems<[UInt8]> {
      guard !bytes.isEmpty else { return DecodedItems([]) }
      var digest = ContentDigest()
      bytes.withUnsafeBytes { digest.add($0) }
      var items = DecodedItems([bytes])
      items.fingerprint = digest.value
      return items
    }
  }
}
