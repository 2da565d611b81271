import QuireCore
import QuireExport
import QuireTesting
import Synchronization
import Testing

@Suite("Work on leases")
struct LeasedWorkTests {
  @Test("16-Machines: a store of leases is held to what every one promises")
  func conforms() async throws {
    let store = DictionaryLeases()
    try await LeaseStoreConformance.check(store) { await store.expire($0) }
  }

  @Test("16-Machines: a worker takes one unit after the other, and notes those that fail")
  func works() async throws {
    let store = DictionaryLeases()
    await store.add(["a", "b", "c"])
    let seen = Mutex<[String]>([])
    let report = try await LeasedWork(store, clock: ManualClock()).run { lease in
      seen.withLock { $0.append(lease.unit) }
      if lease.unit == "b" { throw SinkError(.writeFailed, "no room") }
    }
    #expect(seen.withLock { $0 } == ["a", "b", "c"])
    #expect(report.done == 2 && report.lost == 0)
    #expect(report.failures.map(\.unit) == ["b"])
    #expect(await store.states == ["a": "done", "b": "failed no room", "c": "done"])
  }

  @Test("16-Machines: a lease is renewed three times in its time while its unit is worked on")
  func renews() async throws {
    let (store, clock) = (DictionaryLeases(), ManualClock())
    await store.add(["a"])
    let gate = Suspension<Void>()
    let work = Task {
      try await LeasedWork(store, clock: clock).run { _ in try await gate.value() }
    }
    for beat in 0..<6 {
      try await clock.waitForSleepers()
      #expect(await store.renewals == beat)
      clock.advance(by: .seconds(10))
    }
    try await clock.waitForSleepers()
    #expect(await store.renewals == 6)
    gate.resume(returning: ())
    #expect(try await work.value.done == 1)
  }

  @Test(
    "16-Machines: the work on a lease that was lost is cancelled, and the next worker's end counts")
  func losesLease() async throws {
    let (store, clock) = (DictionaryLeases(), ManualClock())
    await store.add(["a"])
    let began = Suspension<Void>()
    let work = Task {
      try await LeasedWork(store, clock: clock).run { lease in
        guard lease.token == 1 else { return }
        began.resume(returning: ())
        try await Suspension<Void>().value()
      }
    }
    try await began.value()
    // Another worker takes the unit, and gives it back.
    await store.expireAll()
    guard case .lease(let other) = await store.take() else {
      Issue.record("no lease came free")
      return
    }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(10))
    // The first worker asks for another one, and waits for what is held.
    try await clock.waitForSleepers()
    #expect(await store.end(other, as: .released))
    clock.advance(by: .seconds(10))
    let report = try await work.value
    #expect(report.lost == 1 && report.done == 1 && report.failures.isEmpty)
  }

  @Test("16-Machines: a worker that is cancelled gives its unit back")
  func releases() async throws {
    let store = DictionaryLeases()
    await store.add(["a"])
    let began = Suspension<Void>()
    let work = Task {
      try await LeasedWork(store, clock: ManualClock()).run { _ in
        began.resume(returning: ())
        try await Suspension<Void>().value()
      }
    }
    try await began.value()
    work.cancel()
    await #expect(throws: CancellationError.self) { try await work.value }
    #expect(await store.states == ["a": "open"])
  }
}

/// Leases in a dictionary; time passes when a test says so.
private actor DictionaryLeases: LeaseStore {
  private struct Unit {
    var state = "open"
    var token: Int64 = 0
    var isHeld = false
  }

  nonisolated let time = Duration.seconds(30)
  private var units: [(name: String, unit: Unit)] = []
  private(set) var renewals = 0

  var states: [String: String] {
    Dictionary(uniqueKeysWithValues: units.map { ($0.name, $0.unit.state) })
  }

  func add(_ names: [String]) {
    for name in names {
      if let index = units.firstIndex(where: { $0.name == name }) {
        if units[index].unit.state.hasPrefix("failed") { units[index].unit.state = "open" }
      } else {
        units.append((name, Unit()))
      }
    }
  }

  func take() -> LeaseSupply {
    let open = units.indices.filter { units[$0].unit.state == "open" }
    guard let index = open.first(where: { !units[$0].unit.isHeld }) else {
      return open.isEmpty ? .none : .held
    }
    units[index].unit.token += 1
    units[index].unit.isHeld = true
    return .lease(Lease(work: "w", unit: units[index].name, token: units[index].unit.token))
  }

  func renew(_ lease: Lease) -> Bool {
    renewals += 1
    return place(of: lease) != nil
  }

  func end(_ lease: Lease, as end: LeaseEnd) -> Bool {
    guard let index = place(of: lease) else { return false }
    units[index].unit.isHeld = false
    switch end {
    case .done: units[index].unit.state = "done"
    case .failed(let words): units[index].unit.state = "failed \(words)"
    case .released: break
    }
    return true
  }

  func expire(_ lease: Lease) {
    if let index = place(of: lease) { units[index].unit.isHeld = false }
  }

  func expireAll() { for index in units.indices { units[index].unit.isHeld = false } }

  private func place(of lease: Lease) -> Int? {
    units.firstIndex { $0.name == lease.unit && $0.unit.token == lease.token }
  }
}
