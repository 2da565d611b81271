import QuireCore
import QuireDetect
import QuireHTTP
import QuireJSON
import Testing

@testable import QuirePagination

@Suite("Item selectors")
struct ItemSelectorTests {
  @Test(
    "A selector survives a file, and reads as it is documented",
    arguments: [
      (Pagination.Items.path("/data"), #""/data""#),
      (.firstOf(["/a", "/b"]), #"{"firstOf":["/a","/b"]}"#),
      (.all(["/a", "/b"]), #"{"all":["/a","/b"]}"#),
      (.optional("/books"), #"{"optional":"/books"}"#),
      (.optional(.all(["/a", "/b"])), #"{"optional":{"all":["/a","/b"]}}"#),
      (.members("/pages"), #"{"members":"/pages"}"#),
      (.columns(.firstOf(["/recent", ""])), #"{"columns":{"firstOf":["/recent",""]}}"#),
    ])
  func roundTrip(_ selector: Pagination.Items, _ text: String) throws {
    #expect(Pagination.Items.grammar.write(selector).description == text)
    #expect(try Pagination.Items.grammar.read(JSONValue(parsing: text)) == selector)
  }

  @Test("An object with none of the names is refused")
  func unknownName() {
    #expect(throws: FormFailure.self) { try Pagination.Items.grammar.read(["some": ["/a"]]) }
  }
}
