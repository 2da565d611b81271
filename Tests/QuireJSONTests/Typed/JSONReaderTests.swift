import Foundation
import QuireCore
import QuirePagination
import QuireTesting
import QuireXML
import Testing

@testable import QuireJSON

/// Items that read themselves, and values of items without a type.
@Suite("Reading without Decodable")
struct JSONReaderTests {
  /// The same type twice.
  struct Row: Codable, JSONReadable, Equatable {
    struct Inner: Codable, JSONReadable, Equatable {
      let name: String
      let size: Double?

      init(from json: inout JSONReader) throws {
        name = try json.string("name")
        size = try json.doubleIfPresent("size")
      }
    }

    let id: Int
    let title: String
    let isOpen: Bool
    let score: Double
    let note: String?
    let count: Int?
    let flag: Bool?
    let inner: Inner
    let maybe: Inner?
    let list: [Inner]
    let at: Date

    init(from json: inout JSONReader) throws {
      id = try json.integer("id")
      title = try json.string("title")
      isOpen = try json.bool("isOpen")
      score = try json.double("score")
      note = try json.stringIfPresent("note")
      count = try json.integerIfPresent("count")
      flag = try json.boolIfPresent("flag")
      inner = try json.value("inner")
      maybe = try json.valueIfPresent("maybe")
      list = try json.list("list")
      at = try json.decoded("at")
    }
  }

  private static let members = [
    #""id":1"#, #""title":"é \"x\"""#, #""isOpen":true"#, #""score":1e2"#, #""note":null"#,
    #""count":3.0"#,
    #""flag":false"#, #""inner":{"size":null,"name":"a"}"#, #""maybe":{"name":"b","size":0.1}"#,
    #""list":[{"name":"c"},{"name":"d","size":2}]"#, #""at":5.5"#,
  ]

  @Test("14-Reading: a type that reads itself gets what Decodable gets, in any order of members")
  func orders() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      var members = Self.members.shuffled(using: &random)
      members.insert(#""more":[{"id":9}]"#, at: Int.random(in: 0..<5, using: &random))
      if Bool.random(using: &random) { members.append(#""id":7"#) }
      if Bool.random(using: &random) { members[3] = members[3].replacing("\"i", with: "\"\\u0069") }
      let page = "[{\(members.joined(separator: ","))}]"
      let read = try decode(JSONReadablePageDecoder<Row>(), page).items
      #expect(read == (try JSONDecoder().decode([Row].self, from: Data(page.utf8))), "seed \(seed)")
    }
  }

  @Test("14-Reading: what does not fit is the error that Decodable has, with the same place")
  func errors() throws {
    for (index, wrong) in [
      #""id":"x""#, #""title":null"#, #""isOpen":1"#, #""score":"x""#, #""note":1"#,
      #""count":1.5"#,
      #""flag":"x""#, #""inner":[]"#, #""maybe":{"name":1}"#, #""list":[{"name":"c"},{"size":2}]"#,
      #""at":"x""#,
    ].enumerated() {
      for replacement in [[wrong], []] where !replacement.isEmpty || ![4, 5, 6, 8].contains(index) {
        var members = Self.members
        members.replaceSubrange(index...index, with: replacement)
        let page = "[{\(members.joined(separator: ","))}]"
        let ours = #expect(throws: PageError.self, "\(page)") {
          try decode(JSONReadablePageDecoder<Row>(), page)
        }
        let theirs = #expect(throws: PageError.self) { try decode(JSONPageDecoder<Row>(), page) }
        let (one, other) = (
          Outcome { () throws -> Int in throw try #require(ours?.underlying) },
          Outcome { () throws -> Int in throw try #require(theirs?.underlying) }
        )
        #expect(one == other)
        #expect(ours?.message == theirs?.message)
      }
    }
  }

  @Test("14-Reading: half a surrogate pair that is read is the error that it is to Decodable")
  func surrogates() throws {
    let page = #"[{"name":"a\ud800"}]"#
    let ours = #expect(throws: PageError.self) {
      try decode(JSONReadablePageDecoder<Row.Inner>(), page)
    }
    let theirs = #expect(throws: PageError.self) {
      try decode(JSONPageDecoder<Row.Inner>(), page)
    }
    #expect(ours?.code == theirs?.code && ours?.message == theirs?.message)
    #expect(ours?.message.contains("surrogate") == true)
  }

  @Test(
    "14-Reading: of a name that stands twice the first counts, however often it is asked for",
    arguments: [
      #"{"id":1,"id":2,"name":"a","name":"b","id":3}"#,
      #"{"x":0,"id":1,"name":"a","id":2,"name":"b"}"#,
      #"{"name":"a","id":1,"id":2,"name":3}"#, #"{"\u0069d":1,"id":2,"name":"a","name":4}"#,
      #"{"id":1,"\u0069d":2,"id":3,"name":"a"}"#,
    ])
  func repeated(object: String) throws {
    struct Asking: JSONReadable {
      let isThere: Bool
      let ids: [Int]
      let number: Int?
      let name: String

      init(from json: inout JSONReader) throws {
        isThere = json.has("id")
        let first = try json.integer("id")
        number = try? json.integer("name")
        name = try json.string("name")
        ids = [first, try json.integer("id")]
      }
    }
    let items = try decode(JSONReadablePageDecoder<Asking>(), "[\(object)]").items
    let item = try #require(items.first)
    #expect(item.isThere)
    #expect(item.ids == [1, 1])
    #expect(item.number == nil)
    #expect(item.name == "a")
  }

  @Test("14-Reading, D-4: the way to a value is walked for errors alone, and on from the last one")
  func way() throws {
    let text = #"[[0,"x",1],{"a":1,"b":[2,"y",{"c":3,"d":[]}],"e":{}},4,[[],[5,[6,7]]]]"#
    let document = try JSONDocument(Array(text.utf8))
    let options = try #require(JSONDecodingOptions(JSONDecoder()))
    var walks = 0
    let context = JSONItemContext(document, options, item: 0) {
      walks += 1
      return [JSONKey("above")]
    }
    func values(in node: Int) -> [Int] {
      let children = Array(document.elements(of: node)) + document.names(of: node).map { $0 + 1 }
      return [node] + children.flatMap { values(in: $0) }
    }
    let nodes = values(in: 0)
    #expect(try context.decode([JSONValue].self, at: 0).count == 4)
    #expect(walks == 0)
    let error = try #require(throws: DecodingError.self) {
      try context.decode([Int].self, at: nodes[1])
    }
    guard case .typeMismatch(_, let found) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(found.codingPath.map(\.stringValue) == ["above", "Index 1"])
    #expect(walks == 1)

    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    var steps: [JSONDocument.Step] = []
    for node in nodes + nodes.reversed() + (nodes + nodes).shuffled(using: &random) {
      let keys = document.keys(to: node, from: 0, along: &steps)
      let pointer = keys.map { "/" + ($0.intValue.map(String.init) ?? $0.stringValue) }.joined()
      #expect(pointer == document.pointer(to: node, from: 0), "seed \(seed)")
    }
  }

  @Test("14-Reading, D-4: a type that follows the page down ends with an error, not with the stack")
  func deep() throws {
    struct Tree: JSONReadable {
      let count: Int
      init(from json: inout JSONReader) throws {
        count = json.has("a") ? try json.list("a", of: Tree.self).reduce(1) { $0 + $1.count } : 1
      }
    }
    func count(_ depth: Int) throws -> Int? {
      let (head, end) = (String(repeating: #"{"a":["#, count: depth), "]}")
      var page = JSONReadablePageDecoder<Tree>().begin(
        DecodingContext(limits: DecodingLimits(depth: .max)))
      try page.receive(Array("[\(head)\(String(repeating: end, count: depth))]".utf8))
      _ = try page.finish()
      return try page.items().items.first?.count
    }
    #expect(try count(500) == 500)
    let error = #expect(throws: PageError.self) { try count(50_000) }
    #expect(error?.code == .itemDecoding)
  }

  @Test(
    "14-Untyped: values of an item are found by names, numbers and paths, and are nil otherwise")
  func untyped() throws {
    let text = #"""
      {"id":7,"id":8,"user":{"login":"ann","a/b":"slash","~":true},"labels":[{"name":"x"},{"name":"y"}],
       "big":12345678901234567890,"half":1.50,"text":"42","null":null,"gr\u00f6ße":"ok","":{"":1},"yes":"yes",
       "hexadecimal":"0x10","large":1e400,"no":"nan"}
      """#
    let xml = try XMLRawItem.items(
      "<r><i><user><login>ann</login></user><text>42</text><yes>yes</yes><half>1.50</half><hexadecimal>0x10</hexadecimal></i></r>"
    )
    let item = try RawItem(Array(text.utf8))
    for item in [item] + xml {
      #expect(item.string("user/login") == "ann")
      #expect(item["user/login"] == "ann")
      #expect(item.integer("text") == 42)
      #expect(item.bool("yes") == true)
      #expect(item.double("half") == 1.5)
      #expect(item.double("hexadecimal") == nil)
      #expect(item["user/none"] == nil)
      #expect(item.string("none") == nil)
      #expect(item.string("user/login/x") == nil)
    }
    #expect(item.integer("id") == 7)
    #expect(item["half"] == .number("1.50"))
    #expect(item["user/a~1b"] == "slash")
    #expect(item.bool("user/~0") == true)
    #expect(item.string("labels/1/name") == "y")
    #expect(item["labels/2"] == nil)
    #expect(item["labels/-1"] == nil)
    #expect(item["labels/x"] == nil)
    #expect(item.integer("big") == nil)
    #expect(item["big"] == .number("12345678901234567890"))
    #expect(item.double("large") == nil)
    #expect(item.double("no") == nil)
    #expect(item["null"] == .null)
    #expect(item.string("null") == nil)
    #expect(item.string("größe") == "ok")
    #expect(item["/"] == 1)
    #expect(item["labels"]?.description == #"[{"name":"x"},{"name":"y"}]"#)
  }
}

private enum XMLRawItem {
  static func items(_ page: String) throws -> [RawItem] {
    try decode(XMLRawPageDecoder(), page, "/r/i").items
  }
}
