import Foundation
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination

/// What a sync has done, and what it would do next.
struct SyncStatus {
  let file: SyncFile
  let snapshot: SyncSnapshot
  /// Whether a command is working on the file; nil if that cannot be told.
  let isRunning: Bool?

  /// Returns why a run would refuse listings before it requests any of them, by their names.
  /// Listings that it would not refuse are taken to be read to their end before their children.
  func refusals(only names: [String], restarts: Bool) async -> [String: String] {
    var refusals: [String: String] = [:]
    var then = snapshot
    let (listings, round) = (file.listings(named: names), round(of: names))
    if restarts { for listing in listings { then.restart(listing.name) } }
    let neededValues = file.neededValues
    for listing in listings where then.record(listing.name).endedRound < round {
      do {
        var record = then.record(listing.name)
        let refusal = try await refusal(
          of: listing, &record, then, neededValues[listing.name] ?? [], round)
        if let refusal {
          if !refusal.isSuccess { refusals[listing.name] = refusal.words }
          continue
        }
        record.end(SyncRun.Outcome(kind: .complete, words: ""), of: listing, in: round)
        then.records[listing.name] = record
      } catch {
        refusals[listing.name] = SyncRun.refusal(by: error, of: listing)
      }
    }
    return refusals
  }

  /// Returns the outcome of a listing that a run would not read, and throws the refusal by its
  /// destination; otherwise begins the record. Machines that share a destination check it
  /// themselves.
  private func refusal(
    of listing: SyncListing, _ record: inout SyncState.Record, _ then: SyncSnapshot,
    _ neededValues: [SyncPlaceholder], _ round: Int
  ) async throws -> SyncRun.Outcome? {
    if file.isShared, listing.destination.mode == .once, record.completeRound > 0 { return nil }
    let isUnfinished = file.isShared ? record.hasUnfinishedUnits : record.isUnfinished
    let parent = listing.parent.map { then.record($0) }
    let refusal = try SyncRun.Outcome.refusal(
      of: listing, record, isUnfinished: isUnfinished, parent, neededValues
    ) { parent in then.firstParents[parent.name]?[parent.lastRound(for: listing)] }
    if let refusal { return refusal }
    if !isUnfinished {
      record.begin(listing, in: round, parentRound: parent?.lastRound(for: listing) ?? 0)
    }
    guard !file.isShared else { return nil }
    var found: Checkpoint?
    if ExportForecast.DestinationState.isToBeOpened(listing.destination.path) {
      let source = SyncSource(listing, file.client, file.origins, .one(.none, part: nil))
      var export = listing.export(source, to: try listing.destination.sink())
      export.restarts = record.isRestarting
      found = try await export.prospect().found
      try SyncSink.check(found, of: listing, record)
    }
    if found == nil { try record.beginEmpty(listing, parent: parent) }
    return nil
  }

  /// Whether the next run begins another round.
  private func begins(_ names: [String]) -> Bool {
    let listings = file.listings(named: names)
    return snapshot.begins(listings.count < file.listings.count ? listings.map(\.name) : [])
  }

  private func round(of names: [String]) -> Int {
    begins(names) ? snapshot.round + 1 : snapshot.round
  }

  /// Returns a line for each listing, in order: whether it would be read, begun anew or refused.
  func plan(only names: [String], restarts: Bool, refusals: [String: String]) -> String {
    let listings = file.listings(named: names)
    let records = listings.map { snapshot.record($0.name) }
    let round = round(of: names)
    var lines = [begins(names) ? "A new round, \(round):" : "Round \(round) goes on:"]
    for (listing, record) in zip(listings, records) {
      if let refusal = refusals[listing.name] {
        lines.append("  \(listing.name): is refused, \(refusal)".escapedForDisplay)
        continue
      }
      let to =
        "\(Self.name(of: listing))\(listing.destination.mode.map { " (\($0.rawValue))" } ?? "")"
      let isDone = record.endedRound >= round
      let what =
        restarts || record.isRestarting && !isDone
        ? "begins anew, and its first commit takes away what is there"
        : isDone ? "nothing: done in this round" : record.sinkRun > 0 ? "goes on" : "begins a run"
      let url = listing.url.text
      let from = Redactor(fields: [:], urls: [url]).identity(of: url)
      var line = "  \(listing.name): \(what), from \(from) to \(to)"
      if let parent = listing.parent {
        let count = snapshot.record(parent).completeRound > 0 ? snapshot.parents[parent] : nil
        line += ", for each of \(parent)\(count.map { " (\($0) when it was read last)" } ?? "")"
      }
      let greatest = record.watermark.flatMap { try? JSONValue(parsing: $0) }
      if !restarts, listing.since != nil, let watermark = greatest?.scalarText {
        line += ", what has changed since \(watermark)"
      }
      lines.append(line.escapedForDisplay)
    }
    return lines.joined(separator: "\n")
  }

  /// A table of each listing's destination, times and outcome.
  var table: String {
    var rows = [["LISTING", "TO", "BEGAN", "ENDED", "OUTCOME"]]
    for listing in file.listings {
      let record = snapshot.record(listing.name)
      rows.append([
        listing.name, Self.name(of: listing), Self.time(record.began),
        record.ended >= record.began ? Self.time(record.ended) : "-",
        isRunning == false && record.outcome?.kind == .running
          ? "stopped: the same command goes on" : record.outcome?.description ?? "never read",
      ])
    }
    return TextTable.text(rows.map { $0.map(\.escapedForDisplay) })
  }

  /// Returns a listing's destination without secrets in its address.
  private static func name(of listing: SyncListing) -> String {
    DestinationRequest.shown(listing.destination.path, table: listing.destination.table)
  }

  private static func time(_ seconds: Double) -> String {
    seconds == 0 ? "-" : Date(timeIntervalSince1970: seconds).formatted(.iso8601)
  }
}
