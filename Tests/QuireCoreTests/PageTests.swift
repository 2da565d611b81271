import Testing

@testable import QuireCore

@Suite struct PageTests {
  @Test("Copies of a page do not see each other's changes")
  func hasValueSemantics() {
    let original = Page([1], next: "b")
    var copy = original
    copy.next = "c"
    copy.traffic.bytes = 7
    copy.metadata[Int.self] = 1
    let strings = copy.withItems(["x"])
    var other = strings
    other.total = Total(3)
    #expect(original.next == "b")
    #expect(original.traffic.bytes == 0)
    #expect(original.metadata[Int.self] == nil)
    #expect(strings.next == "c")
    #expect(strings.total == nil)
    #expect(other.metadata[Int.self] == 1)
  }

  @Test("C-11, C-12: a page around other items keeps everything else")
  func keepsEverythingElse() {
    var page = Page([1, 2], next: "n", previous: "p", total: Total(9, .estimate))
    page.nextFailure = PageError(.sourceFailed, "no way")
    page.index = 3
    page.position = Position("here", itemOffset: 1)
    page.metadata[String.self] = "token"
    page.traffic = WalkReport.Traffic(bytes: 1, requests: 2, retries: 3, badItems: 4)
    let other = page.withItems(["a"])
    #expect(other.items == ["a"])
    #expect(other.next == "n")
    #expect(other.previous == "p")
    #expect(other.total == Total(9, .estimate))
    #expect(other.nextFailure?.message == "no way")
    #expect(other.index == 3)
    #expect(other.position == Position("here", itemOffset: 1))
    #expect(other.metadata[String.self] == "token")
    #expect(other.traffic == page.traffic)
  }
}
