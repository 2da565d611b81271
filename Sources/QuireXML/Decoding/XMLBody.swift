import QuireCore
import QuireHTTP

/// A body that is one value.
enum XMLBody {
  static func decode<Value: Decodable>(
    _ type: Value.Type, from body: [UInt8], _ context: DecodingContext,
    _ options: XMLDecodingOptions, _ limits: XMLLimits, _ leniency: XMLLeniency
  ) throws -> Value {
    let first = body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      return try JSONRawPageDecoder().value(type, of: body, context)
    }
    let parser = try XMLPushParser(
      limits: limits, decoding: context.limits, leniency: leniency,
      charset: XMLMediaType.charset(context.contentType))
    do throws(XMLFault) {
      try parser.receive(body)
      try parser.finish()
    } catch {
      throw error.pageError
    }
    let index = parser.takeIndex()
    let shared = XMLItemContext(index, options, numberLength: context.limits.numberLength)
    shared.item = 0
    do {
      return try shared.decode(type, XMLValue(node: 0, role: .whole))
    } catch {
      throw PageError(
        .itemDecoding, "The answer's body is no \(type): \(XMLItemFailure.words(of: error))",
        underlying: error)
    }
  }
}
