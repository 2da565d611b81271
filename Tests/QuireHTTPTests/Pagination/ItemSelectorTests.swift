import Foundation
import QuireDetect
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@Suite("Item selectors")
struct ItemSelectorTests {
  @Test(
    "A selector survives a file, and reads as it is documented",
    arguments: [
      (ItemSelector.path("/data"), #""/data""#),
      (.firstOf(["/a", "/b"]), #"{"firstOf":["/a","/b"]}"#),
      (.all(["/a", "/b"]), #"{"all":["/a","/b"]}"#),
      (.optional("/books"), #"{"optional":"/books"}"#),
      (.optional(.all(["/a", "/b"])), #"{"optional":{"all":["/a","/b"]}}"#),
      (.members("/pages"), #"{"members":"/pages"}"#),
      (.columns(.firstOf(["/recent", ""])), #"{"columns":{"firstOf":["/recent",""]}}"#),
    ])
  func roundTrip(_ selector: ItemSelector, _ text: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    #expect(String(decoding: try encoder.encode(selector), as: UTF8.self) == text)
    #expect(try JSONDecoder().decode(ItemSelector.self, from: Data(text.utf8)) == selector)
  }

  @Test("An object with none of the names is refused")
  func unknownName() {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(ItemSelector.self, from: Data(#"{"some":["/a"]}"#.utf8))
    }
  }
}
