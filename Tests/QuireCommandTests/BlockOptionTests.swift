import ArgumentParser
import QuireDetect
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireCommand

@Suite("The grammar of --next, --send and --end")
struct BlockOptionTests {
  private static func next(_ text: String) throws -> Pagination.Next {
    try BlockOption.block(text, "--next")
  }

  private static func send(_ text: String) throws -> Pagination.Placement {
    try BlockOption.block(text, "--send")
  }

  private static func end(_ text: String) throws -> Pagination.End {
    try BlockOption.block(text, "--end")
  }

  private static func total(_ text: String) throws -> Pagination.TotalSource {
    try BlockOption.block(text, "--total")
  }

  @Test("Each word of --next is the source it names")
  func next() throws {
    #expect(try Self.next("link") == .linkHeader)
    #expect(try Self.next("header:X-Next") == .header("X-Next"))
    #expect(try Self.next("body:/meta/next") == .body("/meta/next"))
    #expect(try Self.next("body:/a:b") == .body("/a:b"))
    #expect(try Self.next("last:/id") == .lastItem("/id"))
    #expect(try Self.next("offset") == .offset(first: 0))
    #expect(try Self.next("offset:1") == .offset(first: 1))
    #expect(try Self.next("page") == .pageNumber(first: 1))
    #expect(try Self.next("page:0") == .pageNumber(first: 0))
  }

  @Test("Each word of --send is the place it names")
  func send() throws {
    #expect(try Self.send("url") == .url)
    #expect(try Self.send("query:page[after]") == .query("page[after]"))
    #expect(try Self.send("header:X-Token") == .header("X-Token"))
    #expect(try Self.send("body:/variables/after") == .jsonBody("/variables/after"))
  }

  @Test("Each word of --end is the rule it names, and last:true is the last page")
  func end() throws {
    #expect(try Self.end("empty") == .emptyPage)
    #expect(try Self.end("short") == .shortPage)
    #expect(try Self.end("same") == .sameCursor)
    #expect(try Self.end("flag:/has_more") == .flag(.body("/has_more")))
    #expect(try Self.end("last:/last") == .flag(.body("/last"), continuesWhile: false))
    #expect(try Self.end("total:/total") == .total("/total"))
    #expect(try Self.end("pages:/pages") == .pages(.body("/pages")))
    #expect(try Self.end("status:404") == .status([404]))
  }

  @Test(
    "A word that is wrong is refused with its option, and the nearest word where there is one",
    arguments: [
      ("linkHeadr", "Did you mean \"linkHeader\"?"), ("header", "header:X-Next-Token"),
      ("body:next", "/meta/next"), ("body", "JSON pointer"), ("offset:-1", "whole number"),
      ("page:x", "whole number"),
      ("", "is none of"),
    ])
  func refusals(text: String, hint: String) throws {
    let error = #expect(throws: ValidationError.self) { try Self.next(text) }
    let message = try #require(error?.message)
    #expect(message.hasPrefix("--next \(text): "))
    #expect(message.contains(hint))
  }

  @Test("The other two options refuse what they do not know, too")
  func otherRefusals() {
    #expect(throws: ValidationError.self) { try Self.send("cookie:a") }
    #expect(throws: ValidationError.self) { try Self.send("query:") }
    #expect(throws: ValidationError.self) { try Self.end("status") }
    #expect(throws: ValidationError.self) { try Self.end("flag") }
    #expect(throws: ValidationError.self) { try Self.end("never") }
    let error = #expect(throws: ValidationError.self) { try Self.send("url:x") }
    #expect(error?.message.contains("takes nothing after it") == true)
  }

  @Test("Each word of a description is a word of the options, with its members behind commas")
  func words() throws {
    #expect(try Self.next("linkHeader:prev") == .linkHeader(rel: "prev"))
    #expect(try Self.next("offset:1,step:pageSize") == .offset(first: 1, step: .pageSize))
    #expect(try Self.next("pageNumber:0,from:/page") == .pageNumber(first: 0, from: "/page"))
    #expect(try Self.next("json:header:A") == .json(.header("A")))
    #expect(try Self.next(#"{"maxItem": "/id"}"#) == .maxItem("/id"))
    #expect(try Self.send("query:a,b,encoding:verbatim") == .query("a,b", encoding: .verbatim))
    #expect(try Self.send("jsonBody:/after") == .jsonBody("/after"))
    #expect(
      try Self.end("flag:/last,continuesWhile:false") == .flag("/last", continuesWhile: false))
    #expect(try Self.end("flag:header:X-More") == .flag(.header("X-More")))
    #expect(try Self.end("total:/pages,kind:pages") == .pages("/pages"))
    #expect(try Self.end("noNext:-1") == .noNext(sentinels: ["-1"]))
    #expect(try Self.end("lastPage:404") == .lastPage(when: .status(404)))
    #expect(try Self.total("header:X-Total") == Pagination.TotalSource(.header("X-Total")))
    #expect(try Self.total("") == "")
  }

  @Test(
    "What a description says in words is read as the same",
    arguments: [
      "linkHeader", "header:X-Next", "body:/a:b", "lastItem:/id", "offset", "offset:1",
      "pageNumber:0,from:/page", "offset:0,step:pageSize",
      "queryItem:c,of:body:/next",
    ])
  func printed(text: String) throws {
    #expect(try Self.next(text).words == text)
  }
}
