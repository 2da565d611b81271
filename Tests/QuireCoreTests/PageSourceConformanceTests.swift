import QuireCore
import QuireTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(15))) struct PageSourceConformanceTests {
  @Test("Sources of our own keep the promises of PageSource")
  func ownSourcesConform() async throws {
    try await PageSourceConformance { ScriptedSource(sizes: 3, 0, 2, 1) }.check()
    try await PageSourceConformance { Numbers() }.check()
  }

  @Test("12-A8: a long listing costs a number of requests in proportion to its pages")
  func longListing() async throws {
    let requests = Mutex(0)
    try await PageSourceConformance {
      Long { requests.withLock { $0 += 1 } }
    }.check()
    #expect(requests.withLock { $0 } < 5_000)
  }

  @Test("C-7: a source that waits well passes")
  func passesWell() async throws {
    try await PageSourceConformance(
      makeHeldSource: { FlawedSource(flaw: nil, gate: $0) }
    ) { FlawedSource(flaw: nil) }.check()
  }

  @Test("The suite finds each flaw it is there to find", arguments: Flaw.allCases)
  func findsFlaws(flaw: Flaw) async throws {
    let failure = await #expect(throws: ConformanceFailure.self) {
      try await PageSourceConformance(
        maxPages: 20, makeHeldSource: { FlawedSource(flaw: flaw, gate: $0) }
      ) { FlawedSource(flaw: flaw) }.check()
    }
    #expect(failure?.promise == flaw.promise)
  }

  /// A listing of 900 pages.
  struct Long: PageSource {
    let request: @Sendable () -> Void

    func page(at position: Position?) async throws -> Page<Int>? {
      request()
      let index = position?.value?.integer ?? 0
      return Page([index], next: index < 899 ? Position(.number("\(index + 1)")) : nil)
    }
  }

  /// The example in the documentation of `PageSource`.
  struct Numbers: PageSource {
    func page(at position: Position?) async throws -> Page<Int>? {
      let start = position?.value?.integer ?? 0
      let next = start < 90 ? Position(.number("\(start + 10)")) : nil
      return Page(Array(start..<start + 10), next: next)
    }
  }

  enum Flaw: String, CaseIterable, Sendable {
    case endless, offsets, repeats, changes, forgets, misnamesCancellation, ignoresCancellation

    var promise: String {
      switch self {
      case .endless: "A listing ends."
      case .offsets: "A source leads to pages, not inside them."
      case .repeats: "Every page has a position of its own, unless repeated positions are allowed."
      case .changes: "The same position always asks for the same page."
      case .forgets: "A new source goes on at any position of an old one."
      case .ignoresCancellation:
        "A request ends with CancellationError when its task is cancelled."
      case .misnamesCancellation: "A cancelled source throws CancellationError, if it throws."
      }
    }
  }

  final class FlawedSource: PageSource {
    let flaw: Flaw?
    let gate: Gate?
    let calls = Mutex(0)

    init(flaw: Flaw?, gate: Gate? = nil) {
      self.flaw = flaw
      self.gate = gate
    }

    func page(at position: Position?) async throws -> Page<Int>? {
      if flaw == .misnamesCancellation, Task.isCancelled { throw ScriptedFailure() }
      if let gate {
        if flaw == .ignoresCancellation {
          try await Task.detached { try await gate.wait() }.value
        } else {
          try await gate.wait()
        }
      }
      let call = calls.withLock { calls in
        calls += 1
        return calls
      }
      let number = position?.value?.integer ?? 0
      let last = flaw == .endless ? Int.max : 3
      var page = Page([number], next: number < last ? Position(integerLiteral: number + 1) : nil)
      switch flaw {
      case .offsets: page.next?.itemOffset = 1
      case .repeats where call < 4: page.next = 1
      case .changes: page.items.append(call - number)
      case .forgets where call == 1 && number > 0: page.items = []
      default: break
      }
      return page
    }
  }
}
