import ArgumentParser
import Foundation
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination
import QuirePostgres

/// A worker of a sync that any number of machines share. It takes units, each the listing of one
/// parent or a part of a listing, until the round is over.
struct SharedSyncRun: Sendable {
  let file: SyncFile
  let state: SharedSyncState
  /// The listings to read, parents before children.
  let listings: [SyncListing]
  private let neededValues: [String: [SyncPlaceholder]]
  private let sinks: [String: PostgresSink]

  /// Throws a usage error if a listing's destination exists on one machine only.
  init(_ file: SyncFile, _ state: SharedSyncState, names: [String]) throws {
    self.file = file
    self.state = state
    listings = file.listings(named: names)
    neededValues = file.neededValues
    var sinks: [String: PostgresSink] = [:]
    for listing in listings {
      guard let sink = try listing.destination.sink() as? PostgresSink else {
        throw ValidationError(
          "listings.\(listing.name).to: \(listing.destination.path) is on one machine, and several write "
            + "to one destination: name a database by postgres://….")
      }
      sinks[listing.name] = sink
    }
    self.sinks = sinks
  }

  /// Works until all listings have ended in this round. Returns whether all of them succeeded;
  /// throws `CancellationError` if the run was asked to stop.
  func run(_ tell: @escaping @Sendable (SyncNote) -> Void) async throws -> Bool {
    let names = Set(listings.map(\.name))
    let isWhole = names.count == file.listings.count
    let round = try await state.beginRound(of: isWhole ? [] : names)
    var over: [String: Bool] = [:]
    while over.count < listings.count {
      var isIdle = true
      for listing in listings where over[listing.name] == nil {
        let waits = listing.parent.map { names.contains($0) } ?? false
        switch try await state.plan(
          listing, neededValues[listing.name] ?? [], round, waits: waits)
        {
        case .waiting: continue
        case .units(let record):
          if try await work(on: listing, record, round, tell) { isIdle = false }
        case .over(let record):
          let outcome = record.outcome ?? SyncRun.Outcome(kind: .failed, words: "")
          over[listing.name] = outcome.isSuccess
          tell(SyncNote(listing: listing.name, event: .ended(outcome)))
          isIdle = false
        }
      }
      // Other workers may finish meanwhile what this one waits for.
      if isIdle { try await Task.sleep(for: .milliseconds(200)) }
    }
    try await state.endRound(round, isPartial: !isWhole)
    return over.values.allSatisfy { $0 }
  }

  /// Does the work available for a listing. Returns whether there was any.
  private func work(
    on listing: SyncListing, _ record: SyncState.Record, _ round: Int,
    _ tell: @escaping @Sendable (SyncNote) -> Void
  ) async throws -> Bool {
    var didWork = false
    for stage in SharedSyncState.Stage.allCases {
      let leases = state.leases(stage, of: listing.name, round: record.runRound)
      taking: while true {
        try Task.checkCancellation()
        switch try await leases.take() {
        case .none: break taking
        case .held: return didWork
        case .lease(let lease):
          didWork = true
          let outcome = try await LeasedWork(leases).perform(lease) { lease in
            switch stage {
            case .begin: try await begin(listing, record, lease, round, tell)
            case .units: try await read(listing, record, lease, tell)
            case .end: try await end(listing, record, lease, round, tell)
            }
          }
          if case .released? = outcome.end { throw CancellationError() }
          // If a beginning or an end were not recorded, all workers would wait for it forever.
          if stage != .units, let failure = outcome.failure {
            if SinkError.Code.leaseLost ~= failure { continue }
            throw failure
          }
        }
      }
      if stage == .begin, try await !state.isBegun(record) { return didWork }
    }
    return didWork
  }

  private func sink(_ listing: SyncListing) throws -> PostgresSink {
    guard let sink = sinks[listing.name] else {
      throw SyncFileError(listing.name, "It has no destination.")
    }
    return sink
  }

  /// Begins the run in its destination. A listing that cannot be begun has failed.
  private func begin(
    _ listing: SyncListing, _ record: SyncState.Record, _ lease: Lease, _ round: Int,
    _ tell: @escaping @Sendable (SyncNote) -> Void
  ) async throws -> LeaseEnd {
    do {
      // Units that were read before the state began are read again, because it knows none of their
      // items as parents.
      let isUnknown = record.isNew && neededValues[listing.name]?.isEmpty == false
      let mode = listing.destination.mode
      let isEmpty = try await sink(listing).beginRound(
        lease, restarts: record.isRestarting,
        forgetsUnits: isUnknown && mode == .upsert, onWait: listing.waitHandler(tell))
      if isEmpty {
        try await state.beginEmpty(listing)
      } else if isUnknown, mode == .once || mode == .append && listing.notesChanges {
        throw SyncSink.unknownParents
      }
      return .done("0")
    } catch let error where !(error is CancellationError) {
      if SinkError.Code.leaseLost ~= error { throw error }
      let words = SyncRun.refusal(by: error, of: listing)
      try await state.end(
        record, listing, round, as: SyncRun.Outcome(kind: .failed, words: words), children: [])
      return .failed(words)
    }
  }

  /// Reads a unit: the listing of one parent, or a part of a listing.
  private func read(
    _ listing: SyncListing, _ record: SyncState.Record, _ lease: Lease,
    _ tell: @escaping @Sendable (SyncNote) -> Void
  ) async throws -> LeaseEnd {
    let source = SyncSource(
      listing, file.client(for: listing, tell), file.origins,
      .one(SyncState.Parent(number: 0, values: lease.unit), part: Self.part(of: lease.unit)))
    let values = SyncValues(
      listing: listing, neededValues: neededValues[listing.name] ?? [], source: source)
    let sink = SharedSyncSink(
      base: try sink(listing).unit(of: lease), values: values, state: state, record: record)
    var export = listing.export(source, to: sink, tell)
    export.onProgress = { report in
      tell(SyncNote(listing: listing.name, event: .page(report, parents: nil)))
    }
    let report = await export.outcome()
    if case .failed(let error) = report.end, SinkError.Code.leaseLost ~= error { throw error }
    let outcome = try await outcome(report, listing, record, source, lease)
    switch outcome.kind {
    case .complete:
      return .done(
        try SharedSyncState.UnitCounts(
          items: report.checkpoint?.items ?? 0, skipped: source.skipped,
          isRestarted: report.recoveries.contains(.restarted)
        ).storedJSON)
    case .interrupted: throw CancellationError()
    case .limited, .incomplete, .failed, .skipped, .running: return .failed(try outcome.storedJSON)
    }
  }

  /// Returns how a unit ended. A unit that failed because of its parent alone is left out as
  /// incomplete. The next round reads it whole, like one with fewer items than declared.
  private func outcome(
    _ report: ExportReport, _ listing: SyncListing, _ record: SyncState.Record,
    _ source: SyncSource, _ lease: Lease
  ) async throws -> SyncRun.Outcome {
    var outcome = SyncRun.outcome(report, of: listing, skipped: source.skipped)
    if case .failed(let error as PageError) = report.end,
      try await source.concernsOneParent(
        error, SyncState.Parent(number: 0, values: lease.unit),
        others: { try await state.others(than: lease.unit, of: record) })
    {
      outcome.kind = .incomplete
    }
    if outcome.kind == .incomplete, listing.parent != nil, listing.destination.mode == .upsert {
      try await sink(listing).forget(lease)
    }
    return outcome
  }

  /// Returns the part of a listing that a unit stands for; nil if it stands for a parent.
  private static func part(of unit: String) -> Range<Int64>? {
    guard case .array(let bounds)? = (try? JSONValue(parsing: unit))?[SyncSplit.name],
      bounds.count == 2, let from = bounds[0].integer, let to = bounds[1].integer, from < to
    else { return nil }
    return Int64(from)..<Int64(to)
  }

  /// Ends the run in this round, as complete if all units are.
  private func end(
    _ listing: SyncListing, _ record: SyncState.Record, _ lease: Lease, _ round: Int,
    _ tell: @escaping @Sendable (SyncNote) -> Void
  ) async throws -> LeaseEnd {
    let ends = try await state.ends(of: record)
    let words =
      SyncRun.counts(items: ends.done.items, skipped: ends.done.skipped)
      + SyncRun.keptDeletions(of: listing, isRestarted: ends.done.isRestarted)
    var outcome = SyncRun.Outcome(kind: .complete, words: words)
    if !ends.failed.isEmpty {
      outcome = Self.outcome(of: ends.failed, ends.units, listing, words)
    } else {
      do {
        try await sink(listing).endRound(lease, onWait: listing.waitHandler(tell))
      } catch let error where !(error is CancellationError) {
        if SinkError.Code.leaseLost ~= error { throw error }
        // The listing has failed; a later round goes on with it.
        outcome = SyncRun.Outcome(
          kind: .failed, words: SyncRun.refusal(by: error, of: listing))
      }
    }
    let children = file.listings.filter { $0.parent == listing.name }.map(\.name)
    try await state.end(record, listing, round, as: outcome, children: children)
    return .done("0")
  }

  /// Returns the outcome of a listing with units that did not reach their end or the declared
  /// count.
  private static func outcome(
    of failed: [(outcome: SyncRun.Outcome, count: Int)], _ all: Int, _ listing: SyncListing,
    _ done: String
  ) -> SyncRun.Outcome {
    let count = failed.reduce(0) { $0 + $1.count }
    let unit = listing.parent == nil ? "parts" : "parents"
    // The worst outcome of a unit is the listing's.
    guard
      let worst = failed.first(where: {
        $0.outcome.kind != .limited && $0.outcome.kind != .incomplete
      })
        ?? failed.first(where: { $0.outcome.kind == .incomplete })
    else {
      return SyncRun.Outcome(
        kind: .limited,
        words: "\(done); a limit ended \(count) of its \(unit), and the next run goes on")
    }
    let words = worst.outcome.words
    return SyncRun.Outcome(
      kind: worst.outcome.kind == .incomplete ? .incomplete : .failed,
      words: all == 1 ? words : "\(count) of \(all) \(unit): \(words)")
  }
}

/// A unit's destination, which also stores what the children of its items need.
private struct SharedSyncSink<Base: Sink>: Sink {
  let base: Base
  let values: SyncValues
  let state: SharedSyncState
  let record: SyncState.Record

  var mode: SinkMode { base.mode }

  func open(_ opening: SinkOpening) async throws -> any SinkSession {
    let session = try await base.open(opening)
    return SyncSession(session, at: session.checkpoint, values) { [state, record] parents, _ in
      try await state.store(parents, of: record.name, round: record.runRound)
    }
  }
}
