import Foundation
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Decoders keep their promises")
struct DecoderConformanceTests {
  private let page = Array(#"{"a":[1,{"b":"é\u00e9"},[],-1.50e3]}"#.utf8)
  private let context = DecodingContext(contentType: "application/json", items: "/a")

  @Test("D-2: the typed, raw, closure and byte decoders pass the suite that strangers' must")
  func ours() throws {
    let numbers = Array(#"{"a":[1,22,-3]}"#.utf8)
    // SAFETY: it adds no state to a decoder that is Sendable.
    final class Subclass: JSONDecoder, @unchecked Sendable {}
    for decoder in [JSONDecoder(), Subclass()] {
      try DecoderConformance.check(
        JSONPageDecoder<Int>(decoder: decoder), page: numbers, context: context,
        items: [1, 22, -3])
    }
    try DecoderConformance.check(
      ClosurePageDecoder { String(decoding: $0.compact, as: UTF8.self) }, page: page,
      context: context, items: ["1", #"{"b":"é\u00e9"}"#, "[]", "-1.50e3"])
    try DecoderConformance.check(BytesPageDecoder(), page: page, context: context, items: [page])
  }

  @Test("The suite finds a decoder that calls itself self-delimiting and is not")
  func flawed() {
    let decoder = Lines(isSelfDelimiting: true, itemCount: nil)
    let failure = #expect(throws: ConformanceFailure.self) {
      try DecoderConformance.check(decoder, page: Array("a\nb".utf8), items: ["a", "b"])
    }
    #expect(failure?.promise.contains("self-delimiting") == true)
  }

  @Test("The suite finds a decoder that tells another number of items than it decodes")
  func miscounting() {
    let decoder = Lines(isSelfDelimiting: false, itemCount: \.count)
    let failure = #expect(throws: ConformanceFailure.self) {
      try DecoderConformance.check(decoder, page: Array("a\nb".utf8), items: ["a", "b"])
    }
    #expect(failure?.promise.contains("number of items") == true)
  }

  /// A decoder of lines, which tells what these say of itself and of the bytes of a page.
  private struct Lines: PageDecoder {
    let isSelfDelimiting: Bool
    let itemCount: (@Sendable ([UInt8]) -> Int)?

    func begin(_ context: DecodingContext) -> any PageDecoding<String> {
      Session(count: itemCount)
    }

    struct Session: PageDecoding {
      let count: (@Sendable ([UInt8]) -> Int)?
      var bytes: [UInt8] = []

      mutating func receive(_ slice: [UInt8]) { bytes += slice }
      mutating func finish() -> any PageDocument { EmptyDocument() }
      mutating func itemCount() -> Int? { count?(bytes) }
      mutating func items() -> DecodedItems<String> {
        let text = String(decoding: bytes, as: UTF8.self)
        return DecodedItems(text.split(separator: "\n").map(String.init))
      }
    }
  }
}
