import Foundation
import Testing

@testable import QuireCommand

@Suite("The demo API")
struct DemoServerTests {
  @Test("Every style answers its first page with records 1 to 100, and has a name of its own")
  func everyStyleAnswers() {
    #expect(Set(DemoStyle.all.map(\.name)).count == DemoStyle.all.count)
    for style in DemoStyle.all {
      let request = DemoRequest(
        origin: "http://127.0.0.1", path: style.path, query: [:], body: Data("{}".utf8))
      let answer = DemoServer.answer(request)
      #expect(answer.status == 200, "\(style.name)")
      #expect(answer.body.contains(style.text(1)), "\(style.name)")
      #expect(answer.body.contains(style.text(100)), "\(style.name)")
      #expect(!answer.body.contains(style.text(101)), "\(style.name)")
      guard answer.mediaType == "application/json" else { continue }
      #expect(throws: Never.self, "\(style.name)") {
        try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
      }
    }
  }

  @Test("A record's line is its text without the white space between tokens")
  func lines() {
    #expect(
      DemoRecords.text(7)
        == "{\"id\": 7, \"name\": \"Record 7\", \"price\": 7.70, \"serial\": 9007199254741000, "
        + "\"colour\": \"bleu\", \"path\": \"demo\\/7\", \"parent\": 1, \"tags\": [\"n1\", \"m2\"]}"
    )
    #expect(
      DemoRecords.line(7)
        == "{\"id\":7,\"name\":\"Record 7\",\"price\":7.70,\"serial\":9007199254741000,"
        + "\"colour\":\"bleu\",\"path\":\"demo\\/7\",\"parent\":1,\"tags\":[\"n1\",\"m2\"]}")
  }

  @Test("An unknown path is a 404 that lists the styles, and a foreign cursor is a 400")
  func refusals() {
    var request = DemoRequest(origin: "http://h", path: "/nowhere", query: [:], body: Data())
    #expect(DemoServer.answer(request).status == 404)
    #expect(DemoServer.answer(request).body.contains("/link-header"))
    request.path = "/cursor"
    request.query = ["cursor": "made up"]
    #expect(DemoServer.answer(request).status == 400)
  }

  @Test("Numbers beyond all counting are behind the end, and negative cursors are a 400")
  func farNumbers() {
    for style in DemoStyle.all {
      for name in ["page", "offset", "$skip", "page[number]", "starting_after"] {
        let request = DemoRequest(
          origin: "http://h", path: style.path, query: [name: "\(Int.max)"], body: Data("{}".utf8))
        #expect(DemoServer.answer(request).status == 200, "\(style.name)")
      }
      let request = DemoRequest(
        origin: "http://h", path: style.path,
        query: ["cursor": "a/b+-5==", "pageToken": "a/b+-5==", "token": "a/b+-5=="],
        body: Data(#"{"start_cursor": "a/b+-5==", "variables": {"after": "a/b+-5=="}}"#.utf8))
      let isCursor = (DemoStyle.tokens + DemoStyle.bodies).contains { $0.name == style.name }
      #expect(DemoServer.answer(request).status == (isCursor ? 400 : 200), "\(style.name)")
    }
  }

  @Test("Query parameters are percent-decoded once, and a plus stays a plus")
  func parameters() {
    #expect(
      DemoRequest.parameters("cursor=a%2Fb%2B100%3D%3D&x=a+b&empty=&flag&x%5B%5D=%2541")
        == ["cursor": "a/b+100==", "x": "a+b", "empty": "", "flag": "", "x[]": "%41"])
  }
}
