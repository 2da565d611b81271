import HTTPTypes
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Link header")
struct LinkHeaderTests {
  private func header(_ lines: String...) throws -> LinkHeader {
    var fields = HTTPFields()
    let name = try #require(HTTPField.Name("Link"))
    for line in lines { fields.append(HTTPField(name: name, value: line)) }
    return LinkHeader(fields)
  }

  @Test("V03: commas, semicolons and quotes do not confuse targets and relations")
  func torture() throws {
    let links = try header(
      #"<https://api.test/s?q=a,b;c&cursor=x%2By>; title="a, \"b\"; rel=next"; rel="PREV next"; type="application/json""#,
      "<https://api.test/s>; rel=self",
      #"<https://other.test/x>; rel="next"; anchor="https://api.test/other""#)
    #expect(links.links.count == 3)
    let next = links.first(relation: "next")
    #expect(next?.target == "https://api.test/s?q=a,b;c&cursor=x%2By")
    #expect(next?["title"] == #"a, "b"; rel=next"#)
    #expect(links.first(relation: "prev")?.target == next?.target)
    #expect(links.first(relation: "self")?.target == "https://api.test/s")
  }

  @Test(
    "V03: a link whose anchor is the page itself is the page's, and one with another anchor is not")
  func anchors() throws {
    let name = try #require(HTTPField.Name("Link"))
    func leads(_ anchor: String) -> Bool {
      let fields: HTTPFields = [name: "</b>; rel=next; anchor=\"\(anchor)\""]
      return LinkHeader(fields, of: "https://api.test/a?p=1").first(relation: "next") != nil
    }
    for own in ["", "https://api.test/a?p=1", "/a?p=1", "?p=1"] { #expect(leads(own), "\(own)") }
    for other in ["/a", "?p=2", "#part", "https://other.test/a?p=1"] {
      #expect(!leads(other), "\(other)")
    }
  }

  @Test("Relations are read as servers write them")
  func relations() throws {
    #expect(try header("</a>;rel=next").first(relation: "next")?.target == "/a")
    #expect(try header("</a> ; REL = \"Next\"").first(relation: "next")?.target == "/a")
    #expect(try header("</a>; rel=self; rel=next").first(relation: "next") == nil)
    #expect(try header("</a>; rel=nextish").first(relation: "next") == nil)
    #expect(try header("<>; rel=next").first(relation: "next")?.target == "")
    #expect(try header("</a>; rel=\"next").first(relation: "next")?.target == "/a")
    #expect(try header("</a>; rel=next;").first(relation: "next")?.target == "/a")
  }

  @Test("What cannot be read is skipped up to the next link")
  func garbage() throws {
    let texts = [
      "junk, </b>; rel=next", ", ,</b>; rel=next", "a=\"x, <y>\"; q, </b>; rel=next",
      "</a>; rel=self garbage, </b>; rel=next", "</a>; =; ;;, </b>;; rel=next",
    ]
    for text in texts {
      #expect(try header(text).first(relation: "next")?.target == "/b", "\(text)")
    }
    #expect(try header("</unclosed; rel=next").links.isEmpty)
    #expect(try header("").links.isEmpty)
  }

  @Test(
    "A field that mentions a relation and cannot be read is kept, so that it is not taken for none")
  func broken() throws {
    #expect(try header("<?p=2>; rel='next'").first(relation: "next")?.target == "?p=2")
    let broken = [
      #"?p=2; rel="next""#, #"<?p=2; rel="next""#, #"<?p=2> rel="next""#, #"<?p=2>; rel:"next""#,
      #"<?p=2>; title="x; rel="NEXT""#,
    ]
    for text in broken {
      let links = try header(text)
      #expect(links.first(relation: "next") == nil, "\(text)")
      #expect(links.brokenField(mentioning: "next") == text)
      #expect(links.brokenField(mentioning: "prev") == nil)
    }
    for text in ["</a?next>; rel=self", "</a>; rel=prev;, ,", "", "</a>; rel=self; title=\"next\""]
    {
      #expect(try header(text).brokenField(mentioning: "next") == nil, "\(text)")
    }
  }

  @Test("Conditions on parameters choose among links of a relation")
  func conditions() throws {
    let links = try header(
      #"</a>; rel=next; results="false""#, #"</b>; rel=next; results="true""#)
    #expect(links.first(relation: "next", where: ["results": "true"])?.target == "/b")
    #expect(links.first(relation: "next", where: ["results": "maybe"]) == nil)
  }

  @Test("A hostile header costs linear time")
  func hostile() throws {
    let clock = ContinuousClock()
    for unit in ["<", "<,", "\"", "</a>;", "</a>;x=\"", ",;"] {
      let text = String(repeating: unit, count: 200_000 / unit.utf8.count)
      let time = try clock.measure { _ = try header(text) }
      #expect(time < .seconds(5), "\(unit)")
    }
  }
}
