import HTTPTypes
import QuireCore
import QuireTesting
import QuireXML

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// The first answer of a transcript, as a detector gets to see it: to the request that went out, which
/// has what the transcript's own description adds to the caller's.
struct DetectorSample {
  let transcript: Transcript
  let answer: PageAnswer
  /// Whether the page could be decoded.
  let isDecoded: Bool

  init(_ transcript: Transcript) throws {
    self.transcript = transcript
    let exchange = transcript.script[transcript.opens ? 1 : 0]
    var fields = transcript.fields
    for field in exchange.fields where !fields.contains(field.name) { fields.append(field) }
    let request = PageRequest(
      method: exchange.method, url: exchange.url, headerFields: fields,
      body: Transcript.body(exchange.body))
    let bytes = Array(exchange.answerBody.utf8)
    let document = Self.document(bytes)
    isDecoded = document != nil
    answer = PageAnswer(
      request: request, url: exchange.url, status: exchange.answer.status.code,
      headerFields: exchange.answer.headerFields, document: document ?? EmptyDocument(),
      position: .start)
  }

  static func document(_ bytes: [UInt8]) -> (any PageDocument)? {
    (try? JSONDocument(bytes)) ?? (try? XMLDocument(bytes))
  }
}
