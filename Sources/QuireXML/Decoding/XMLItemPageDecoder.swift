public import QuireHTTP

/// Decodes pages of XML into items as the server wrote them.
public struct XMLItemPageDecoder: PageDecoder {
  private let limits: XMLLimits
  private let leniency: XMLLeniency

  /// A decoder of pages; strict, and with the limits for APIs, unless told otherwise.
  public init(limits: XMLLimits = .api, leniency: XMLLeniency = []) {
    self.limits = limits
    self.leniency = leniency
  }

  /// True: a page is complete when its root element is.
  public var isSelfDelimiting: Bool { true }

  /// Reads a body that is one value: its root element. JSON, which explains errors beside pages of
  /// XML too, is read by a `JSONDecoder` of defaults.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try XMLBody.decode(type, from: body, context, XMLDecodingOptions(), limits, leniency)
  }

  /// Starts one page.
  public func begin(_ context: DecodingContext) throws -> any PageDecoding<XMLItem> {
    try XMLPageDecoding(context, limits: limits, leniency: leniency) { index, nodes in
      { number in XMLItem(index: index, node: nodes[number]) }
    }
  }
}
