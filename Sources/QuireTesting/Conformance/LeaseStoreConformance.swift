public import QuireExport

/// Checks the promises that every `LeaseStore` makes.
///
/// ```swift
/// @Test func storeKeepsItsPromises() async throws {
///   try await LeaseStoreConformance.check(MyStore()) { lease in store.letExpire(lease) }
/// }
/// ```
public enum LeaseStoreConformance {
  /// Checks every promise in turn.
  ///
  /// - Parameters:
  ///   - store: An empty store of one round.
  ///   - expire: Makes a lease expire.
  /// - Throws: The first `ConformanceFailure`, or the store's own error.
  public static func check(
    _ store: some LeaseStore, expire: (Lease) async throws -> Void
  ) async throws {
    try expect(
      try await store.take() == .none, "A store without units has none to give.",
      evidence: "It has.")
    try await store.add(["a", "b"])
    let first = try await lease(store, "a unit that was noted can be taken")
    let second = try await lease(store, "another unit can be taken beside it")
    try expect(
      Set([first.unit, second.unit]) == ["a", "b"], "A unit is leased to one worker at a time.",
      evidence: "Both have \(first.unit).")
    try expect(
      try await store.take() == .held, "While others have all open units, there are some held.",
      evidence: "There are not.")
    try expect(try await store.renew(first), "A holder can renew.", evidence: "It could not.")
    try await expire(first)
    let heir = try await lease(store, "a lease that was not renewed comes free")
    try expect(
      heir.unit == first.unit && heir.token > first.token,
      "The next lease of a unit has a greater token.",
      evidence: "\(heir.unit) has \(heir.token) behind \(first.token).")
    try expect(
      try await !store.renew(first), "A worker that has lost a lease cannot renew it.",
      evidence: "It could.")
    try expect(
      try await !store.end(first, as: .done("")), "A worker that has lost a lease cannot end it.",
      evidence: "It could.")
    try expect(
      try await store.end(heir, as: .done("1")), "A holder ends its lease.",
      evidence: "It could not.")
    try await checkEnds(store, second)
  }

  private static func checkEnds(_ store: some LeaseStore, _ second: Lease) async throws {
    try expect(
      try await store.end(second, as: .released), "A holder gives a unit back.",
      evidence: "It could not.")
    let again = try await lease(store, "a unit that was given back can be taken")
    try expect(
      again.unit == second.unit && again.token > second.token,
      "A unit that was given back is open, and one that is done is not.",
      evidence: "\(again.unit) came.")
    try expect(
      try await store.end(again, as: .failed("no")), "A holder ends a unit as failed.",
      evidence: "It could not.")
    try expect(
      try await store.take() == .none, "What failed is not open.",
      evidence: "It was given out again.")
    try await store.add(["a", "b", "c"])
    let reopened = try await lease(store, "what failed is open when it is noted again")
    let new = try await lease(store, "a new unit can be taken")
    try expect(
      Set([reopened.unit, new.unit]) == [second.unit, "c"],
      "Of units that are noted again, those that failed are open, and those that are done are not.",
      evidence: "\(reopened.unit) and \(new.unit) came.")
    for lease in [reopened, new] { _ = try await store.end(lease, as: .done("1")) }
    try expect(try await store.take() == .none, "In the end, no unit is open.", evidence: "One is.")
  }

  private static func lease(_ store: some LeaseStore, _ promise: String) async throws -> Lease {
    let supply = try await store.take()
    guard case .lease(let lease) = supply else {
      throw ConformanceFailure("In a store, \(promise).", evidence: "It gave \(supply).")
    }
    return lease
  }
}
