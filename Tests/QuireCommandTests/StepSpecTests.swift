import ArgumentParser
import QuireDetect
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireCommand

@Suite("The grammar of --next, --send and --end")
struct StepSpecTests {
  @Test("Each word of --next is the source it names")
  func next() throws {
    #expect(try StepSpec.next("link") == .linkHeader)
    #expect(try StepSpec.next("header:X-Next") == .header("X-Next"))
    #expect(try StepSpec.next("body:/meta/next") == .body("/meta/next"))
    #expect(try StepSpec.next("body:/a:b") == .body("/a:b"))
    #expect(try StepSpec.next("last:/id") == .lastItem("/id"))
    #expect(try StepSpec.next("offset") == .offset(first: 0))
    #expect(try StepSpec.next("offset:1") == .offset(first: 1))
    #expect(try StepSpec.next("page") == .pageNumber(first: 1))
    #expect(try StepSpec.next("page:0") == .pageNumber(first: 0))
  }

  @Test("Each word of --send is the place it names")
  func send() throws {
    #expect(try StepSpec.send("url") == .url)
    #expect(try StepSpec.send("query:page[after]") == .query("page[after]"))
    #expect(try StepSpec.send("header:X-Token") == .header("X-Token"))
    #expect(try StepSpec.send("body:/variables/after") == .jsonBody("/variables/after"))
  }

  @Test("Each word of --end is the rule it names, and last:true is the last page")
  func end() throws {
    #expect(try StepSpec.end("empty") == .emptyPage)
    #expect(try StepSpec.end("short") == .shortPage)
    #expect(try StepSpec.end("same") == .sameCursor)
    #expect(try StepSpec.end("flag:/has_more") == .flag(.body("/has_more")))
    #expect(try StepSpec.end("last:/last") == .flag(.body("/last"), continuesWhile: false))
    #expect(try StepSpec.end("total:/total") == .total("/total"))
    #expect(try StepSpec.end("pages:/pages") == .pages(.body("/pages")))
    #expect(try StepSpec.end("status:404") == .status([404]))
  }

  @Test(
    "A word that is wrong is refused with its option, and the nearest word where there is one",
    arguments: [
      ("linkk", "Did you mean \"link\"?"), ("header", "header:X-Next-Token"),
      ("body:next", "/meta/next"), ("body", "JSON pointer"), ("offset:-1", "whole number"),
      ("page:x", "whole number"),
      ("link:next", "takes nothing after it"), ("", "is none of"),
    ])
  func refusals(text: String, hint: String) throws {
    let error = #expect(throws: ValidationError.self) { try StepSpec.next(text) }
    let message = try #require(error?.message)
    #expect(message.hasPrefix("--next \(text): "))
    #expect(message.contains(hint))
  }

  @Test("The other two options refuse what they do not know, too")
  func otherRefusals() {
    #expect(throws: ValidationError.self) { try StepSpec.send("cookie:a") }
    #expect(throws: ValidationError.self) { try StepSpec.send("query:") }
    #expect(throws: ValidationError.self) { try StepSpec.end("status") }
    #expect(throws: ValidationError.self) { try StepSpec.end("flag") }
    #expect(throws: ValidationError.self) { try StepSpec.end("never") }
  }
}
