import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@Suite("Items of a JSON page")
struct JSONItemSelectionTests {
  /// Of both decoders the same.
  func items(_ page: String, _ selector: Pagination.Items) throws -> [Int] {
    let index = Result { try decode(TypedReader.index.numbers, page, selector).items }
    let foundation = Result { try decode(TypedReader.foundation.numbers, page, selector).items }
    #expect("\(index)" == "\(foundation)")
    return try index.get()
  }

  @Test(
    "J10, D-2: a page whose items are missing or no list is an error, never an empty page",
    arguments: [
      (#"{"members": [1]}"#, Pagination.Items.path("/items")), (#"{"items": {"a": 1}}"#, "/items"),
      (#"{"items": "none"}"#, "/items"), (#"{"items": 0}"#, "/items"),
      (#"{"items": false}"#, "/items"), (#"{"error": "gone"}"#, .root), (#""gone""#, .root),
      (#"[1]"#, "/items"), (#"{}"#, .firstOf(["/a", "/b"])), (#"{}"#, .all(["/a", "/b"])),
      (#"{"a": [1], "b": {}}"#, .all(["/a", "/b"])), (#"{"a": {}}"#, .firstOf(["/a", "/b"])),
      (#"{"a": null, "b": {}}"#, .firstOf(["/a", "/b"])), (#"{"items": {}}"#, .optional("/items")),
      (#"{"data": "x"}"#, .optional("/data/items")), (#"[]"#, .optional("/items")),
      (#"{"a": 1}"#, .optional(.all(["/a", "/b"]))),
    ])
  func noItems(_ page: String, _ selector: Pagination.Items) {
    let error = #expect(throws: PageError.self) { try items(page, selector) }
    #expect(error?.code == .shape)
  }

  @Test("D-2: the error about missing items names the arrays that are there")
  func advice() {
    let page = #"{"meta": {"tags": [], "a/b": {"deep": [1]}}, "members": [1], "data": [2], "n": 1}"#
    let error = #expect(throws: PageError.self) { try items(page, "/items") }
    #expect(
      error?.description.contains(
        #"no items at "/items". Found arrays at /members, /data, /meta/tags, /meta/a~1b/deep. "#
          + #"Use .items(at: "/members")."#) == true, "\(error as Any)")
    let table = #expect(throws: PageError.self) {
      try items(
        #"{"dimensionHeaders": [{}], "metricHeaders": [{}], "rows": [{}, {}], "rowCount": 2}"#,
        "/items")
    }
    #expect(
      table?.description.contains(
        #"arrays at /dimensionHeaders, /metricHeaders, /rows. Use .items(at: "/rows")."#) == true,
      "\(table as Any)")
    let root = #expect(throws: PageError.self) { try items("[1]", "/items") }
    #expect(
      root?.description.contains(#"The page itself is an array. Use .items(at: "")."#) == true)
    let object = #expect(throws: PageError.self) { try items(#"{"data": [1]}"#, "") }
    #expect(
      object?.message.contains("should be the array at the root of the document, but an object")
        == true, "\(object as Any)")
  }

  @Test(
    "A page without its items that says why is an error in the server's words, without other advice",
    arguments: [
      (#"{"error": {"code": 7, "message": "The key has expired."}}"#, "The key has expired."),
      (#"{"errors": [{"message": "No field a", "locations": []}], "data": null}"#, "No field a"),
      (#"{"errors": [{"status": "403", "title": "No", "detail": "Not yours"}]}"#, "Not yours"),
      (#"{"success": false, "error": "invalid_auth"}"#, "invalid_auth"),
      (#"{"error": "e7", "error_description": "Too old"}"#, "Too old"),
      (#"{"fault": {"faultstring": "Invalid key", "detail": {"errorcode": "k"}}}"#, "Invalid key"),
      (#"{"odata.error": {"code": "-1", "message": {"lang": "en", "value": "Bad"}}}"#, "Bad"),
      (#"{"Response": "False", "Error": "Too many results."}"#, "Too many results."),
      (#"{"errors": {"base": ["Bad filter"]}}"#, "Bad filter"),
      (#"{"error": "e7", "message": "Too old"}"#, "Too old"),
      (#""Not yours""#, "Not yours"),
    ])
  func errorWords(_ page: String, _ words: String) {
    let error = #expect(throws: PageError.self) { try items(page, "/items") }
    #expect(
      error?.message == "The page has no items at \"/items\". It says: \"\(words)\""
        + (words.hasSuffix(".") ? "" : "."),
      "\(error as Any)")
    #expect(error?.remedies.isEmpty == true)
  }

  @Test("A message alone may mean that there is nothing, and pleasantries mean no error")
  func messages() {
    let alone = #expect(throws: PageError.self) {
      try items(#"{"status": 1, "message": "No results"}"#, "/items")
    }
    #expect(alone?.message.hasSuffix(#" It says: "No results"."#) == true, "\(alone as Any)")
    #expect(alone?.remedies.map(\.values) == [["optional:/items"]])
    for page in [
      #"{"message": "OK", "data": {"list": [1]}}"#, #"{"error": null, "errors": [], "list": [1]}"#,
      #"{"error": {"code": "ok", "message": ""}, "list": [1]}"#,
      #"{"errorCode": "0", "list": [1]}"#,
      #"{"problems": [{"title": "Two sums"}, {"title": "Trees"}]}"#,
    ] {
      let error = #expect(throws: PageError.self) { try items(page, "/items") }
      #expect(error?.message.contains("It says") == false, "\(error as Any)")
      #expect(error?.message.contains("Found arrays at ") == true, "\(error as Any)")
    }
    let inPlace = #expect(throws: PageError.self) {
      try items(#"{"error": "gone"}"#, Pagination.Items.root)
    }
    #expect(inPlace?.message.hasSuffix(#"but an object is there. It says: "gone"."#) == true)
    let null = #expect(throws: PageError.self) {
      try items(#"{"items": null, "error": "gone"}"#, "/items")
    }
    #expect(null?.message.hasSuffix(#"items at "/items". It says: "gone"."#) == true)
    let optional = #expect(throws: PageError.self) {
      try items(#"{"error": "gone", "items": "x"}"#, .optional("/items"))
    }
    #expect(optional?.message.contains(#"It says: "gone"."#) == true)
  }

  @Test("A value on each line is JSON Lines, whatever the server calls them")
  func lines() {
    for page in ["{\"id\": 1}\n{\"id\": 2}\n", "[1]\r\n\r\n[2]"] {
      let error = #expect(throws: PageError.self) { try items(page, Pagination.Items.root) }
      #expect(
        error?.remedies == [Remedy(.decoder, ["JSON Lines"], condition: "if each line is an item")],
        "\(error as Any)")
    }
    for page in ["{\"id\": 1} {\"id\": 2}", "[1]\n<!-- by server 3 -->", "1\n[2]"] {
      let error = #expect(throws: PageError.self) { try items(page, Pagination.Items.root) }
      #expect(error?.remedies.isEmpty == true, "\(error as Any)")
    }
  }

  @Test("An object in place of a list can be the list by its members, or an item alone")
  func objectInPlace() throws {
    let keyed = #expect(throws: PageError.self) { try items(#"{"data": {"7": {}}}"#, "/data") }
    #expect(
      keyed?.description.contains(
        #"is an item, use .items(at: .members("/data")). If it is an item without a list, use "#
          + #".items(at: .oneOrMany("/data"))."#) == true, "\(keyed as Any)")
    let text = #expect(throws: PageError.self) { try items(#"{"data": "x"}"#, "/data") }
    #expect(text?.remedies.isEmpty == true)
  }

  @Test(
    "V02, V44: a list that is null or absent is empty where that was declared",
    arguments: [
      (#"{"items": []}"#, Pagination.Items.path("/items")), ("null", .optional(.root)),
      (#"{"nextPageToken": "t1"}"#, .optional("/books")),
      (#"{"books": null}"#, .optional("/books")),
      (#"{"data": null}"#, .optional("/data/books")), (#"{}"#, .optional(.firstOf(["/a", "/b"]))),
      (#"{}"#, .optional(.all(["/a", "/b"]))), (#"{"a": [], "b": {}}"#, .firstOf(["/a", "/b"])),
      (#"{"a": null, "b": []}"#, .firstOf(["/a", "/b"])),
      (#"{"b": null}"#, .optional(.all(["/a", "/b"]))),
    ])
  func empty(_ page: String, _ selector: Pagination.Items) throws {
    #expect(try items(page, selector) == [])
  }

  @Test(
    "12-L10, J10: null in place of the items is an error that names the remedy, unless declared",
    arguments: [
      (#"{"items": null}"#, Pagination.Items.path("/items")), ("null", .root),
      (#"{"a": null}"#, .firstOf(["/a", "/b"])), (#"{"b": null}"#, .all(["/a", "/b"])),
      (#"{"a": null, "b": null}"#, .all(["/a", "/b"])), ("null", .members(.root)),
      (#"{"pages": null}"#, .members("/pages")), (#"{"t": null}"#, .columns("/t")),
      (#"{"groups": [{"of": null}, {"of": null}]}"#, "/groups/*/of"),
      (#"{"a": [{"b": null}]}"#, .firstOf(["/x/*/b", "/a/*/b"])),
    ])
  func undeclaredNull(_ page: String, _ selector: Pagination.Items) throws {
    let error = #expect(throws: PageError.self) {
      try decode(JSONRawPageDecoder(), page, selector).items
    }
    #expect(error?.code == .shape)
    #expect(error?.message.contains("null in place of the items") == true)
    #expect(error?.description.contains(".optional(") == true)
    #expect(
      try decode(JSONRawPageDecoder(), page, .optional(selector)).items.map(\.description) == [])
  }

  @Test(
    "12-L10: what is no list or object has no elements for a *, and is no empty page",
    arguments: ["null", "5", "\"none\"", "true"])
  func noContainer(_ groups: String) {
    let error = #expect(throws: PageError.self) {
      try decode(JSONRawPageDecoder(), "{\"groups\": \(groups)}", "/groups/*/of")
    }
    #expect(error?.code == .shape)
  }

  @Test("The first of several paths that has something is taken, or all of them in order")
  func several() throws {
    let page = #"{"a": [], "b": null, "c": [1, 2], "d": {"e": [3]}, "f": {}}"#
    #expect(try items(page, .firstOf(["/a", "/b", "/c", "/d/e"])) == [1, 2])
    #expect(try items(page, .firstOf(["/f", "/x", "/d/e"])) == [3])
    #expect(try items(page, .all(["/d/e", "/a", "/b", "/c", "/x"])) == [3, 1, 2])
    #expect(try items(page, .optional(.all(["/x", "/c"]))) == [1, 2])
  }

  @Test(
    "T33: items may be the members of an object, the rows of columns, or stand in several lists",
    arguments: [
      (
        #"{"a": {"x": 1}, "b\u0022": null}"#, Pagination.Items.members(.root),
        #"[{"name":"a","value":{"x":1}},{"name":"b\u0022","value":null}]"#
      ),
      (#"null"#, .optional(.members(.root)), "[]"), (#"{"pages": {}}"#, .members("/pages"), "[]"),
      (#"{}"#, .optional(.members("/pages")), "[]"), (#"{}"#, .members(.optional("/pages")), "[]"),
      (
        #"{"form": ["10-K", "8-K"], "n": [1.10, 9007199254740993]}"#, .columns(.root),
        #"[{"form":"10-K","n":1.10},{"form":"8-K","n":9007199254740993}]"#
      ),
      (#"{"recent": {"form": []}}"#, .columns(.firstOf(["/recent", ""])), "[]"),
      (#"{"form": [1]}"#, .columns(.firstOf(["/recent", ""])), #"[{"form":1}]"#),
      (#"{}"#, .columns(.root), "[]"),
      (#"{"groups": [{"of": [1, 2]}, {}, {"of": null}, {"of": [3]}]}"#, "/groups/*/of", "[1,2,3]"),
      (
        #"{"query": {"pages": {"7": {"id": 7}, "3": {"id": 3}}}}"#, "/query/pages/*",
        #"[{"id":7},{"id":3}]"#
      ),
      (#"{"groups": []}"#, "/groups/*/of", "[]"),
      (#"{"a": [{"b": 1}]}"#, .firstOf(["/x/*/b", "/a/*/b"]), "[1]"),
      (
        #"{"items": [{"items": [{"e": 1}, {"e": 2}]}, {"e": 3}]}"#,
        .all(["/items/*/items/*/e", "/items/*/e"]), "[1,2,3]"
      ),
    ])
  func arranged(_ page: String, _ selector: Pagination.Items, _ items: String) throws {
    let raw = try decode(JSONRawPageDecoder(), page, selector).items
    #expect("[" + raw.map(\.description).joined(separator: ",") + "]" == items)
  }

  @Test(
    "T33, D-2: what is no object, no table or not there at all is an error",
    arguments: [
      ("[1]", Pagination.Items.members(.root)), (#"{"a": 1}"#, .members("/pages")),
      (#"{"a": [1], "b": [1, 2]}"#, .columns(.root)), (#"{"a": [1], "b": 2}"#, .columns(.root)),
      (#"{"a": 1}"#, "/groups/*/of"), ("[[1]]", .columns(.root)),
    ])
  func misarranged(_ page: String, _ selector: Pagination.Items) {
    let error = #expect(throws: PageError.self) {
      try decode(JSONRawPageDecoder(), page, selector)
    }
    #expect(error?.code == .shape)
  }

  @Test("Columns with names that make a small page a huge table are refused")
  func hugeTable() {
    let page =
      #"{"\#(String(repeating: "n", count: 10_000))": [\#(String(repeating: "0,", count: 9_999))0]}"#
    let error = #expect(throws: PageError.self) {
      try decode(JSONRawPageDecoder(), page, .columns(.root))
    }
    #expect(error?.code == .limitExceeded)
    for (limits, name) in [
      (DecodingLimits(items: 10), "DecodingLimits.items"),
      (DecodingLimits(itemBytes: 1_000), "DecodingLimits.itemBytes"),
    ] {
      let early = #expect(throws: PageError.self) {
        try decode(JSONRawPageDecoder(), page, .columns(.root), limits: limits)
      }
      #expect(early?.remedies == [.raise(.init(name))], "\(early as Any)")
    }
  }

  @Test("What a page may hold is what the items composed of its parts may hold")
  func composedLimits() throws {
    let deep = String(repeating: "[", count: 150) + String(repeating: "]", count: 150)
    let page = Array("{\"a\":[0,\(deep)],\"b\":[1,2]}".utf8)
    let document = try JSONDocument(page, limits: DecodingLimits(depth: 200))
    #expect(try document.value(at: "/b", inLastItemOf: .columns(.root)) == 2)
    let small = try JSONDocument(page, limits: DecodingLimits(depth: 200, items: 1))
    #expect(throws: PageError.self) { try small.values(at: "/b", inItemsOf: .columns(.root)) }
  }

  @Test("The last member and the last row are last items")
  func lastMember() throws {
    let document = try JSONDocument(Array(#"{"a": [1, 2], "b": [3, 4]}"#.utf8))
    #expect(try document.value(at: "/name", inLastItemOf: .members(.root)) == "b")
    #expect(try document.value(at: "/b", inLastItemOf: .columns(.root)) == 4)
    #expect(try document.values(at: "/b", inItemsOf: .columns(.root)) == [3, 4])
    #expect(try document.value(at: "/*/1") == 2)
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
