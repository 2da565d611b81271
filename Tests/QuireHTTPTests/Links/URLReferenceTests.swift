import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("URL references")
struct URLReferenceTests {
  @Test(
    "H-1: splitting and recomposing an absolute link changes no byte",
    arguments: [
      "https://h.test/s?q=a,b;c&cursor=x%2By", "https://h.test/users?$skiptoken=RFN%20w'o|rd",
      "https://h.test", "https://h.test?", "https://h.test/?#", "HTTPS://H.test:443/a//b/../c/./d",
      "https://h.test/%7Euser/%zz?&&=&a", "https://h.test/é?ü=中#frag?x", "//other/p", "?a=b", "#f",
      "https://[::1]:80/x:y@z", "a/b:c", "/a:b?c:d",
    ])
  func verbatim(text: String) throws {
    #expect(try URLReference(text).text == text)
    #expect(
      try URLReference("https://base.test/x/y?z").resolved(against: URLReference(text)).text
        == "https://base.test/x/y?z")
  }

  /// The reference examples of RFC 3986, §5.4, at the base `http://a/b/c/d;p?q`.
  @Test(
    "T9: relative links resolve as RFC 3986 §5.4 lists",
    arguments: [
      ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
      ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"),
      ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"),
      (";x", "http://a/b/c/;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"),
      (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
      ("../", "http://a/b/"),
      ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../g", "http://a/g"),
      ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
      ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("..g", "http://a/b/c/..g"),
      ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
      ("g/../h", "http://a/b/c/h"), ("g;x=1/../y", "http://a/b/c/y"),
      ("g?y/../x", "http://a/b/c/g?y/../x"),
    ])
  func resolution(reference: String, expected: String) throws {
    let base = try URLReference("http://a/b/c/d;p?q")
    #expect(try URLReference(reference).resolved(against: base).text == expected)
  }

  @Test("T10: a link of a query only replaces the query and keeps the path")
  func queryOnly() throws {
    let base = try URLReference("https://c.test/api/v1/crates?per_page=1")
    let link = try URLReference("?per_page=1&seek=abc").resolved(against: base)
    #expect(link.text == "https://c.test/api/v1/crates?per_page=1&seek=abc")
  }

  @Test(
    "R6: bytes that parsers disagree about are refused before anything is sent",
    arguments: [
      "http://example.com\\@127.0.0.1/", "https://h.test/a b", "https://h.test/\u{0}",
      "https://h.test/\r\nX: 1", "https://h.test/\u{7F}", "https://h.test/\t",
    ])
  func refusedBytes(text: String) {
    #expect(throws: PageError.self) { try URLReference(text) }
  }

  @Test("R7: a URL of a megabyte is refused by its length")
  func tooLong() {
    let error = #expect(throws: PageError.self) {
      try URLReference("https://h.test/" + String(repeating: "a", count: 1 << 20))
    }
    #expect(error?.code == .invalidURL)
  }
}
