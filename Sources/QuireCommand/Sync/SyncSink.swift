import Foundation
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination

/// A listing's destination, and beside it what its children and its next run need.
struct SyncSink: Sink {
  /// The run of this round was complete before: there is nothing to do but to note it.
  struct AlreadyDone: Error {
    var checkpoint: Checkpoint
  }

  let base: any Sink
  let listing: SyncListing
  let values: SyncValues
  let state: SyncState

  var mode: SinkMode { base.mode }

  func open(_ opening: SinkOpening) async throws -> any SinkSession {
    let session = try await base.open(opening)
    do {
      var record = try state.record(listing.name)
      let checkpoint = session.checkpoint
      let next = checkpoint.map { $0.isOver ? $0.run + 1 : $0.run } ?? 1
      if record.run == 0 {
        record.run = base.mode == .once ? checkpoint?.run ?? 1 : next
        try state.save(record)
      }
      if let checkpoint, checkpoint.isOver, checkpoint.run == record.run {
        throw AlreadyDone(checkpoint: checkpoint)
      }
      return Session(self, session, record)
    } catch {
      await session.close()
      throw error
    }
  }

  private final class Session: SinkSession {
    private let sink: SyncSink
    private let base: any SinkSession
    private var record: SyncState.Record
    private var parents: [String] = []
    private var finished: [String] = []

    init(_ sink: SyncSink, _ base: any SinkSession, _ record: SyncState.Record) {
      self.sink = sink
      self.base = base
      self.record = record
    }

    var checkpoint: Checkpoint? { base.checkpoint }

    func write(_ page: SinkPage) async throws {
      try await base.write(page)
      parents += try sink.values.all(of: page)
      if sink.listing.since != nil,
        let values = sink.values.source.finished(at: page.position)
      {
        finished.append(values)
      }
    }

    /// What is noted first comes again where the commit does not come through, and changes nothing then.
    func commit(_ checkpoint: Checkpoint) async throws {
      if !parents.isEmpty || sink.listing.since != nil {
        try sink.state.note(record, parents: parents, finished: finished)
        (parents, finished) = ([], [])
      }
      try await base.commit(checkpoint)
      guard record.isRestarting else { return }
      record.isRestarting = false
      try sink.state.save(record)
    }

    func close() async { await base.close() }
  }
}

/// What the children of a listing ask of its items.
struct SyncValues: Sendable {
  let listing: SyncListing
  /// By the names that they use.
  let wanted: [SyncPlaceholder]
  let source: SyncSource

  /// For each item of a page what the descendants need of it, and, through it, of its ancestors, as one text;
  /// a value that is not there, or that no address could have, is null.
  func all(of page: SinkPage) throws -> [String] {
    guard !wanted.isEmpty else { return [] }
    let above: JSONValue =
      wanted.allSatisfy { $0.listing == nil } ? .null : try source.values(at: page.position)
    return try page.items.map { item in
      let members = try wanted.map { placeholder in
        JSONValue.Member(
          SyncSource.name(of: placeholder, for: listing.name),
          placeholder.listing == nil
            ? try item.valueIfUnicode(at: placeholder.path) ?? .null
            : above[SyncSource.name(of: placeholder, for: listing.parent)] ?? .null)
      }
      return "\(JSONValue.object(members))"
    }
  }
}
