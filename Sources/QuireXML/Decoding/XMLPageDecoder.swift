public import QuireHTTP

/// Decodes pages of XML whose items are types of yours.
///
/// ```swift
/// struct Object: Decodable, Sendable { let key: String; let size: Int; let lastModified: Date }
/// let decoder = XMLPageDecoder<Object>(options: XMLDecodingOptions(keys: .capitalized))
/// ```
/// Items are the elements that the description's selector leads to. An item that does not fit is
/// named with its line, column and path.
public struct XMLPageDecoder<Item: Decodable & Sendable>: PageDecoder {
  let options: XMLDecodingOptions
  private let limits: XMLLimits
  private let leniency: XMLLeniency

  /// A decoder of pages; strict, and with the limits for APIs, unless told otherwise.
  public init(
    options: XMLDecodingOptions = XMLDecodingOptions(), limits: XMLLimits = .api,
    leniency: XMLLeniency = []
  ) {
    self.options = options
    self.limits = limits
    self.leniency = leniency
  }

  /// True: a page is complete when its root element is.
  public var isSelfDelimiting: Bool { true }

  /// Reads a body that is one value: its root element, with the same options. JSON, which explains errors beside pages of
  /// XML too, is read by a `JSONDecoder` of defaults.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try XMLBody.decode(type, from: body, context, options, limits, leniency)
  }

  /// Starts one page.
  public func begin(_ context: DecodingContext) throws -> any PageDecoding<Item> {
    let options = options
    return try XMLPageDecoding(context, limits: limits, leniency: leniency) { index, nodes in
      let shared = XMLItemContext(index, options, numberLength: context.limits.numberLength)
      return { number in
        let node = nodes[number]
        shared.item = node
        shared.failedNode = nil
        do {
          return try shared.decode(Item.self, XMLValue(node: node, role: .whole))
        } catch let error as CancellationError {
          throw error
        } catch {
          throw XMLItemFailure(error, at: shared.failedNode ?? node)
        }
      }
    }
  }
}
