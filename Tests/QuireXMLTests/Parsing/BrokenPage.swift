import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireXML

/// A page that cannot be read, and the code that says so however it is sliced.
struct BrokenPage: CustomTestStringConvertible, Sendable {
  let bytes: [UInt8]
  let code: PageError.Code
  let leniency: XMLLeniency

  init(_ bytes: [UInt8], _ code: PageError.Code, leniency: XMLLeniency = []) {
    self.bytes = bytes
    self.code = code
    self.leniency = leniency
  }

  init(_ page: String, _ code: PageError.Code, leniency: XMLLeniency = []) {
    self.init(Array(page.utf8), code, leniency: leniency)
  }

  var testDescription: String { String(decoding: bytes.prefix(40), as: UTF8.self) }

  static let all = brokenTags + brokenText + brokenEnds + brokenBytes + otherFormats

  private static let brokenTags = [
    BrokenPage("<x:a xm.ns:x=\"u\" y=\"z=\"w\"><x:c n=\"\"/<?xml ver></X:b></x:a>", .malformed),
    BrokenPage("<a b='<c>'/>", .malformed),
    BrokenPage("<a <b>", .malformed),
    BrokenPage("<a><b c=\"></a>", .malformed),
    BrokenPage("<a><b c=\"> <d e=\">\"/></a>", .malformed),
    BrokenPage("<a><b c='>' d></b></a>", .malformed),
    BrokenPage("<a>\r\n<<?xml version='1.0'</a>", .malformed),
    BrokenPage("<a><!x></a>", .malformed),
    BrokenPage("<a><!x", .malformed),
    BrokenPage("<a><b <c", .malformed),
    BrokenPage("<a></b></a>", .malformed),
    BrokenPage("<a b='1' b='2'/>", .malformed),
  ]

  private static let brokenText = [
    BrokenPage("<a>one ]]> two</a>", .malformed),
    BrokenPage("<a>&x;</a>", .malformed),
    BrokenPage("<a>&x y</a>", .malformed),
    BrokenPage("<a>&x y<b", .malformed),
    BrokenPage("<a>\(String(repeating: "t", count: 340))\u{1}</a>", .malformed),
    BrokenPage("<a>t\u{1}<!-- --></a>", .malformed),
    // Broken text that libxml2 holds back counts before what follows it.
    BrokenPage(
      Array("<a>\(String(repeating: "t", count: 330))\u{1}t".utf8) + [0xFF], .malformed),
  ]

  private static let brokenEnds = [
    BrokenPage("<a>text", .truncated),
    BrokenPage("<a>text]", .truncated),
    BrokenPage("<a>te&am", .truncated),
    BrokenPage("<a><b", .truncated),
    BrokenPage("<a><b c=\"1", .truncated),
    BrokenPage("<a><b c=\"1\" d", .truncated),
    BrokenPage("<a>text</a", .truncated),
    BrokenPage("<a><![CDATA[ ]]", .truncated),
    BrokenPage("<a><!-- --", .truncated),
    BrokenPage("<!DOCTYPE a [ <!ELEMENT", .truncated),
    BrokenPage(Array("<a>caf".utf8) + [0xC3], .truncated),
    BrokenPage(Array("<a>\u{20AC}".utf8.dropLast()), .truncated),
    BrokenPage("<a/>]", .malformed),
    BrokenPage("<a/>b", .malformed),
    BrokenPage("<a/><b/>", .malformed),
  ]

  private static let brokenBytes = [
    BrokenPage(Array("<a>\u{E9}".utf8) + [0xFF] + Array("</a>".utf8), .malformed),
    BrokenPage(Array("<?xml version='1.0' encoding='ascii'?><a>".utf8) + [0xC3, 0xA9], .malformed),
    // White space hides the declaration, wherever it is cut.
    BrokenPage(
      Array(String(repeating: " ", count: 1_200).utf8)
        + Array("<?xml version='1.0' encoding='iso-8859-1'?><a>".utf8) + [0xE9]
        + Array("</a>".utf8), .malformed, leniency: .feed),
    BrokenPage([0xEF, 0xBB, 0xBF] + Array("<\u{0}?\u{0}a\u{0}/\u{0}>".utf8), .malformed),
  ]

  /// The format is told before the byte that cannot be read.
  private static let otherFormats = [
    BrokenPage(Array("<html><body>".utf8) + [0xFF], .unexpectedMediaType),
    BrokenPage(
      Array("<?xml version='1.0'?><html><body>".utf8) + [0xFF], .unexpectedMediaType),
    BrokenPage("<!DOCTYPE     html><html>", .unexpectedMediaType),
    BrokenPage("{\"a\": [1, 2, 3, 4, 5, 6, 7, 8]}", .unexpectedMediaType),
  ]
}
