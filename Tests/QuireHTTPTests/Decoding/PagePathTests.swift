import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Page paths")
struct PagePathTests {
  @Test("a path that means something in both formats carries both readings")
  func both() {
    let path: PagePath = "/page_meta/next"
    #expect(path.steps == [.name("page_meta"), .name("next")])
    #expect(
      path.xml == XMLPath(startsAnywhere: false, steps: [element("page_meta"), element("next")]))
  }

  @Test("a bar separates the pointer from the XML path, and the text survives a round trip")
  func bar() throws {
    let text = "/nextCursorMark | //str[@name='nextCursorMark']"
    let path = try PagePath(text)
    #expect(path.steps == [.name("nextCursorMark")])
    #expect(
      path.xml
        == XMLPath(
          startsAnywhere: true,
          steps: [
            element("str", [.equals(.attribute(.local("name", namespace: nil)), "nextCursorMark")])
          ]
        ))
    #expect(path.description == text)
  }

  @Test("an index is digits without a sign or a leading zero, in a page as in a value")
  func indexes() throws {
    let text = "[10,11]"
    let value = try JSONValue(parsing: text)
    let document = try JSONDocument(Array(text.utf8))
    let places: [(path: PagePath, found: JSONValue?)] = [
      ("/0", 10), ("/1", 11), ("/01", nil), ("/+1", nil), ("/2", nil),
    ]
    for (path, found) in places {
      #expect(value.value(at: path) == found, "\(path)")
      #expect(try document.value(at: path) == found, "\(path)")
    }
  }

  @Test(
    "pointers that are no XML path have no XML reading",
    arguments: [
      "/links[rel=next]/href", "/data/-1", "/a~1b", "/hydra:view", "/0/id", "/", "/a/@b/c",
      "/link[@ref=next]/@href",
    ])
  func pointersOnly(text: String) throws {
    #expect(try PagePath(text).xml == nil)
  }

  @Test(
    "an XML path read as a pointer starts at a member that pages do not have",
    arguments: [
      "//a/b", "//a[@b='~x']",
    ])
  func xmlOnly(text: String) throws {
    let first = try #require(try PagePath(text).steps.first)
    #expect(first == .name("") || first == .name(text))
  }

  @Test("every construct of the XML grammar is read")
  func grammar() throws {
    #expect(
      try steps("//feed/link[@rel='next']/@href") == [
        element("feed"),
        element("link", [.equals(.attribute(.local("rel", namespace: nil)), "next")]),
        .attribute(.local("href", namespace: nil)),
      ])
    #expect(
      try steps("//link[relation/@value=\"next\"]/url/@value").first
        == element(
          "link",
          [
            .equals(
              .childAttribute(
                .local("relation", namespace: nil), attribute: .local("value", namespace: nil)),
              "next")
          ]))
    #expect(try steps("//Contents[last()]/Key") == [element("Contents", [.last]), element("Key")])
    #expect(
      try steps("/a/*[2][s='it']/text()") == [
        element("a"),
        .element(.any, [.position(2), .equals(.child(.local("s", namespace: nil)), "it")]), .text,
      ])
    #expect(try steps("//continue/@*") == [element("continue"), .attribute(.any)])
    #expect(
      try steps("//{http://a/b}c/@{}d") == [
        .element(.local("c", namespace: "http://a/b"), []),
        .attribute(.local("d", namespace: "")),
      ])
    #expect(PagePath("").xml?.steps == [])
  }

  @Test(
    "a mistake is quoted and named",
    arguments: [
      ("meta", "does not start with \"/\""),
      ("//a[@b='x", "has a quote that is not closed"),
      ("//a[@b=x]", "compares with a value that has no quotes"),
      ("//a//b", "has \"//\" behind its start"),
      ("//atom:link", "has the prefix \"atom\""),
      ("//a/@b/c", "goes on behind an attribute"),
      ("//a[0]", "positions start at 1"),
      ("//", "ends where a name should be"),
      ("/a | /b | /c", "more than one"),
      ("/a~2 | //b", "\"~0\" or \"~1\""),
      ("/a | b", "does not start with \"/\" or \"//\""),
    ])
  func mistakes(text: String, complaint: String) {
    let error = #expect(throws: PageError.self) { try PagePath(text) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("\"\(text)\"") == true)
    #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
  }

  private func element(_ name: String, _ predicates: [XMLPath.Predicate] = []) -> XMLPath.Step {
    .element(.local(name, namespace: nil), predicates)
  }

  private func steps(_ text: String) throws -> [XMLPath.Step] {
    try #require(try PagePath(text).xml).steps
  }
}
