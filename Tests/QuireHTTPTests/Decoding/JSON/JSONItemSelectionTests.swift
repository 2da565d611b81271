import QuireCore
import QuireHTTP
import Testing

@Suite("Items of a JSON page")
struct JSONItemSelectionTests {
  let decoder = JSONPageDecoder<Int>()

  func items(_ page: String, _ selector: ItemSelector) throws -> [Int] {
    try decode(decoder, page, selector).items
  }

  @Test(
    "J10, D-2: a page whose items are missing or no list is an error, never an empty page",
    arguments: [
      (#"{"members": [1]}"#, ItemSelector.path("/items")), (#"{"items": {"a": 1}}"#, "/items"),
      (#"{"items": "none"}"#, "/items"), (#"{"items": 0}"#, "/items"),
      (#"{"items": false}"#, "/items"), (#"{"error": "gone"}"#, .root), (#""gone""#, .root),
      (#"[1]"#, "/items"), (#"{}"#, .firstOf(["/a", "/b"])), (#"{}"#, .all(["/a", "/b"])),
      (#"{"a": [1], "b": {}}"#, .all(["/a", "/b"])), (#"{"a": {}}"#, .firstOf(["/a", "/b"])),
      (#"{"a": null, "b": {}}"#, .firstOf(["/a", "/b"])), (#"{"items": {}}"#, .optional("/items")),
      (#"{"data": "x"}"#, .optional("/data/items")), (#"[]"#, .optional("/items")),
      (#"{"a": 1}"#, .optional(.all(["/a", "/b"]))),
    ])
  func noItems(_ page: String, _ selector: ItemSelector) {
    let error = #expect(throws: PageError.self) { try items(page, selector) }
    #expect(error?.code == .shape)
  }

  @Test("D-2: the error about missing items names the arrays that are there")
  func advice() {
    let page = #"{"meta": {"tags": [], "a/b": {"deep": [1]}}, "members": [1], "data": [2], "n": 1}"#
    let error = #expect(throws: PageError.self) { try items(page, "/items") }
    #expect(
      error?.message.contains(
        #"no items at "/items". Found arrays at /members, /data, /meta/tags, /meta/a~1b/deep; "#
          + #"pass items: "/members"."#) == true, "\(error as Any)")
    let root = #expect(throws: PageError.self) { try items("[1]", "/items") }
    #expect(root?.message.contains(#"The page itself is an array: pass items: """#) == true)
  }

  @Test(
    "V02, V44: an explicit null is an empty list, and so is an absent one where that was declared",
    arguments: [
      (#"{"tags": null}"#, ItemSelector.path("/tags")), ("null", .root),
      (#"{"items": []}"#, "/items"),
      (#"{"nextPageToken": "t1"}"#, .optional("/books")),
      (#"{"books": null}"#, .optional("/books")),
      (#"{"data": null}"#, .optional("/data/books")), (#"{}"#, .optional(.firstOf(["/a", "/b"]))),
      (#"{}"#, .optional(.all(["/a", "/b"]))), (#"{"a": null}"#, .firstOf(["/a", "/b"])),
      (#"{"a": [], "b": {}}"#, .firstOf(["/a", "/b"])), (#"{"b": null}"#, .all(["/a", "/b"])),
    ])
  func empty(_ page: String, _ selector: ItemSelector) throws {
    #expect(try items(page, selector) == [])
  }

  @Test("The first of several paths that has something is taken, or all of them in order")
  func several() throws {
    let page = #"{"a": [], "b": null, "c": [1, 2], "d": {"e": [3]}, "f": {}}"#
    #expect(try items(page, .firstOf(["/a", "/b", "/c", "/d/e"])) == [1, 2])
    #expect(try items(page, .firstOf(["/f", "/x", "/d/e"])) == [3])
    #expect(try items(page, .all(["/d/e", "/a", "/b", "/c", "/x"])) == [3, 1, 2])
    #expect(try items(page, .optional(.all(["/x", "/c"]))) == [1, 2])
  }

  @Test("The last item is the last of the last list that has one")
  func lastItem() throws {
    let page = #"{"a": [{"id": 1}, {"id": 2}], "b": [], "c": null}"#
    let document = try JSONDocument(Array(page.utf8))
    #expect(try document.value(at: "/id", inLastItemOf: .all(["/a", "/b", "/c"])) == 2)
    #expect(try document.value(at: "/id", inLastItemOf: "/b") == nil)
    #expect(try document.value(at: "", inLastItemOf: "/a") == .object([.init("id", 2)]))
  }
}
