import Testing

@testable import QuireCurl

@Suite("AdmissionQueue")
struct AdmissionQueueTests {
  final class Request {
    let name: String
    init(_ name: String) { self.name = name }
  }

  var queue = AdmissionQueue<Request>(limit: 2)

  mutating func arrive(_ request: Request, _ origin: String = "a") -> Bool {
    queue.arrived(request, id: ObjectIdentifier(request), origin: origin)
  }

  @Test("requests beyond the limit wait in order and start as others end")
  mutating func order() {
    let requests = (0..<5).map { Request("\($0)") }
    #expect(requests.map { arrive($0) } == [true, true, false, false, false])
    #expect((0..<5).map { _ in queue.ended(origin: "a")?.name } == ["2", "3", "4", nil, nil])
    #expect(arrive(requests[0]) == true)
  }

  @Test("one host's queue does not hold up another's")
  mutating func lanes() {
    let (first, second, third) = (Request("1"), Request("2"), Request("3"))
    #expect([first, second, third].map { arrive($0) } == [true, true, false])
    let other = Request("other")
    #expect(arrive(other, "b") == true)
    #expect(queue.ended(origin: "b") == nil)
    #expect(queue.ended(origin: "a")?.name == "3")
  }

  @Test("a request taken back never starts, and one that started cannot be taken back")
  mutating func withdrawal() {
    let requests = (0..<4).map { Request("\($0)") }
    for request in requests { _ = arrive(request) }
    #expect(queue.withdraw(ObjectIdentifier(requests[2])) == true)
    #expect(queue.withdraw(ObjectIdentifier(requests[2])) == false)
    #expect(queue.withdraw(ObjectIdentifier(requests[0])) == false)
    #expect(queue.ended(origin: "a")?.name == "3")
    #expect(queue.ended(origin: "a") == nil)
  }

  @Test("taking all back leaves the running ones counted and nothing waiting")
  mutating func all() {
    let requests = (0..<5).map { Request("\($0)") }
    for request in requests { _ = arrive(request) }
    #expect(queue.withdraw(ObjectIdentifier(requests[3])) == true)
    #expect(queue.withdrawAll().map(\.name) == ["2", "4"])
    #expect(arrive(Request("late")) == false)
    #expect(queue.ended(origin: "a")?.name == "late")
  }

  @Test(
    "P14: requests that a connection's end gave back halve what runs at a time, and answers widen it"
  )
  mutating func window() {
    queue = AdmissionQueue(limit: 8)
    let requests = (0..<40).map { Request("\($0)") }
    #expect(requests.filter { arrive($0) }.count == 8)
    // Without an answer it is no end that is followed by a beginning.
    queue.sentBack(origin: "a")
    #expect(queue.ended(origin: "a")?.name == "8")
    queue.answered(origin: "a")
    for _ in 0..<7 { queue.sentBack(origin: "a") }
    #expect((0..<4).compactMap { _ in queue.ended(origin: "a") }.isEmpty)
    #expect(queue.ended(origin: "a")?.name == "9")
    for _ in 0..<2 { queue.answered(origin: "a") }
    #expect(queue.ended(origin: "a")?.name == "10")
    #expect(queue.next(origin: "a")?.name == "11")
    #expect(queue.next(origin: "a") == nil)
    for _ in 0..<100 { queue.answered(origin: "a") }
    var more = 0
    while queue.next(origin: "a") != nil { more += 1 }
    #expect(more == 3)
  }

  @Test("a long queue keeps its order while its front is cleared away")
  mutating func long() {
    let requests = (0..<1000).map { Request("\($0)") }
    for request in requests { _ = arrive(request) }
    var names: [String] = []
    while let next = queue.ended(origin: "a") { names.append(next.name) }
    #expect(names == (2..<1000).map(String.init))
  }
}
