import Glibc
import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@Suite("A storm of cancellations", .timeLimit(.minutes(10)))
struct CancelStormTests {
  @Test(
    "C1, C2, C14: 100,000 cancellations at random points leave no socket, thread or task, and memory flat"
  )
  func storm() async {
    await #expect(processExitsWith: .success) {
      let seed =
        getenv("QUIRE_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0 ... .max)
      let count = getenv("QUIRE_CANCELS").flatMap { Int(String(cString: $0)) } ?? 100_000
      let outcome = try await CancelStorm(seed: seed, count: count).run()
      let story: Comment = "seed \(seed): \(outcome)"
      #expect(outcome.ended == count, story)
      #expect(outcome.failures.isEmpty, story)
      #expect(outcome.cancelled > count / 10, story)
      #expect(outcome.answered > count / 100, story)
      #expect(outcome.socketsLeft == 0, story)
      #expect(outcome.transfersLeft == 0, story)
      #expect(outcome.handlesLeft == 0, story)
      #expect(outcome.descriptorsGrown <= 0, story)
      #expect(outcome.threadsGrown <= 0, story)
      #expect(outcome.residentBytesGrown < 64 << 20, story)
    }
  }
}
