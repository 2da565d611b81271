import Synchronization
import Testing

@testable import QuireCore

@Suite("Suspension", .timeLimit(.minutes(15)))
struct SuspensionTests {
  struct Failure: Error {}

  @Test("a value delivered before the wait is handed out without suspending")
  func deliveredBefore() async throws {
    let suspension = Suspension<Int>()
    #expect(suspension.resume(returning: 7))
    #expect(try await suspension.value() == 7)
  }

  @Test("a value delivered during the wait ends it")
  func deliveredDuring() async throws {
    let suspension = Suspension<Int>()
    let waiter = Task { try await suspension.value() }
    let deliverer = Task { suspension.resume(returning: 9) }
    #expect(await deliverer.value)
    #expect(try await waiter.value == 9)
  }

  @Test("the first outcome wins, and later ones are told so")
  func firstWins() async throws {
    let suspension = Suspension<Int>()
    #expect(suspension.resume(returning: 1))
    #expect(!suspension.resume(returning: 2))
    #expect(!suspension.resume(throwing: Failure()))
    #expect(try await suspension.value() == 1)
    #expect(!suspension.resume(returning: 3))
  }

  @Test("C2: a task cancelled before it waits throws CancellationError at once")
  func cancelledBefore() async {
    let suspension = Suspension<Int>()
    let gate = Suspension<Void>()
    let waiter = Task {
      try? await gate.value(onCancel: {})
      return try await suspension.value()
    }
    waiter.cancel()
    gate.resume(returning: ())
    await #expect(throws: CancellationError.self) { try await waiter.value }
    #expect(!suspension.resume(returning: 1))
  }

  @Test("a waiter's own onCancel decides how a cancelled wait ends")
  func ownCancellation() async throws {
    let suspension = Suspension<Int>()
    let asked = Suspension<Void>()
    let waiter = Task { try await suspension.value { asked.resume(returning: ()) } }
    waiter.cancel()
    try await asked.value()
    #expect(suspension.resume(returning: 5))
    #expect(try await waiter.value == 5)
  }

  @Test("C2: 5,000 races of delivery against cancellation end exactly once each")
  func race() async {
    let outcomes = await withTaskGroup(of: (accepted: Bool, delivered: Bool).self) { group in
      for _ in 0..<5_000 {
        group.addTask {
          let suspension = Suspension<Int>()
          let waiter = Task { try await suspension.value() }
          async let accepted = deliver(to: suspension)
          waiter.cancel()
          let delivered = (try? await waiter.value) == 3
          return (await accepted, delivered)
        }
      }
      return await group.reduce(into: [(accepted: Bool, delivered: Bool)]()) { $0.append($1) }
    }
    #expect(outcomes.count == 5_000)
    #expect(outcomes.allSatisfy { $0.accepted == $0.delivered })
  }
}

@concurrent private func deliver(to suspension: Suspension<Int>) async -> Bool {
  suspension.resume(returning: 3)
}
