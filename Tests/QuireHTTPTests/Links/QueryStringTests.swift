import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Query strings and percent-encoding")
struct QueryStringTests {
  @Test("T13, V104: a value keeps only unreserved characters, and those allowed by name")
  func strictEncoding() {
    let cursor = "a+b/c==&d é"
    #expect(PercentEncoding.encode(cursor) == "a%2Bb%2Fc%3D%3D%26d%20%C3%A9")
    #expect(PercentEncoding.encode(cursor, allowing: "=") == "a%2Bb%2Fc==%26d%20%C3%A9")
    #expect(PercentEncoding.encode("-._~azAZ09") == "-._~azAZ09")
  }

  @Test("T14: every text survives one encoding and one decoding")
  func roundTrip() {
    for scalar in (0..<0x3000).compactMap(Unicode.Scalar.init) {
      let text = "x\(Character(scalar))y"
      #expect(PercentEncoding.decode(PercentEncoding.encode(text)) == text)
    }
    #expect(PercentEncoding.decode("100%", plusIsSpace: true) == "100%")
    #expect(PercentEncoding.decode("a+b%2Bc", plusIsSpace: true) == "a b+c")
    #expect(PercentEncoding.decode("a+b%2Bc") == "a+b+c")
  }

  @Test("H-1: setting one parameter leaves the bytes of all others alone")
  func setting() {
    var query = QueryString("$top=2&q='|+%2b&flag&page%5Bsize%5D=1&&x=")
    query.set("continuationToken", encoded: "2")
    #expect(query.raw == "$top=2&q='|+%2b&flag&page%5Bsize%5D=1&&x=&continuationToken=2")
    query.set("page[size]", encoded: "50")
    #expect(query.raw == "$top=2&q='|+%2b&flag&page%5Bsize%5D=50&&x=&continuationToken=2")
    query.set("flag", encoded: "on")
    #expect(query["flag"] == "on")
    #expect(query["q"] == "'| +")
    query.keep { $0 == "x" || $0 == "$top" }
    #expect(query.raw == "$top=2&x=")
    query.keep { _ in false }
    #expect(query.raw == nil)
  }

  @Test("A parameter that stands twice is set once, in its first place")
  func duplicates() {
    var query = QueryString("a=1&b=2&a=3")
    query.set("a", encoded: "9")
    #expect(query.raw == "a=9&b=2")
  }

  @Test("A new name is written as given, and cannot break out of its place")
  func names() {
    var query = QueryString(nil)
    query.set("searchCriteria[currentPage]", encoded: "2")
    query.set("$skip", encoded: "1")
    query.set("a&b=c#d", encoded: "3")
    #expect(query.raw == "searchCriteria[currentPage]=2&$skip=1&a%26b%3Dc%23d=3")
    #expect(query["a&b=c#d"] == "3")
  }
}
