import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@Suite("Raw items")
struct RawItemTests {
  @Test(
    "D-2, H-2: a raw item is the server's bytes, and compact they are the same tokens in a line")
  func rawItems() throws {
    let page = #"""
      [ {"id" : 9007199254740993,
         "price": 1.10, "text": " a \u00e9\n\" , ", "list": [ 1e400 , -0, [ ], { } ] } , "x y" , 7 ]
      """#
    let items = try decode(JSONRawPageDecoder(), page).items
    #expect(
      items.map(\.description) == [
        #"{"id":9007199254740993,"price":1.10,"text":" a \u00e9\n\" , ","list":[1e400,-0,[],{}]}"#,
        #""x y""#, "7",
      ])
    #expect(
      String(decoding: items[0].bytes, as: UTF8.self).hasPrefix("{\"id\" : 9007199254740993,\n"))
    #expect(try items[0].value["price"] == .number("1.10"))
    #expect(try items[0].value["list"] == [.number("1e400"), .number("-0"), [], .object([])])
    #expect(try items[1].value == "x y")
  }

  @Test("Compact text stands for the same value, whatever the value", arguments: 0..<10)
  func compact(_ seed: UInt64) throws {
    var random = RandomJSON(seed: seed)
    for _ in 0..<50 {
      let value = random.value(depth: 4)
      let text = random.text(of: value)
      let item = try RawItem(Array(text.utf8))
      #expect(try RawItem(item.compact).value == value, "seed \(seed): \(text)")
      #expect(!item.compact.contains(UInt8(ascii: "\n")), "seed \(seed): \(text)")
      #expect(try RawItem(item.compact).compact == item.compact, "seed \(seed): \(text)")
    }
  }

  @Test("White space at any one place between tokens goes, and an item without any is as it was")
  func oneSpace() throws {
    let tokens = [
      "{", #""a b""#, ":", "[", "1", ",", "{", #""c""#, ":", "null", "}", ",", "[", "]", "]", ",",
      #""d""#, ":", "{", "}", "}",
    ]
    let line = tokens.joined()
    for space in ["", " ", "\r\n\t", String(repeating: " ", count: 20)] {
      for gap in 0...tokens.count {
        let item = (tokens[..<gap] + [space] + tokens[gap...]).joined()
        let items = try decode(JSONRawPageDecoder(), "[7,\(item),\(line)]").items
        #expect(items.map(\.description) == ["7", line, line], "at gap \(gap)")
      }
    }
  }

  @Test("J5: half a surrogate pair passes as it was written, bytes that are no UTF-8 do not")
  func flaws() throws {
    let items = try decode(JSONRawPageDecoder(), #"["\ud800", 1]"#).items
    #expect(items.map(\.description) == [#""\ud800""#, "1"])
    #expect(throws: PageError.self) { try items[0].value }
    #expect(throws: PageError.self) { try items[0].decode(String.self) }

    let page: [UInt8] = [0x5B, 0x22, 0xFF, 0x22, 0x2C, 0x31, 0x5D]
    let collected = try decode(JSONRawPageDecoder(), page, DecodingContext(badItems: .collect))
      .items
    #expect(collected.items.map(\.description) == ["1"])
    #expect(collected.badItems.map(\.bytes) == [[0x22, 0xFF, 0x22]])
    #expect(throws: PageError.self) { try decode(JSONRawPageDecoder(), page, DecodingContext()) }
  }

  @Test("D-2: a closure makes the items, and what it throws is a bad item")
  func closure() throws {
    struct NoNumber: Error {}
    let decoder = ClosurePageDecoder { item in
      guard let number = try item.value.integer else { throw NoNumber() }
      return number
    }
    #expect(try decode(decoder, "[1, 2]").items == [1, 2])
    let items = try decode(decoder, #"["\udead", 1, "x", 3, {}]"#, badItems: .collect)
    #expect(items.items == [1, 3])
    #expect(items.badItems.map(\.index) == [0, 2, 4])
    let error = try #require(throws: PageError.self) { try decode(decoder, #"[1, "x"]"#) }
    #expect(error.code == .itemDecoding)
    #expect(error.message.contains("Item 1"))
    #expect(error.underlying is NoNumber)
  }

  @Test("A closure's bad items are counted beside those of the decoder below it")
  func closureAboveBadItems() throws {
    let decoder = ClosurePageDecoder { item in try item.decode(Int.self) }
    let page = Array("[1, \"".utf8) + [0xFF] + Array("\", \"x\", 4]".utf8)
    let items = try decode(decoder, page, DecodingContext(badItems: .collect)).items
    #expect(items.items == [1, 4])
    #expect(items.badItems.map(\.index) == [1, 2])
  }

  @Test("A closure decoder shows a page's end only if the decoder below it does")
  func selfDelimiting() {
    struct Open: PageDecoder {
      func begin(_ context: DecodingContext) throws -> any PageDecoding<RawItem> {
        JSONRawPageDecoder().begin(context)
      }
    }
    #expect(ClosurePageDecoder { $0 }.isSelfDelimiting)
    #expect(!ClosurePageDecoder(Open()) { $0 }.isSelfDelimiting)
  }

  @Test("D-2: a page of bytes is one item, and an empty one is none")
  func bytes() throws {
    let page: [UInt8] = [0, 0xFF, 0x0A]
    let (items, document) = try decode(BytesPageDecoder(), page, DecodingContext(), splits: [1, 1])
    #expect(items.items == [page])
    #expect(try document.value(at: "/next") == nil)
    #expect(try decode(BytesPageDecoder(), "").count == 0)
  }
}
